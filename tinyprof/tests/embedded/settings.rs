//! Variables that are no settings, or have values that make no sense.

use crate::endings::check_untouched;
use crate::program::{Scratch, text};

/// Returns what the program says with these variables, without its table.
fn said(place: &Scratch, variables: &[(&str, &str)]) -> Vec<String> {
    let mut command = place.command("test_endings");
    command.env("TINYPROF_OUT", "profile").env("TINYPROF_REPORT", "off");
    let output = command.envs(variables.iter().copied()).output().unwrap();
    check_untouched(&output);
    text(&output.stderr).lines().map(str::to_owned).collect()
}

#[test]
fn each_variable_that_has_no_effect_is_told_once_in_a_job() {
    let variables = [
        ("TINYPROF_BUGDET", "1%"),
        ("TINYPROF_DEADLINE", "0"),
        ("TINYPROF_KEEP", "-1"),
        ("TINYPROF_LEVEL", "7"),
        ("TINYPROF_MPIEXEC", "mpiexec"),
        ("TINYPROF_MPI", "calls"),
        ("OMPI_COMM_WORLD_SIZE", "2"),
    ];
    let of_rank = |rank| {
        let variables = [&variables[..], &[("OMPI_COMM_WORLD_RANK", rank)]].concat();
        let mut said = said(&Scratch::new(), &variables);
        said.retain(|line| line.contains("is ignored"));
        said.sort();
        said
    };
    assert_eq!(
        of_rank("0"),
        [
            "tinyprof: TINYPROF_BUGDET is ignored: there is no such setting; did you mean TINYPROF_BUDGET?",
            "tinyprof: TINYPROF_DEADLINE=0 is ignored: expected a time from 1ms to 24h with its unit, as in 5s, 500ms or 2m",
            "tinyprof: TINYPROF_KEEP=-1 is ignored: expected all or a number from 1 to 1000000",
            "tinyprof: TINYPROF_LEVEL is ignored: there is no such setting",
        ]
    );
    assert_eq!(of_rank("1"), [""; 0]);
}

#[test]
fn where_no_profile_is_asked_for_nothing_is_recorded() {
    let place = Scratch::new();
    let lines = said(&place, &[("TINYPROF_OUT", "/dev/null")]);
    assert!(lines.len() == 1 && lines[0].contains("TINYPROF=off"), "{lines:?}");
    assert_eq!(place.names(), [""; 0]);
    assert!(!std::path::Path::new("/dev/null.tprof").exists());
    let off = [("TINYPROF_OUT", "/dev/null"), ("TINYPROF", "off")];
    assert_eq!(said(&place, &off), [""; 0]);
}

#[test]
fn a_name_that_can_be_no_directory_is_told() {
    for name in ["..", "/", "/dev/stderr"] {
        let place = Scratch::new();
        let lines = said(&place, &[("TINYPROF_OUT", name)]);
        let expected = format!("tinyprof: TINYPROF_OUT={name} is ignored: expected the name");
        assert!(lines.len() == 1 && lines[0].starts_with(&expected), "{lines:?}");
        assert!(place.names()[0].starts_with("test_endings-"), "by default");
    }
}

#[test]
fn a_profile_that_gets_another_name_is_told_where_no_table_is_printed() {
    let place = Scratch::new();
    assert_eq!(said(&place, &[]), [""; 0]);
    let expected = "tinyprof: profile.tprof exists, so the profile of this run is profile-1.tprof";
    assert_eq!(said(&place, &[]), [expected]);
}
