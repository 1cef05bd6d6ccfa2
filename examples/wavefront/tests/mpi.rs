//! Tests of the program under mpiexec: its results on any number of ranks, and that the wavefront
//! and a rank that computes longer are found.

#[path = "../../support/mod.rs"]
mod support;

use support::{Run, finds};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavefront");

#[test]
fn the_solution_is_exact_on_one_to_sixteen_ranks() {
    for (ranks, planes_per_message) in [(1, "1"), (2, "3"), (6, "1"), (16, "7")] {
        let size = ["--points", "6", "--planes", "10", "--steps", "2"];
        let arguments = [&size[..], &["--planes-per-message", planes_per_message]].concat();
        let result = Run::of(PROGRAM, ranks, &arguments).result();
        assert!(result.ends_with("error 0"), "{result}");
    }
}

#[test]
fn ranks_that_wait_for_all_planes_work_one_after_another() {
    let size = ["--points", "20", "--planes", "12", "--steps", "60"];
    let arguments = [&size[..], &["--planes-per-message", "12"]].concat();
    finds(PROGRAM, 4, &arguments, "Ranks ", "work one after another");
}

#[test]
fn the_rank_that_computes_longer_is_found_with_its_place() {
    let size = ["--points", "16", "--planes", "12", "--steps", "40"];
    let arguments = [&size[..], &["--slow-rank", "1", "--slow-by", "8"]].concat();
    finds(PROGRAM, 4, &arguments, "Rank 1 computes", "compute");
}
