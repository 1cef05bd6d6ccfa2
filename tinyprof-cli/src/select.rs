//! `--rank` and `--path`: a smaller profile, of some ranks or of a part of the tree.

use std::collections::BTreeSet;

use tinyprof_format::model::{CallpathIndex, CallpathTable, CallpathValues, Losses, Profile};

use crate::arguments::Selection;
use crate::ranks::RankList;

/// The part of `profile` that is selected. Ranks keep their numbers; those left out are as if they had visited nothing.
///
/// # Errors
/// When there is no such rank or callpath.
pub(crate) fn select(mut profile: Profile, selection: &Selection) -> Result<Profile, String> {
    if let Some(ranks) = &selection.ranks {
        keep_ranks(&mut profile, ranks)?;
    }
    match &selection.path {
        Some(path) => below(profile, path),
        None => Ok(profile),
    }
}

fn keep_ranks(profile: &mut Profile, RankList(ranges): &RankList) -> Result<(), String> {
    let count = profile.ranks.len();
    let highest = ranges.iter().map(|range| *range.end()).max().unwrap_or(0);
    if highest as usize >= count {
        return Err(format!(
            "there is no rank {highest}: the profile has {count} ranks, the first is rank 0"
        ));
    }
    let (mut kept, mut hosts, mut losses) = (0, BTreeSet::new(), Losses::default());
    for (number, rank) in (0_u32..).zip(0..count) {
        if ranges.iter().any(|range| range.contains(&number)) {
            kept += 1;
            hosts.insert(&profile.ranks[rank].host);
            losses.absorb(&profile.ranks[rank].losses);
        } else {
            profile.values.iter_mut().for_each(|row| row[rank] = CallpathValues::default());
        }
    }
    profile.manifest.ranks = kept;
    // A profile whose hosts are not known has none.
    let hosts = u32::try_from(hosts.len()).unwrap_or(u32::MAX);
    profile.manifest.metadata.numhosts = profile.manifest.metadata.numhosts.min(hosts);
    profile.manifest.losses = losses;
    Ok(())
}

/// The callpaths at and below `path`. They bear its whole path as the name of their root, so that it stays visible.
fn below(profile: Profile, path: &str) -> Result<Profile, String> {
    let table = &profile.callpaths;
    let mut inside = vec![false; table.len()];
    let mut triples = Vec::new();
    for (index, callpath) in table.iter() {
        let parent = callpath.parent.filter(|parent| inside[parent.row()]);
        let mut region = callpath.region.clone();
        if parent.is_none() {
            if !is_path(table, index, path) {
                continue;
            }
            path.clone_into(&mut region.name);
        }
        inside[index.row()] = true;
        triples.push((callpath.id, parent.map(|parent| table.get(parent).id), region));
    }
    if triples.is_empty() {
        return Err(format!(
            "there is no callpath {path:?}: expected names from a root region on, joined by <, as in main<exchange"
        ));
    }
    let rows = table.index_by_id();
    let callpaths = CallpathTable::from_parents(triples);
    let mut values = profile.values;
    let of =
        |callpath: &tinyprof_format::model::Callpath| std::mem::take(&mut values[rows[&callpath.id].row()]);
    let values = callpaths.rows().iter().map(of).collect();
    Ok(Profile { callpaths, values, ..profile })
}

/// Whether `path` is that of the callpath. Looks at names from the end, so that a deep tree costs no more than the path.
fn is_path(table: &CallpathTable, index: CallpathIndex, path: &str) -> bool {
    let (mut rest, mut at) = (path, index);
    loop {
        let callpath = table.get(at);
        let Some(above) = rest.strip_suffix(callpath.region.name.as_str()) else { return false };
        let Some(parent) = callpath.parent else { return above.is_empty() };
        let Some(above) = above.strip_suffix('<') else { return false };
        (rest, at) = (above, parent);
    }
}
