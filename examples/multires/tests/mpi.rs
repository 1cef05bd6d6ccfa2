//! Tests of the program under mpiexec: what is read is what was written, with any number of ranks
//! and aggregators, and a slow disk and uneven files are found.

#[path = "../../support/mod.rs"]
mod support;

use support::{Run, finds};

const PROGRAM: &str = env!("CARGO_BIN_EXE_multires");

#[test]
fn each_resolution_is_read_as_it_was_written_by_one_to_sixteen_ranks() {
    let runs = [(1, "3", "1", "bytes"), (3, "2", "3", "bytes"), (8, "3", "2", "patches")];
    for (ranks, size, aggregators, share) in runs {
        let size = ["--size", size, "--patch", "2", "--steps", "2"];
        let aggregation = ["--aggregators", aggregators, "--share", share];
        let result = Run::of(PROGRAM, ranks, &[&size[..], &aggregation[..]].concat()).result();
        assert!(result.ends_with(" 0 wrong"), "{result}");
    }
    Run::of(PROGRAM, 16, &["--size", "2", "--patch", "1"]);
}

#[test]
fn the_aggregator_with_a_slow_disk_is_found() {
    let aggregation = ["--aggregators", "2", "--slow-writer", "2", "--slow-ms", "200"];
    finds(PROGRAM, 4, &[&aggregation[..], &["--size", "3"]].concat(), "Rank 2 ", "wrtData");
}
