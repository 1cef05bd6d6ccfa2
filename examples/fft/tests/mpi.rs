//! Tests of the program under mpiexec, on 1 to 4 ranks: its output, its exit code, and that it
//! ends.

use std::path::Path;
use std::process::{Command, Output};

use tinyprof_format::file::read_profile;
use tinyprof_report::{Efficiency, Report, TextOptions};

#[path = "../../../tinyprof-mpi/tests/support/mod.rs"]
mod support;

/// Runs `fft` on `ranks` ranks in a directory of its own, which also gets the profile.
fn fft(ranks: usize, arguments: &[&str]) -> Output {
    let directory = tempfile::tempdir().expect("a directory can be made");
    fft_in(directory.path(), ranks, arguments)
}

/// Runs `fft` in this directory; the profile is `fft.tprof` in it.
fn fft_in(directory: &Path, ranks: usize, arguments: &[&str]) -> Output {
    launch(directory, ranks, arguments).output().expect("the launcher can be started")
}

fn launch(directory: &Path, ranks: usize, arguments: &[&str]) -> Command {
    let mut command = support::mpiexec(ranks);
    command
        .arg(env!("CARGO_BIN_EXE_fft"))
        .args(arguments)
        .current_dir(directory)
        .env("TINYPROF_OUT", directory.join("fft"));
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Checks that the program succeeds on `ranks` ranks and prints these lines, up to the error at the
/// end of each.
#[track_caller]
fn check(ranks: usize, arguments: &[&str], expected: &[&str]) {
    let output = fft(ranks, arguments);
    let (printed, complaint) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{ranks} ranks, {arguments:?}: {printed}{complaint}");
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines.len(), expected.len(), "{ranks} ranks, {arguments:?}: {printed}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line:?} does not start with {expected:?}");
    }
}

/// Checks that the program ends with this exit code and one mention of the complaint, and prints no
/// result.
#[track_caller]
fn check_refusal(ranks: usize, arguments: &[&str], code: i32, complaint: &str) {
    let output = fft(ranks, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{ranks} ranks, {arguments:?}: {said}");
    assert_eq!(said.matches(complaint).count(), 1, "{ranks} ranks, {arguments:?}: {said}");
    assert_eq!(text(&output.stdout), "", "{ranks} ranks, {arguments:?}");
}

const AUDIT: &str = "max relative error, audit by the odd ranks: ";
const SERIAL: &str = "max relative error, against a serial transform: ";
const IDENTITY: &str = "max relative error, forward, then inverse: ";

#[test]
fn a_transform_is_verified_on_one_to_four_ranks() {
    let run = ["--size", "144", "--runs", "3", "--verify"];
    check(1, &run, &["fft: N = 144 (12 x 12), P = 1, runs = 3", SERIAL, IDENTITY]);
    check(2, &run, &["fft: N = 144 (12 x 12), P = 2, runs = 3", AUDIT, SERIAL, IDENTITY]);
    check(3, &run, &["fft: N = 144 (12 x 12), P = 3, runs = 3", AUDIT, SERIAL, IDENTITY]);
    check(4, &run, &["fft: N = 144 (12 x 12), P = 4, runs = 3", AUDIT, SERIAL, IDENTITY]);
}

#[test]
fn the_smallest_transform_has_one_point_a_block() {
    for ranks in 1..=4 {
        let size = (ranks * ranks).to_string();
        let output = fft(ranks, &["--size", &size, "--runs", "1", "--verify"]);
        assert_eq!(output.status.code(), Some(0), "{ranks} ranks: {output:?}");
    }
}

#[test]
fn a_prime_number_of_blocks_makes_an_uneven_matrix() {
    let run = ["--size", "909", "--runs", "2", "--verify"];
    check(3, &run, &["fft: N = 909 (3 x 303), P = 3, runs = 2", AUDIT, SERIAL, IDENTITY]);
}

#[test]
fn a_transform_too_long_for_one_rank_is_verified_by_going_back() {
    let run = ["--size", "1048592", "--runs", "1", "--verify"];
    check(4, &run, &["fft: N = 1048592 (4 x 262148), P = 4, runs = 1", AUDIT, IDENTITY]);
}

#[test]
fn without_arguments_there_are_twenty_runs_of_a_size_that_fits() {
    check(3, &[], &["fft: N = 147456 (384 x 384), P = 3, runs = 20", AUDIT]);
}

#[test]
fn a_size_that_cannot_be_split_is_refused_by_one_rank_for_all() {
    check_refusal(
        3,
        &["--size", "1000"],
        1,
        "fft: --size 1000 is not a multiple of 9, the square of 3 ranks: choose 999 or 1008",
    );
    check_refusal(
        4,
        &["--size", "8", "--verify"],
        1,
        "fft: --size 8 is not a multiple of 16, the square of 4 ranks: choose 16",
    );
    check_refusal(2, &["--size", "0"], 1, "choose 4");
}

#[test]
fn a_command_line_that_cannot_be_read_is_told_once() {
    check_refusal(2, &["--size", "many"], 2, "invalid value 'many' for '--size <N>'");
    check_refusal(2, &["--runs", "0"], 2, "invalid value '0' for '--runs <COUNT>'");
}

#[test]
fn the_time_of_the_runs_is_told_when_it_is_asked_for() {
    let output = fft(2, &["--size", "1024", "--runs", "3", "--time"]);
    let printed = text(&output.stdout);
    let line = printed.lines().next().unwrap_or_default();
    let seconds = line.strip_prefix("fft: 3 runs took ").and_then(|rest| rest.strip_suffix(" s"));
    let seconds: f64 =
        seconds.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{printed}"));
    assert!(seconds > 0.0, "{printed}");
}

#[test]
fn help_is_printed_once() {
    let output = fft(3, &["--help"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout).matches("Usage: fft").count(), 1);
}

#[test]
fn the_profile_has_the_regions_that_the_readme_lists_as_often_as_it_says() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let mut command = launch(directory.path(), 4, &["--size", "144", "--runs", "5", "--verify"]);
    let output = command.env("TINYPROF_MPI", "calls").output().expect("the launcher starts");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let profile =
        read_profile(&directory.path().join("fft.tprof")).expect("the profile can be read");
    assert_eq!((profile.ranks.len(), profile.manifest.executions), (4, 5));
    let visits = |path: &str, rank: usize| -> Vec<u64> {
        let index = profile.find(path).unwrap_or_else(|| panic!("no callpath {path}"));
        profile.values(index, rank).executions.iter().map(|e| e.visits).collect()
    };
    for rank in 0..4 {
        for (path, a_run) in [
            ("run", 1),
            ("run<initialise", 1),
            ("run<transform", 1),
            ("run<transform<transpose", 3),
            ("run<transform<transpose<pack", 3),
            ("run<transform<transpose<alltoall", 3),
            ("run<transform<transpose<alltoall<MPI_Alltoall", 3),
            ("run<transform<transpose<unpack", 3),
            ("run<transform<columns", 1),
            ("run<transform<twiddle", 1),
            ("run<transform<rows", 1),
        ] {
            assert_eq!(visits(path, rank), [a_run; 5], "{path} on rank {rank}");
        }
        for path in ["plan", "verify", "verify<against_serial", "verify<against_serial<gather"] {
            assert_eq!(visits(path, rank), [1], "{path} on rank {rank}");
        }
        let audits: &[u64] = if rank % 2 == 1 { &[1; 5] } else { &[] };
        assert_eq!(visits("run<audit", rank), audits, "audit on rank {rank}");
    }
    let tag = |path: &str| {
        let index = profile.find(path).unwrap_or_else(|| panic!("no callpath {path}"));
        profile.callpaths.get(index).region.constants.get("tag").map(String::as_str)
    };
    for (path, expected) in [
        ("run", None),
        ("run<initialise", Some("COMP")),
        ("run<audit", Some("COMP")),
        ("run<transform", None),
        ("run<transform<transpose", None),
        ("run<transform<transpose<pack", Some("COMP")),
        ("run<transform<transpose<alltoall", None),
        ("run<transform<transpose<alltoall<MPI_Alltoall", Some("COMM")),
        ("run<transform<transpose<unpack", Some("COMP")),
        ("run<transform<columns", Some("COMP")),
        ("run<transform<twiddle", Some("COMP")),
        ("run<transform<rows", Some("COMP")),
        ("plan", Some("COMP")),
        ("verify", None),
        ("verify<against_serial<gather", None),
        ("verify<against_serial<gather<MPI_Gather", Some("COMM")),
    ] {
        assert_eq!(tag(path), expected, "{path}");
    }
    let efficiency = Efficiency::of_profile(&profile).expect("regions say what they do");
    assert!(
        efficiency.communication.is_some_and(|found| found < 1.0),
        "the exchange is not useful: {efficiency:?}"
    );
    let report = Report::of_profile(&profile).to_text(&TextOptions::default());
    let line = report.lines().find(|line| line.starts_with("mpi: ")).expect("it calls MPI");
    assert!(line.contains("MPI_Alltoall"), "its share is named: {report}");
}

#[test]
fn a_run_that_never_began_writes_no_profile() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let output = fft_in(directory.path(), 2, &["--size", "1"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let left = std::fs::read_dir(directory.path()).expect("it is still there").count();
    assert_eq!(left, 0);
}
