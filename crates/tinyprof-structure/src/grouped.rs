//! The rows of the tables by call site, loop, MPI function and partner, of a profile on disk.

use std::cmp::Reverse;
use std::error::Error;

use tinyprof_report::{ByCallpath, Totals};
use tinyprof_views::{GroupBy, GroupRow, GroupSums};

use super::StructureBuilder;

/// Returns the totals of a profile, and its rows by `by`, in one pass.
///
/// Loops are those that are regions, and those that are seen from their calls.
///
/// # Errors
/// If the profile cannot be read.
pub fn grouped(
    profile: &impl ByCallpath,
    by: GroupBy,
) -> Result<(Totals, Vec<GroupRow>), Box<dyn Error>> {
    let (callpaths, ranks) = (profile.callpaths(), profile.ranks());
    let mut totals = Totals::new(profile.manifest(), callpaths, ranks);
    let mut sums = GroupSums::new(callpaths, ranks.len(), by);
    let mut structure =
        (by == GroupBy::Loop).then(|| StructureBuilder::new(callpaths, ranks.len()));
    profile.each(&mut |index, values| {
        totals.add(index, values);
        sums.add(index, values);
        if let Some(structure) = &mut structure {
            structure.add(index, values);
        }
        Ok(())
    })?;
    let mut rows = sums.rows(&totals);
    if let Some(structure) = structure {
        rows.extend(structure.finish(false).loops());
        rows.sort_by_key(|row| Reverse(row.inclusive_ns));
    }
    Ok((totals, rows))
}
