//! Programs that are killed: the profile that `tinyprof recover` makes says why their ranks waited.

use std::path::Path;

use serde_json::Value;

use crate::support::{compile, library, mpiexec, tinyprof};
use crate::why::line_of;

/// Runs a program with a planted fault, whose ranks kill themselves, and returns what
/// `tinyprof why` says of the recovered profile.
fn why_of_killed(fault: &str) -> Value {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program = compile("why.c", scratch.path());
    let segments = scratch.path().join("segments");
    let mut command = mpiexec(4);
    command.env("TINYPROF_SEGMENT_DIR", &segments).env("TINYPROF_MPI", "messages");
    command.env("TINYPROF_OUT", scratch.path().join("p")).env("LD_PRELOAD", library());
    let output = command.arg(&program).args([fault, "20", "killed"]).output();
    assert!(!output.expect("mpiexec starts").status.success(), "its ranks were killed");
    let json = |arguments: &[&str], path: &Path| {
        let mut command = tinyprof();
        let output = command.current_dir(scratch.path()).args(arguments).arg(path).output();
        let output = output.expect("tinyprof starts");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let recovered = json(&["recover", "--json"], &segments);
    assert_eq!(recovered["recovered"][0]["profile"], "p.tprof", "{recovered}");
    json(&["why", "--json"], Path::new("p.tprof"))
}

#[test]
fn the_profile_of_a_killed_program_names_the_rank_and_the_place_that_others_waited_for() {
    for (fault, rank) in [("late_sender", "3"), ("chain", "0"), ("late_to_barrier", "2")] {
        let said = why_of_killed(fault);
        let first = &said["findings"][0];
        assert_eq!(first["ranks"], rank, "{fault}: {said:#}");
        assert_eq!(first["place"]["line"], line_of(fault).expect("a place"), "{fault}: {said:#}");
        assert_eq!(first["certainty"], "measured", "{fault}: {said:#}");
        let path = &said["critical_path"]["of"][0];
        assert_eq!(path["ranks"], rank, "{fault}: {said:#}");
    }
}
