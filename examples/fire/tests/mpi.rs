//! Tests of the program under mpiexec: its results on any number of ranks and with all remedies,
//! its classes, and that the master is found to be the cause of the workers' waiting.

#[path = "../../support/mod.rs"]
mod support;

use support::{Run, finds};
use tinyprof_diff::{Options, Runs, Side};
use tinyprof_structure::Structure;

const PROGRAM: &str = env!("CARGO_BIN_EXE_fire");
const REMEDIES: &[&str] = &["--remedy", "overlap", "--remedy", "datatypes", "--remedy", "memory"];

#[test]
fn the_fire_is_an_ellipse_on_one_to_sixteen_ranks() {
    let size = ["--points", "300", "--steps", "20", "--weather", "10", "--fuel", "1"];
    for (ranks, remedies) in [(1, &[][..]), (2, REMEDIES), (4, &[]), (16, REMEDIES)] {
        let result = Run::of(PROGRAM, ranks, &[&size[..], remedies].concat()).result();
        assert!(result.starts_with("300 points, 20 steps"), "{result}");
    }
}

#[test]
fn the_master_who_computes_the_weather_is_found() {
    finds(PROGRAM, 4, &["--points", "4000", "--weather", "300"], "Rank 0 ", "compute");
}

#[test]
fn the_master_and_its_workers_are_two_classes() {
    let size = ["--points", "300", "--steps", "20", "--weather", "10", "--fuel", "1"];
    let run = Run::of(PROGRAM, 4, &size);
    let structure = Structure::of_profile(&run.profile(), false);
    let classes = structure
        .phases()
        .iter()
        .map(|phase| phase.classes.iter().map(|class| class.ranks.to_string()).collect::<Vec<_>>());
    let classes: Vec<_> = classes.filter(|classes| classes.len() > 1).collect();
    assert!(!classes.is_empty() && classes.iter().all(|of| *of == ["0", "1-3"]), "{classes:?}");
}

#[test]
fn a_comparison_says_that_packing_is_what_the_remedy_has_removed() {
    let size = ["--points", "300", "--steps", "20", "--weather", "10", "--fuel", "1"];
    let mut runs = Runs::new(Options::default());
    for (side, remedy) in [(Side::Base, &[][..]), (Side::New, &["--remedy", "datatypes"])] {
        let profile = Run::of(PROGRAM, 3, &[&size[..], remedy].concat()).profile();
        runs.add(side, "fire", &profile, &[0, 1, 2]).expect("it has times");
    }
    let text = runs.compare().to_text(true, 200);
    for packing in ["lead<pack", "lead<unpack", "work<pack", "work<unpack"] {
        let line = text.lines().find(|line| line.ends_with(packing));
        assert!(line.is_some_and(|line| line.starts_with("gone")), "{packing}: {text}");
    }
}
