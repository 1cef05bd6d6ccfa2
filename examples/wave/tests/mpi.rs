//! Tests of the program under mpiexec: its results on any number of ranks, its phases and classes,
//! and that the rank which computes longer is found.

#[path = "../../support/mod.rs"]
mod support;

use support::{Run, finds};
use tinyprof_structure::Structure;

const PROGRAM: &str = env!("CARGO_BIN_EXE_wave");

#[test]
fn the_wave_is_exact_on_one_to_sixteen_ranks() {
    for (ranks, points, steps) in [(1, "1000", "700"), (5, "30", "400"), (16, "2", "70")] {
        let arguments = ["--points", points, "--steps", steps];
        let result = Run::of(PROGRAM, ranks, &arguments).result();
        assert!(result.starts_with(&format!("{points} points each, {steps} steps")), "{result}");
    }
}

#[test]
fn the_rank_that_computes_longer_is_found_with_its_place() {
    let arguments = ["--points", "40000", "--steps", "300", "--slow-rank", "2", "--slow-by", "8"];
    finds(PROGRAM, 4, &arguments, "Rank 2 computes", "update");
}

#[test]
fn phases_and_classes_are_those_of_the_paper() {
    let run = Run::of(PROGRAM, 8, &["--points", "100", "--steps", "50"]);
    let structure = Structure::of_profile(&run.profile(), false);
    let phases = structure
        .phases()
        .iter()
        .map(|phase| phase.classes.iter().map(|class| class.ranks.to_string()).collect::<Vec<_>>());
    let phases: Vec<_> = phases.collect();
    // 003, Figure 21: the distribution, the loop, and the collection of results. Then MPI ends.
    assert_eq!(phases[..3], [vec!["0", "1-7"], vec!["0", "1-6", "7"], vec!["0", "1-7"]]);
}
