//! Programs of MPI's rules do the same with the library as without it, at every level.
//!
//! `scripts/conformance.sh` runs this under each MPI. A case is added in `programs/`, see `case.h`
//! there; nothing needs to be changed here.

mod compare;
mod job;
mod program;
#[path = "../mpi/support.rs"]
#[expect(dead_code, reason = "shared with the tests that look at profiles")]
mod support;

use std::env;

use crate::compare::compare;
use crate::job::Level;
use crate::program::Program;

/// Runs the programs that `CONFORMANCE_ONLY` names, by default all. With `CONFORMANCE_FULL`, jobs
/// of one case run at all levels, too.
#[test]
#[ignore = "takes a minute for each MPI, see scripts/conformance.sh"]
fn every_program_does_the_same_with_the_library() {
    let only = env::var("CONFORMANCE_ONLY").unwrap_or_default();
    let is_full = env::var_os("CONFORMANCE_FULL").is_some();
    let directory = tempfile::tempdir().expect("a directory can be made");
    let mut differences = Vec::new();
    let mut runs = 0;
    for program in Program::all(directory.path()) {
        if !only.is_empty() && !only.split(',').any(|name| name == program.name) {
            continue;
        }
        for job in program.jobs() {
            let levels: &[Level] =
                if is_full || job.is_shared() { &Level::ALL } else { &Level::QUICK };
            let found = compare(&job, levels);
            runs += levels.len();
            let word = if found.is_empty() { "the same" } else { "DIFFERS" };
            eprintln!("{job}: {word}");
            differences.extend(found);
        }
    }
    eprintln!("{runs} runs with the library");
    assert_ne!(runs, 0, "CONFORMANCE_ONLY names no program: {only}");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
