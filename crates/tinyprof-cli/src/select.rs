//! `--rank`, `--execution` and `--path`: a smaller profile of some ranks or executions, or of a
//! part of the tree.

mod find;
mod open;

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use tinyprof_format::error::ReadError;
use tinyprof_format::file::{Directory, ProfileReader};
use tinyprof_format::model::{
    CallpathIndex, CallpathTable, CallpathValues, Losses, Manifest, Profile, RankFacts,
};

use crate::arguments::Selection;
use crate::memory;
use crate::numbers::NumberList;

use find::find;

pub(crate) use open::{Selected, open};

/// Reads the selected part of the profile in `directory`. For a part of the tree, this reads only
/// the bytes of its callpaths and the data about the ranks, so damage elsewhere is not noticed.
///
/// # Errors
/// If it cannot be read, or on the errors of [`select`].
pub(crate) fn read(directory: &Path, selection: &Selection) -> Result<Profile, Box<dyn Error>> {
    let options = memory::read_options();
    let Some(path) = &selection.path else {
        return Ok(select(options.read(directory)?, selection)?);
    };
    let reader = ProfileReader::of_source(Directory::new(directory), options)?;
    let (callpaths, chosen) = below(reader.callpaths(), path)?;
    let (ranks, values) = (reader.ranks()?, reader.of_callpaths(&chosen)?);
    let profile = Profile { manifest: reader.manifest().clone(), callpaths, ranks, values };
    Ok(ranks_and_executions(profile, selection)?)
}

/// Returns the selected part of `profile`. Ranks keep their numbers; the others appear as if they
/// had visited nothing.
///
/// # Errors
/// If there is no such rank, execution or callpath, or if executions cannot be separated.
pub(crate) fn select(mut profile: Profile, selection: &Selection) -> Result<Profile, String> {
    if let Some(path) = &selection.path {
        let (callpaths, chosen) = below(&profile.callpaths, path)?;
        let take = |callpath: CallpathIndex| std::mem::take(&mut profile.values[callpath.row()]);
        let values = chosen.into_iter().map(take).collect();
        profile = Profile { callpaths, values, ..profile };
    }
    ranks_and_executions(profile, selection)
}

/// Returns the error with the profile's name, unless it names a file of it.
pub(crate) fn named(directory: &Path, error: Box<dyn Error>) -> Box<dyn Error> {
    if error.is::<ReadError>() { error } else { format!("{}: {error}", directory.display()).into() }
}

fn ranks_and_executions(mut profile: Profile, selection: &Selection) -> Result<Profile, String> {
    let executions = profile.manifest.executions;
    keep_in_manifest(&mut profile.manifest, &profile.ranks, selection)?;
    profile.values.iter_mut().try_for_each(|values| keep_values(values, selection, executions))?;
    Ok(profile)
}

/// Changes the facts of a run to those of the selected ranks and executions.
fn keep_in_manifest(
    manifest: &mut Manifest,
    ranks: &[RankFacts],
    selection: &Selection,
) -> Result<(), String> {
    if let Some(list) = &selection.ranks {
        keep_ranks(manifest, ranks, list)?;
    }
    if let Some(list) = &selection.executions {
        let (count, highest) = (manifest.executions, list.highest());
        if highest >= count {
            return Err(format!(
                "there is no execution {highest}: the profile has {count}, the first is execution 0"
            ));
        }
        manifest.executions = u32::try_from(list.count_within(0, count - 1)).unwrap_or(count);
    }
    Ok(())
}

/// Removes the measurements of other ranks and executions from the values of a callpath, by rank.
/// The profile has this number of executions.
fn keep_values(
    values: &mut [CallpathValues],
    selection: &Selection,
    executions: u32,
) -> Result<(), String> {
    if let Some(list) = &selection.ranks {
        let others = (0_u32..).zip(&mut *values).filter(|(rank, _)| !list.contains(*rank));
        others.for_each(|(_, values)| *values = CallpathValues::default());
    }
    match &selection.executions {
        Some(list) => {
            values.iter_mut().try_for_each(|values| keep_executions(values, list, executions))
        }
        None => Ok(()),
    }
}

/// Checks that all selected ranks exist among `count`.
///
/// # Errors
/// Names the first that does not.
pub(crate) fn check_ranks(count: usize, list: &NumberList) -> Result<(), String> {
    let highest = list.highest();
    if highest as usize >= count {
        return Err(format!(
            "there is no rank {highest}: the profile has {count} ranks, the first is rank 0"
        ));
    }
    Ok(())
}

fn keep_ranks(
    manifest: &mut Manifest,
    ranks: &[RankFacts],
    list: &NumberList,
) -> Result<(), String> {
    check_ranks(ranks.len(), list)?;
    let (mut kept, mut hosts, mut losses) = (0, BTreeSet::new(), Losses::default());
    for (_, facts) in (0_u32..).zip(ranks).filter(|(number, _)| list.contains(*number)) {
        kept += 1;
        hosts.insert(&facts.host);
        losses.absorb(&facts.losses);
    }
    manifest.ranks = kept;
    // A profile with unknown hosts has none.
    let hosts = u32::try_from(hosts.len()).unwrap_or(u32::MAX);
    manifest.metadata.numhosts = manifest.metadata.numhosts.min(hosts);
    manifest.losses = losses;
    Ok(())
}

/// Removes the measurements of other executions; the profile has `count`.
fn keep_executions(
    values: &mut CallpathValues,
    list: &NumberList,
    count: u32,
) -> Result<(), String> {
    let is_kept = |first: u32, executions: u32| {
        let last = first.saturating_add(executions.saturating_sub(1)).min(count.saturating_sub(1));
        match list.count_within(first, last) {
            0 => Ok(false),
            kept if kept > u64::from(last.saturating_sub(first)) => Ok(true),
            _ => Err(format!(
                "executions {first} to {last} were folded into one, as there were so many: name all of them or none"
            )),
        }
    };
    let all = values.executions.len();
    retain(&mut values.executions, |e| is_kept(e.execution, e.executions))?;
    // Messages and edges are those of all executions together.
    if values.executions.len() < all {
        values.messages.clear();
        values.edges.clear();
    }
    values.series.retain(|bucket| list.contains(bucket.execution));
    for metric in values.metrics.values_mut() {
        retain(&mut metric.executions, |e| is_kept(e.execution, e.executions))?;
        metric.series.retain(|bucket| list.contains(bucket.execution));
    }
    values.metrics.retain(|_, metric| !metric.is_empty());
    Ok(())
}

fn retain<T>(
    list: &mut Vec<T>,
    is_kept: impl Fn(&T) -> Result<bool, String>,
) -> Result<(), String> {
    let kept = list.iter().map(is_kept).collect::<Result<Vec<bool>, String>>()?;
    let mut kept = kept.into_iter();
    list.retain(|_| kept.next().unwrap_or(false));
    Ok(())
}

/// Returns which rows of `table` are at or below `path`.
///
/// # Errors
/// If there is no such callpath, or several.
pub(crate) fn rows_below(table: &CallpathTable, path: &str) -> Result<Vec<bool>, String> {
    let roots = find(table, path)?;
    let mut inside = vec![false; table.len()];
    for (index, callpath) in table.iter() {
        let is_below = callpath.parent.is_some_and(|parent| inside[parent.row()]);
        inside[index.row()] = is_below || roots.contains(&index);
    }
    Ok(inside)
}

/// Returns the callpaths at and below `path`, and their indices in `table`, in the new order. Each
/// root among them is named by its whole path, so that it stays visible.
fn below(table: &CallpathTable, path: &str) -> Result<(CallpathTable, Vec<CallpathIndex>), String> {
    let roots = find(table, path)?;
    let mut inside = vec![false; table.len()];
    let mut triples = Vec::new();
    for (index, callpath) in table.iter() {
        let parent = callpath.parent.filter(|parent| inside[parent.row()]);
        let mut region = Arc::clone(&callpath.region);
        if parent.is_none() {
            if !roots.contains(&index) {
                continue;
            }
            Arc::make_mut(&mut region).name = table.path(index);
        }
        inside[index.row()] = true;
        triples.push((callpath.id, parent.map(|parent| table.get(parent).id), region));
    }
    let rows = table.index_by_id();
    let callpaths = CallpathTable::from_parents(triples);
    let chosen = callpaths.rows().iter().map(|callpath| rows[&callpath.id]).collect();
    Ok((callpaths, chosen))
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{Edge, EdgeKey, EdgeKind, MessageKey, MessageKind, Traffic};
    use tinyprof_format::text::read_text;

    use super::*;

    /// Messages and edges of a callpath cover all of its executions, and cannot be divided among
    /// them.
    #[test]
    fn a_part_of_the_executions_has_neither_messages_nor_edges() {
        let text = "id,parent,tag,is_loop,times\nmain,null,null,0,0.5-0.25|0.1-0.2\n";
        let mut profile = read_text(text.as_bytes()).expect("it is read").profile;
        let sent = MessageKey::new(MessageKind::MessageOut, 1, 8);
        let flow = EdgeKey { kind: EdgeKind::Flow, partner: 0, from: EdgeKey::UNKNOWN };
        for values in profile.values.iter_mut().flatten() {
            values.messages.insert(sent, Traffic { count: 1, bytes: 8 });
            values.edges.insert(flow, Edge::of_one_instance(9));
        }
        let kept = |executions: &str| {
            let executions = Some(executions.parse().expect("a list"));
            let selection = Selection { ranks: None, executions, path: None };
            let selected = select(profile.clone(), &selection).expect("they are there");
            let kept = selected.values[0].iter();
            kept.map(|values| values.messages.len() + values.edges.len()).sum::<usize>()
        };
        assert_eq!((kept("0-1"), kept("1")), (4, 0));
    }
}
