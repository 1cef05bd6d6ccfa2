//! A program that enters a sandbox: system calls of ours would end it.

use crate::program::{Scratch, names, text};
use crate::recover::{recovered, visits};

/// Runs the program; returns its lines on standard error.
fn run(place: &Scratch, when: &str) -> Vec<String> {
    let mut command = place.command("test_sandbox");
    command.arg(when).env("TINYPROF_SEGMENT_DIR", "segments").env("TINYPROF_OUT", "profile");
    let output = command.output().unwrap();
    assert_eq!(text(&output.stdout), "begin\nthe result is 42\n", "{output:?}");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    text(&output.stderr).lines().map(str::to_owned).collect()
}

#[test]
fn what_was_recorded_before_and_fits_is_kept_for_recovery() {
    let place = Scratch::new();
    let said = run(&place, "late");
    assert_eq!(said.len(), 1, "{said:?}");
    for words in ["seccomp sandbox", "tinyprof recover"] {
        assert!(said[0].contains(words), "{said:?}");
    }
    assert_eq!(place.names(), ["segments"], "no profile could be written");
    let segments = place.path().join("segments");
    assert_eq!(names(&segments).len(), 1);
    assert_eq!(visits(&recovered(&segments), "work<inner"), 20_001);
}

#[test]
fn a_program_that_is_in_its_sandbox_before_its_first_region_is_not_recorded() {
    let place = Scratch::new();
    let said = run(&place, "early");
    assert!(said.len() == 1 && said[0].contains("nothing is recorded"), "{said:?}");
    assert_eq!(place.names(), [""; 0]);
}
