//! Virtual ranks with the values of a real profile's ranks, in turn: rank 16 of a profile of 16
//! ranks is rank 0 again.

use std::path::Path;

use tinyprof_format::file::read_profile;
use tinyprof_format::model::{CallpathValues, EventMap, Profile};

/// Returns the event map of each rank of a profile.
///
/// # Errors
/// If the profile cannot be read.
pub(crate) fn event_maps(path: &Path) -> Result<Vec<EventMap>, String> {
    let profile = read_profile(path).map_err(|error| error.to_string())?;
    Ok((0..profile.ranks.len()).map(|rank| event_map(&profile, rank)).collect())
}

/// Returns the number of summaries of a rank, and of elements of series: each is one to encode.
pub(crate) fn summaries(map: &EventMap) -> u64 {
    let of = |values: &CallpathValues| (values.executions.len() + values.series.len()) as u64;
    map.values.iter().map(of).sum()
}

fn event_map(profile: &Profile, rank: usize) -> EventMap {
    let rows = profile.callpaths.rows();
    // Callpaths that only other ranks have visited are none of this rank's.
    let mut is_present: Vec<bool> =
        profile.values.iter().map(|of_ranks| !of_ranks[rank].is_absent()).collect();
    for (row, callpath) in rows.iter().enumerate().rev() {
        if let (true, Some(parent)) = (is_present[row], callpath.parent) {
            is_present[parent.row()] = true;
        }
    }
    let present = rows.iter().enumerate().filter(|(row, _)| is_present[*row]);
    let records = present.map(|(row, callpath)| {
        let parent = callpath.parent.map(|parent| rows[parent.row()].id);
        (callpath.id, parent, callpath.region.clone(), profile.values[row][rank].clone())
    });
    EventMap::from_records(records, profile.ranks[rank].clone())
}

#[cfg(test)]
mod tests {
    use tinyprof_bench_collective::map::{Shape, event_map};
    use tinyprof_format::file::ProfileWriter;

    use super::*;

    #[test]
    fn each_rank_has_what_it_had() {
        let shape = Shape { callpaths: 3, executions: 2, iterations: 4, each: true };
        let maps = [event_map(shape, 0), event_map(Shape { callpaths: 5, ..shape }, 1)];
        let scratch = tempfile::tempdir().unwrap();
        let path = ProfileWriter::new().write(&scratch.path().join("p"), &maps).unwrap();
        let again = event_maps(&path).unwrap();
        assert_eq!(again.iter().map(|map| map.callpaths.len()).collect::<Vec<_>>(), [3, 5]);
        assert_eq!(again[1].values, maps[1].values);
        assert_eq!(summaries(&again[0]), 3 * (2 + 2 * 4));
    }
}
