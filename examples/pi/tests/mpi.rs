//! Tests of the program under mpiexec: the same estimate on any number of ranks, and that the
//! master who draws all numbers is found.

#[path = "../../support/mod.rs"]
mod support;

use support::{Run, finds};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pi");

#[test]
fn one_to_sixteen_ranks_count_the_same_points() {
    let pi = |ranks, draw| {
        let arguments = ["--error", "0.004", "--points", "1000", "--draw", draw];
        Run::of(PROGRAM, ranks, &arguments).result()
    };
    let alone = pi(1, "master");
    let measured = ["--error", "0.004", "--points", "1000", "--regions", "points", "--time"];
    assert_eq!(Run::of(PROGRAM, 2, &measured).result(), alone, "a region for each point");
    for (ranks, draw) in [(2, "master"), (5, "workers"), (16, "master")] {
        assert_eq!(pi(ranks, draw), alone, "{ranks} ranks, {draw}");
    }
}

#[test]
fn the_master_who_draws_is_found() {
    finds(PROGRAM, 4, &["--error", "0.0004"], "Rank 0 ", "draw");
}
