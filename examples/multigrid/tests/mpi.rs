//! Tests of the program under mpiexec: its results on any number of ranks, that a rank which
//! computes longer is found, and that recursion adds no callpaths.

#[path = "../../support/mod.rs"]
mod support;

use support::{Run, finds};

const PROGRAM: &str = env!("CARGO_BIN_EXE_multigrid");

#[test]
fn the_solution_is_right_on_one_to_sixteen_ranks() {
    for (ranks, size) in [(1, "4"), (3, "2"), (16, "1")] {
        let result = Run::of(PROGRAM, ranks, &["--size", size]).result();
        assert!(result.contains("cycles, error"), "{result}");
    }
}

#[test]
fn more_grids_are_no_more_callpaths() {
    let callpaths = |levels| {
        let run = Run::of(PROGRAM, 2, &["--size", "3", "--levels", levels]);
        run.profile().callpaths.len()
    };
    assert_eq!(callpaths("2"), callpaths("4"));
}

#[test]
fn the_rank_that_computes_longer_is_found_with_its_place() {
    let arguments = ["--size", "4", "--slow-rank", "1", "--slow-by", "8"];
    finds(PROGRAM, 2, &arguments, "Rank 1 computes", "relax");
}
