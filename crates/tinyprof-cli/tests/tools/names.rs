//! Profiles by the names that users type, and what is said where there is none.

use crate::support::{done, run, scratch, write};

#[test]
fn a_profile_is_reported_without_command_and_ending() {
    let scratch = scratch();
    write(scratch.path(), "fire.tprof", &[("main", "1.0|1.2")]);
    let report = done(&["report", "fire.tprof"], scratch.path());
    for name in ["fire", "fire.tprof"] {
        assert_eq!(done(&[name], scratch.path()), report);
        assert_eq!(done(&[name, "--width", "120"], scratch.path()), report);
    }
    // A command is itself, also beside a profile of its name.
    write(scratch.path(), "info.tprof", &[("main", "1.0|1.2")]);
    assert_eq!(run(&["info"], scratch.path()).code, Some(2));
    // What is neither is a mistake in the command, as without profiles.
    let ran = run(&["fier"], scratch.path());
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("unrecognized subcommand 'fier'"), "{}", ran.stderr);
}

#[test]
fn a_name_that_is_no_profile_leads_to_one() {
    let scratch = scratch();
    for name in ["fire.tprof", "wave.tprof"] {
        write(scratch.path(), name, &[("main", "1.0|1.2")]);
    }
    let ran = run(&["report", "fier.tprof"], scratch.path());
    let expected = "error: there is no fier.tprof (expected a directory NAME.tprof); did you mean \
                    fire.tprof?\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), expected));
    let ran = run(&["report", "."], scratch.path());
    let expected = "error: . is not a profile: it has no manifest.json (expected a directory \
                    NAME.tprof); profiles in it: ./fire.tprof, ./wave.tprof\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), expected));
}
