//! The selected part of a profile, read callpath by callpath.

use std::error::Error;
use std::path::Path;

use tinyprof_format::file::{BufferedDirectory, ProfileReader};
use tinyprof_format::model::{CallpathIndex, CallpathTable, Manifest, RankFacts};

use crate::arguments::Selection;
use crate::memory;
use tinyprof_report::{ByCallpath, Visit, VisitCauses};

use super::{below, keep_in_manifest, keep_values};

/// The part of the memory limit in which files are kept: opening a file for each of many sections
/// takes longer than reading them.
const BUFFER_PART: u64 = 8;

/// The memory for a callpath on a rank: visits, inclusive and exclusive time.
const SUMS_BYTES: u64 = 24;

/// A profile on disk, of which only the selected part is passed on.
pub(crate) struct Selected<'a> {
    reader: ProfileReader<BufferedDirectory>,
    selection: &'a Selection,
    manifest: Manifest,
    callpaths: CallpathTable,
    ranks: Vec<RankFacts>,
    /// The callpaths of the reader that have no caller in the selection.
    roots: Vec<CallpathIndex>,
    /// The selected callpath of each callpath of the reader.
    selected: Vec<Option<CallpathIndex>>,
}

/// Opens the selected part of the profile in `directory`. Without a path all files are verified;
/// with one, damage elsewhere is not noticed.
///
/// # Errors
/// If it cannot be read, or if there is no such rank, execution or callpath.
pub(crate) fn open<'a>(
    directory: &Path,
    selection: &'a Selection,
) -> Result<Selected<'a>, Box<dyn Error>> {
    let options = memory::read_options();
    let source = BufferedDirectory::new(directory, options.memory_bytes() / BUFFER_PART);
    let reader = ProfileReader::of_source(source, options)?;
    let all = reader.callpaths();
    let (callpaths, chosen) = match &selection.path {
        Some(path) => below(all, path)?,
        None => {
            reader.verify_parts()?;
            (all.clone(), all.iter().map(|(index, _)| index).collect())
        }
    };
    let mut selected = vec![None; all.len()];
    let mut roots = Vec::new();
    for ((index, callpath), chosen) in callpaths.iter().zip(chosen) {
        selected[chosen.row()] = Some(index);
        roots.extend(callpath.parent.is_none().then_some(chosen));
    }
    let ranks = reader.ranks()?;
    check_memory(callpaths.len(), ranks.len(), options.memory_bytes())?;
    let mut manifest = reader.manifest().clone();
    keep_in_manifest(&mut manifest, &ranks, selection)?;
    Ok(Selected { reader, selection, manifest, callpaths, ranks, roots, selected })
}

/// Checks that the sums of all callpaths on all ranks, which every pass makes, fit into the memory.
/// A few bytes may claim a million of both.
fn check_memory(callpaths: usize, ranks: usize, memory_bytes: u64) -> Result<(), String> {
    let bytes = (callpaths as u64).saturating_mul(ranks as u64).saturating_mul(SUMS_BYTES);
    if bytes <= memory_bytes {
        return Ok(());
    }
    Err(format!(
        "the sums of {callpaths} callpaths on {ranks} ranks need {bytes} bytes of memory, and {memory_bytes} are \
         allowed: choose callpaths with --path, or allow more, as in tinyprof --memory 4GiB"
    ))
}

impl ByCallpath for Selected<'_> {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn callpaths(&self) -> &CallpathTable {
        &self.callpaths
    }

    fn ranks(&self) -> &[RankFacts] {
        &self.ranks
    }

    fn each(&self, visit: &mut Visit<'_>) -> Result<(), Box<dyn Error>> {
        let executions = self.reader.manifest().executions;
        self.reader.each_callpath(&self.roots, |index, values| {
            keep_values(values, self.selection, executions)?;
            self.selected[index.row()].map_or(Ok(()), |selected| visit(selected, values))
        })
    }

    fn each_causes(&self, visit: &mut VisitCauses<'_>) -> Result<(), Box<dyn Error>> {
        self.reader.each_causes(|rank, causes| {
            visit(rank, &causes);
            Ok(())
        })
    }
}
