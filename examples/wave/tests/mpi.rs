//! Tests of the program under mpiexec: its results on any number of ranks, and that the rank which
//! computes longer is found.

#[path = "../../support/mod.rs"]
mod support;

use support::Run;

const PROGRAM: &str = env!("CARGO_BIN_EXE_wave");

#[test]
fn the_wave_is_exact_on_one_to_sixteen_ranks() {
    for (ranks, points) in [(1, "1000"), (2, "400"), (5, "30"), (16, "2")] {
        let arguments = ["--points", points, "--steps", "700"];
        let result = Run::of(PROGRAM, ranks, &arguments).result();
        assert!(result.starts_with(&format!("{points} points each, 700 steps")), "{result}");
    }
}

#[test]
fn the_rank_that_computes_longer_is_found_with_its_place() {
    let arguments = ["--points", "40000", "--steps", "300", "--slow-rank", "2", "--slow-by", "8"];
    let verdict = Run::of(PROGRAM, 4, &arguments).verdict();
    assert!(verdict.starts_with("Rank 2 computes") && verdict.contains("update"), "{verdict}");
}
