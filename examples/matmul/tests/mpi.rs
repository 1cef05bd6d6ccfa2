//! Tests of the program under mpiexec: its results on any number of ranks, and that an inserted
//! delay is found.

#[path = "../../support/mod.rs"]
mod support;

use support::{Run, finds};

const PROGRAM: &str = env!("CARGO_BIN_EXE_matmul");

#[test]
fn the_product_is_exact_on_one_to_sixteen_ranks() {
    for (ranks, rows) in [(1, "50"), (3, "20"), (16, "2")] {
        let result = Run::of(PROGRAM, ranks, &["--rows", rows, "--repeat", "2", "--time"]).result();
        assert!(result.ends_with("error 0"), "{result}");
    }
}

#[test]
fn the_delay_is_found_with_its_rank_and_place() {
    let arguments = ["--rows", "40", "--repeat", "5", "--slow-rank", "1", "--pause-ms", "20"];
    finds(PROGRAM, 4, &arguments, "Rank 1 ", "pause_for");
}
