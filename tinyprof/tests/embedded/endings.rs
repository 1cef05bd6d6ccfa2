//! The ways in which a program ends, and the files written then.

use std::process::{Output, Stdio};

use tinyprof_format::model::Losses;
use tinyprof_report::{Report, TextOptions};

use crate::program::{Scratch, check_visits, profile_of, text, values};

/// Checks that the program's own result and exit code are those without the profiler.
pub(crate) fn check_untouched(output: &Output) {
    assert_eq!(text(&output.stdout), "the result is 42\n", "{output:?}");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
}

const ALL: [(&str, u64); 3] = [("work", 1), ("work<inner", 1), ("work<inner<leaf", 1)];

#[test]
fn the_profile_is_called_after_program_and_process() {
    let place = Scratch::new();
    let mut command = place.command("test_endings");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id();
    check_untouched(&child.wait_with_output().unwrap());
    assert_eq!(place.names(), [format!("test_endings-{id}.tprof")]);
    let profile = place.profile();
    check_visits(&profile, &ALL);
    assert_eq!(profile.manifest.losses, Losses::default());
    assert_eq!(profile.ranks[0].process_id, id);
    assert!(profile.manifest.metadata.executable.ends_with("/test_endings"));
    assert_eq!(profile.manifest.metadata.jobid, None);
}

#[test]
fn a_job_has_its_number_in_the_name() {
    let place = Scratch::new();
    check_untouched(&place.command("test_endings").env("SLURM_JOB_ID", "4711").output().unwrap());
    assert_eq!(place.names(), ["test_endings-4711.tprof"]);
    assert_eq!(place.profile().manifest.metadata.jobid.as_deref(), Some("4711"));
}

#[test]
fn the_table_is_on_standard_error_and_nothing_of_ours_on_standard_output() {
    let place = Scratch::new();
    let output = place.command("test_endings").env("TINYPROF_OUT", "named").output().unwrap();
    check_untouched(&output);
    assert_eq!(place.names(), ["named.tprof"]);
    let table = text(&output.stderr);
    for word in ["work", "inner", "leaf", "overhead: "] {
        assert!(table.contains(word), "{word} is missing:\n{table}");
    }
    let profile = place.profile();
    check_visits(&profile, &ALL);
    let report = Report::of_profile(&profile).named("named.tprof").to_text(&TextOptions::default());
    assert_eq!(table, format!("{report}profile: named.tprof\n"));
    assert!(profile.manifest.flush.write_ns > 0, "{:?}", profile.manifest.flush);
    // Two clock readings take some nanoseconds, and far less than a millisecond.
    let visit_cost_ps = profile.manifest.metadata.visit_cost_ps;
    assert!((1_000..1_000_000_000).contains(&visit_cost_ps), "{visit_cost_ps}");
}

#[test]
fn the_text_of_the_paper_is_written_where_that_is_asked_for() {
    let place = Scratch::new();
    let mut command = place.command("test_endings");
    let output =
        command.env("TINYPROF_OUT", "x.tprof").env("TINYPROF_FORMAT", "csv").output().unwrap();
    check_untouched(&output);
    assert_eq!(place.names(), ["x.csv"]);
    let read = tinyprof_format::file::read_text_profile(&place.path().join("x.csv")).unwrap();
    let leaf = read.profile.find("work<inner<leaf").expect("the callpath");
    assert_eq!(read.profile.values(leaf, 0).executions.len(), 1);
    assert!(text(&output.stderr).ends_with("profile: x.csv\n"), "{output:?}");
}

#[test]
fn settings_choose_directory_and_table() {
    let place = Scratch::new();
    let mut command = place.command("test_endings");
    let output = command
        .env("TINYPROF_OUT", "new/dir/x.tprof")
        .env("TINYPROF_REPORT", "off")
        .output()
        .unwrap();
    check_untouched(&output);
    assert_eq!(text(&output.stderr), "");
    check_visits(&place.read("new/dir/x.tprof"), &ALL);
}

#[test]
fn a_program_that_goes_elsewhere_leaves_its_profile_where_it_began() {
    for out in [None, Some("out")] {
        let place = Scratch::new();
        let mut command = place.command("test_endings");
        command.arg("moves").envs(out.map(|out| ("TINYPROF_OUT", out)));
        check_untouched(&command.output().unwrap());
        check_visits(&place.profile(), &ALL.map(|(path, _)| (path, 2)));
    }
}

#[test]
fn switched_off_it_writes_nothing_and_says_nothing() {
    let place = Scratch::new();
    for (how, code) in [("", 7), ("exit", 3), ("no-region", 5)] {
        let output =
            place.command("test_endings").arg(how).env("TINYPROF", "off").output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(code), ""), "{how}");
    }
    let output =
        place.command("test_endings").arg("count").env("TINYPROF", "off").output().unwrap();
    assert_eq!(text(&output.stdout), "the result is 42\n0 callpaths were recorded\n");
    assert!(place.names().is_empty());
}

#[test]
fn a_program_that_enters_no_region_leaves_no_profile() {
    let place = Scratch::new();
    let output = place.command("test_endings").arg("no-region").output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(5), ""));
    assert!(place.names().is_empty());
}

#[test]
fn a_setting_that_cannot_be_read_is_one_warning() {
    let place = Scratch::new();
    let mut command = place.command("test_endings");
    let output = command.env("TINYPROF", "perhaps").env("TINYPROF_REPORT", "off").output().unwrap();
    check_untouched(&output);
    assert_eq!(text(&output.stderr), "tinyprof: TINYPROF=perhaps is ignored: expected on or off\n");
    check_visits(&place.profile(), &ALL);
}

#[test]
fn regions_around_exit_are_counted_with_their_time_and_are_no_loss() {
    let (output, profile) = profile_of("test_endings", "exit");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(3), ""));
    check_visits(&profile, &[ALL[0], ALL[1], ALL[2], ("work<inner<exit", 1)]);
    assert_eq!(profile.manifest.losses, Losses::default());
    let values = values(&profile);
    assert!(values["work"].inclusive_ns() >= values["work<inner"].inclusive_ns());
    assert!(values["work<inner"].inclusive_ns() >= values["work<inner<exit"].inclusive_ns());
}

#[test]
fn a_panic_closes_its_regions_and_keeps_its_exit_code() {
    let (output, profile) = profile_of("test_endings", "panic");
    assert_eq!(output.status.code(), Some(101));
    assert!(text(&output.stderr).contains("the program's own panic"));
    assert!(!text(&output.stderr).contains("tinyprof:"), "{output:?}");
    check_visits(&profile, &ALL);
    assert_eq!(profile.manifest.losses, Losses::default());
}
