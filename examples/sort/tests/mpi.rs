//! Tests of the program under mpiexec: the same result on any number of ranks, and that the
//! rank which sorts most is found.

#[path = "../../support/mod.rs"]
mod support;

use support::{Run, finds};

const PROGRAM: &str = env!("CARGO_BIN_EXE_sort");

#[test]
fn one_to_sixteen_ranks_sort_the_same() {
    let sort = |ranks, split| {
        let arguments = ["--keys", "100000", "--repeat", "2", "--split", split];
        Run::of(PROGRAM, ranks, &arguments).result()
    };
    let alone = sort(1, "keys");
    for (ranks, split) in [(3, "keys"), (16, "keys"), (4, "buckets")] {
        assert_eq!(sort(ranks, split), alone, "{ranks} ranks, {split}");
    }
}

#[test]
fn the_rank_that_has_most_keys_is_found_with_its_place() {
    let arguments = ["--keys", "1000000", "--repeat", "8", "--split", "buckets"];
    finds(PROGRAM, 3, &arguments, "Rank 1 ", "rank_keys");
}
