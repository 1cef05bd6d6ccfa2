//! Memory of profiles with many callpaths: a profile of a million must fit on the machine where the
//! program ran.

use std::sync::Arc;

use tinyprof_format::file::{ProfileWriter, ReadOptions};
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, RankFacts, Region, SiteId,
};
use tinyprof_report::Report;

#[path = "../../tinyprof-format/tests/hostile/allocator.rs"]
mod allocator;

use allocator::peak_bytes;

const CALLPATHS: usize = 20_000;
/// The number of regions that the callpaths share, as in a real program.
const REGIONS: usize = 60;

type Record = (CallpathId, Option<CallpathId>, Arc<Region>, CallpathValues);

/// Returns the records of a tree in which each callpath has `children` children.
fn records(children: usize) -> Vec<Record> {
    let region = |number: usize| {
        let name = format!("a region of the program, number {number}");
        let module = "a_program::with::modules".to_owned();
        Arc::new(Region { module, ..Region::named(SiteId::from_bits(number as u64 + 1), name) })
    };
    let regions: Vec<Arc<Region>> = (0..REGIONS.max(children)).map(region).collect();
    // Each callpath has an exclusive time of one microsecond.
    let mut inclusive_ns = vec![1_000_u64; CALLPATHS];
    for row in (1..CALLPATHS).rev() {
        inclusive_ns[(row - 1) / children] += inclusive_ns[row];
    }
    let mut ids: Vec<CallpathId> = Vec::new();
    (0..CALLPATHS)
        .map(|row| {
            let parent = row.checked_sub(1).map(|before| ids[before / children]);
            let region = &regions[row % regions.len()];
            let id =
                parent.map_or_else(|| CallpathId::root(region.site), |id| id.child(region.site));
            ids.push(id);
            let executions = vec![ExecutionSummary::of_one_visit(0, inclusive_ns[row])];
            (
                id,
                parent,
                Arc::clone(region),
                CallpathValues { executions, ..CallpathValues::default() },
            )
        })
        .collect()
}

/// Checks the peak of additional memory, for each callpath.
fn check(what: &str, peak: usize, bytes_a_callpath: usize) {
    let found = peak / CALLPATHS;
    assert!(
        found <= bytes_a_callpath,
        "{what}: {found} bytes a callpath, {bytes_a_callpath} are allowed"
    );
}

#[test]
fn many_callpaths_take_little_memory_from_the_map_to_the_report() {
    for children in [3, 50, CALLPATHS] {
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let records = records(children);
        let (map, peak) = peak_bytes(|| EventMap::from_records(records, RankFacts::default()));
        check("to make the map", peak, 330);
        assert_eq!(map.callpaths.len(), CALLPATHS);
        let (path, peak) = peak_bytes(|| {
            let maps = std::slice::from_ref(&map);
            ProfileWriter::new().write(&scratch.path().join("many"), maps)
        });
        check("to write", peak, 300);
        let (text, peak) =
            peak_bytes(|| Report::of_event_map(&map, "many").to_text(&Default::default()));
        check("to report", peak, 110);
        assert!(!text.is_empty());
        drop(map);
        let path = path.expect("it is written");
        // This limit is higher than the peak: the memory that pco may use in addition is claimed
        // before it is known.
        let options = ReadOptions::default().with_memory_bytes(800 * CALLPATHS as u64);
        let (read, peak) = peak_bytes(|| options.read(&path));
        check("to read", peak, 650);
        let read = read.expect("it is read within the limit");
        let (_, peak) = peak_bytes(|| Report::of_profile(&read).to_text(&Default::default()));
        check("to report what was read", peak, 120);
    }
}
