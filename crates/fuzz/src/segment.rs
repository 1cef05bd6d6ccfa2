//! Segments of hostile bytes, read as `tinyprof recover` reads them.

use tinyprof_format::segment::{Segment, recovered_map};
use tinyprof_segment::clock::Moment;
use tinyprof_segment::layout::{LINE_BYTES, PAST_WORDS, SERIES_WORDS};

use crate::again::round_trip;
use crate::structure::SEEDS;

const NOW: Moment = Moment { ticks: 1 << 40, monotonic_ns: 1 << 40 };

/// Reads a segment and returns whether it is one. In either case the result is not much larger than
/// the input, and makes a profile that reads back as it was written.
///
/// # Panics
/// If that is not the case.
pub fn read_segment(bytes: &[u8]) -> bool {
    let Ok(segment) = Segment::parse(bytes) else { return false };
    drop(segment.description());
    let map = recovered_map(&[segment], NOW);
    let lists = map
        .values
        .iter()
        .map(|v| v.executions.len() * PAST_WORDS * 8 + v.series.len() * SERIES_WORDS * 8);
    // Past executions and visits do not overlap, and the live execution and the open visit are in
    // the node.
    let nodes_max = bytes.len() / LINE_BYTES;
    assert!(lists.sum::<usize>() <= bytes.len() + 2 * nodes_max * PAST_WORDS * 8);
    assert!(map.callpaths.len() <= nodes_max);
    round_trip(&[map]);
    true
}

/// Checks that the seeds have this reader's layout. Otherwise nothing would be tested.
///
/// # Panics
/// If they have another layout.
pub fn check_seeds() {
    for seed in SEEDS {
        assert!(
            read_segment(seed),
            "the seeds are of another layout: make them anew with `scripts/fuzz.sh seeds`"
        );
    }
}
