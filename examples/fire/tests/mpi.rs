//! Tests of the program under mpiexec: its results on any number of ranks and with all remedies,
//! and that the master is found to be the cause of the workers' waiting.

#[path = "../../support/mod.rs"]
mod support;

use support::{Run, finds};

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
