//! Folding of profiles with more callpaths than a browser can show: the smallest are added up.
//!
//! A million callpaths are a gigabyte of JSON, which no browser accepts as one text. So a page has
//! the callpaths with the largest times. Below each of them, the others are added up as one, so
//! that all times shown are unchanged.

use std::collections::BTreeMap;
use std::sync::Arc;

use tinyprof_format::model::{
    Callpath, CallpathId, CallpathIndex, CallpathTable, CallpathValues, Profile, Region,
    RegionKind, SiteId,
};

use tinyprof_diff::Names;

/// The most callpaths that a page shows individually, plus at most one sum below each.
pub(super) const CALLPATHS_MAX: usize = 20_000;

/// The site of sums of several callpaths.
const SMALLER: SiteId = SiteId::from_bits(0x736d_616c_6c65_7221);

/// Selects the callpaths to show in each profile.
///
/// A callpath that is large in one of two profiles is shown in both, so that the same callpaths are
/// compared.
pub(super) fn shown(profiles: &[&Profile]) -> Vec<Vec<bool>> {
    let mut names = Names::default();
    let placed: Vec<Vec<usize>> =
        profiles.iter().map(|profile| names.place(&profile.callpaths)).collect();
    let mut largest_ns = vec![0_u128; names.rows().len()];
    for (profile, placed) in profiles.iter().zip(&placed) {
        for (row, &name) in profile.values.iter().zip(placed) {
            let inclusive_ns = row.iter().map(|values| u128::from(values.inclusive_ns())).sum();
            largest_ns[name] = largest_ns[name].max(inclusive_ns);
        }
    }
    let mut by_time: Vec<usize> = (0..largest_ns.len()).collect();
    // Equal times keep the order of the rows, so that equal profiles give equal pages.
    by_time.sort_by_key(|&name| std::cmp::Reverse(largest_ns[name]));
    let mut is_shown = vec![false; largest_ns.len()];
    for &name in by_time.iter().take(CALLPATHS_MAX) {
        let mut at = Some(name);
        // Ancestors usually take as long, and are always shown.
        while let Some(name) = at.filter(|&name| !is_shown[name]) {
            is_shown[name] = true;
            at = names.rows()[name].parent;
        }
    }
    let of_profile = |placed: &Vec<usize>| placed.iter().map(|&name| is_shown[name]).collect();
    placed.iter().map(of_profile).collect()
}

/// The sum of callpaths that are one in the page.
#[derive(Debug, Default)]
struct Smaller {
    callpaths: usize,
    /// The sums over the hidden callpaths directly below the parent, by rank.
    values: Vec<CallpathValues>,
}

/// A profile as reduced for a page.
#[derive(Debug)]
pub(super) struct Folded {
    pub(super) profile: Profile,
    /// The row in this profile of each callpath of the whole profile.
    pub(super) rows: Vec<Option<usize>>,
}

/// Returns the profile with the shown callpaths, and the others added up below their parents.
/// Series of the others are dropped.
pub(super) fn fold(mut profile: Profile, is_shown: &[bool]) -> Folded {
    let table = std::mem::take(&mut profile.callpaths);
    let mut smaller: BTreeMap<Option<CallpathIndex>, Smaller> = BTreeMap::new();
    // The nearest shown ancestor of each callpath.
    let mut above: Vec<Option<CallpathIndex>> = Vec::with_capacity(table.len());
    for (index, callpath) in table.iter() {
        let parent = callpath.parent.filter(|parent| !is_shown[parent.row()]);
        above.push(parent.map_or(callpath.parent, |parent| above[parent.row()]));
        if is_shown[index.row()] {
            continue;
        }
        let sum = smaller.entry(above[index.row()]).or_default();
        sum.callpaths += 1;
        sum.values.resize_with(profile.ranks.len(), CallpathValues::default);
        let values = std::mem::take(&mut profile.values[index.row()]);
        for (sum, values) in sum.values.iter_mut().zip(values) {
            if parent.is_none() {
                sum.absorb(CallpathValues { series: Vec::new(), ..values });
            } else {
                // Times include those of the children; messages and edges do not.
                sum.absorb(CallpathValues {
                    messages: values.messages,
                    edges: values.edges,
                    ..CallpathValues::default()
                });
            }
        }
    }
    let id = |index: CallpathIndex| table.get(index).id;
    let mut rows = Vec::new();
    let mut values: BTreeMap<CallpathId, Vec<CallpathValues>> = BTreeMap::new();
    for (index, callpath) in table.iter().filter(|(index, _)| is_shown[index.row()]) {
        rows.push((callpath.id, callpath.parent.map(id), Arc::clone(&callpath.region)));
        values.insert(callpath.id, std::mem::take(&mut profile.values[index.row()]));
    }
    for (parent, sum) in smaller {
        let own = parent.map_or(CallpathId::root(SMALLER), |parent| id(parent).child(SMALLER));
        let name = format!("[{} smaller callpaths]", sum.callpaths);
        let region = Region { kind: RegionKind::Scope, ..Region::named(SMALLER, name) };
        rows.push((own, parent.map(id), Arc::new(region)));
        values.insert(own, sum.values);
    }
    let callpaths = CallpathTable::from_parents(rows);
    let of_row = |id: &CallpathId| values.remove(id).unwrap_or_default();
    let values = callpaths.rows().iter().map(|callpath| &callpath.id).map(of_row).collect();
    let known = callpaths.index_by_id();
    let row = |(callpath, is_shown): (&Callpath, &bool)| {
        is_shown.then(|| known.get(&callpath.id).map(|index| index.row())).flatten()
    };
    let rows = table.rows().iter().zip(is_shown).map(row).collect();
    Folded { profile: Profile { callpaths, values, ..profile }, rows }
}

#[cfg(test)]
mod tests {
    use tinyprof_format::text::read_text;
    use tinyprof_report::{Statistics, Transfers};

    use super::*;
    use crate::messages_example as example;

    fn profile() -> Profile {
        let text = "id,parent,tag,is_loop,times\n\
            main,null,null,0,10|20\n\
            main<a,main,null,0,5|6\n\
            main<a<x,main<a,null,0,1|1\n\
            main<b,main,null,0,1|\n\
            main<b<y,main<b,null,0,1|\n\
            main<c,main,null,0,2|3\n\
            idle,null,null,0,0.5|0.5\n";
        read_text(text.as_bytes()).expect("it is read").profile
    }

    #[test]
    fn what_is_small_is_one_callpath_and_all_other_times_stay() {
        let profile = profile();
        let shown_names = ["main", "a"];
        let is_shown: Vec<bool> = profile
            .callpaths
            .rows()
            .iter()
            .map(|c| shown_names.contains(&&*c.region.name))
            .collect();
        let Folded { profile: folded, rows } = fold(profile.clone(), &is_shown);
        assert_eq!(rows.iter().flatten().count(), 2);
        let statistics = |profile: &Profile| -> BTreeMap<String, (u64, u128, u128)> {
            let statistics = Statistics::of_profile(profile);
            let rows = profile.callpaths.iter().zip(statistics.rows());
            let row = |((index, _), row): ((CallpathIndex, _), tinyprof_report::RankStatistics)| {
                (
                    profile.callpaths.path(index),
                    (row.visits, row.inclusive.sum_ns, row.exclusive.sum_ns),
                )
            };
            rows.map(row).collect()
        };
        let (before, after) = (statistics(&profile), statistics(&folded));
        let seconds = |n: u128| n * 1_000_000_000;
        let expected = [
            ("[1 smaller callpaths]", 2, seconds(1)),
            ("main", before["main"].0, seconds(30)),
            ("main<[3 smaller callpaths]", 3, seconds(6)),
            ("main<a", before["main<a"].0, seconds(11)),
            ("main<a<[1 smaller callpaths]", 2, seconds(2)),
        ];
        let found: Vec<_> = after.iter().map(|(path, row)| (path.as_str(), row.0, row.1)).collect();
        assert_eq!(found, expected);
        for path in shown_names.map(|name| if name == "main" { "main" } else { "main<a" }) {
            assert_eq!(after[path], before[path], "{path}");
        }
    }

    #[test]
    fn messages_of_hidden_callpaths_stay() {
        let profile = example::profile(4);
        let is_shown: Vec<bool> =
            profile.callpaths.rows().iter().map(|callpath| callpath.parent.is_none()).collect();
        let sum = |profile: &Profile| {
            let values = profile.values.iter().flatten();
            Transfers::of_messages(values.flat_map(|values| &values.messages))
        };
        let folded = fold(profile.clone(), &is_shown).profile;
        assert_eq!(folded.callpaths.len(), 3);
        assert_eq!(sum(&folded), sum(&profile));
    }

    #[test]
    fn a_profile_of_few_callpaths_is_shown_as_it_is() {
        let profile = profile();
        assert_eq!(shown(&[&profile]), [vec![true; profile.callpaths.len()]]);
    }
}
