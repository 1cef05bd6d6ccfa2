//! Programs that are killed: the profile that `tinyprof recover` makes says why their ranks waited.

use std::path::Path;

use serde_json::Value;
use tinyprof_format::file::read_profile;

use crate::support::{compile, library, mpiexec, tinyprof};
use crate::why::{ATTEMPTS, CROWDED_PART, crowding, line_of};

/// Runs a program with a planted fault, whose ranks kill themselves, and returns what
/// `tinyprof why` says of the recovered profile, and the part of the time without a processor.
fn why_of_killed(fault: &str) -> (Value, f64) {
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
    let profile = read_profile(&scratch.path().join("p.tprof")).expect("a profile");
    (json(&["why", "--json"], Path::new("p.tprof")), crowding(&profile))
}

/// Returns what is said of a fault that is not as it has to be.
fn wrong(fault: &str, rank: &str, said: &Value) -> Option<&'static str> {
    let (first, path) = (&said["findings"][0], &said["critical_path"]["of"][0]);
    let line = line_of(fault).expect("a place");
    let is_right = [
        (first["ranks"] == rank, "ranks of the first finding"),
        (first["place"]["line"] == line, "line of the first finding"),
        (first["certainty"] == "measured", "certainty of the first finding"),
        (path["ranks"] == rank, "ranks of the critical path"),
    ];
    is_right.iter().find(|(is_right, _)| !is_right).map(|(_, what)| *what)
}

#[test]
fn the_profile_of_a_killed_program_names_the_rank_and_the_place_that_others_waited_for() {
    for (fault, rank) in [("late_sender", "3"), ("chain", "0"), ("late_to_barrier", "2")] {
        for attempt in 1.. {
            let (said, crowding) = why_of_killed(fault);
            let Some(what) = wrong(fault, rank, &said) else { break };
            // Where processors are shared with other work, a rank is late that is not at fault.
            let is_crowded = crowding >= CROWDED_PART;
            assert!(is_crowded && attempt < ATTEMPTS, "{fault}: {what} ({crowding}): {said:#}");
        }
    }
}
