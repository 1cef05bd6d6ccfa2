//! Tests of the program under mpiexec: its results on any number of ranks, and that the rank which
//! computes longer is found.

use std::path::Path;
use std::process::Output;

use tinyprof_format::file::read_profile;
use tinyprof_why::Why;

#[path = "../../../tinyprof-mpi/tests/support/mod.rs"]
mod support;

/// Runs `wave` on `ranks` ranks in this directory; the profile is `wave.tprof` in it.
fn wave(directory: &Path, ranks: usize, arguments: &[&str]) -> Output {
    support::mpiexec(ranks)
        .arg(env!("CARGO_BIN_EXE_wave"))
        .args(arguments)
        .current_dir(directory)
        .env("TINYPROF_OUT", directory.join("wave"))
        .env("TINYPROF_REPORT", "off")
        .env("TINYPROF_MPI", "messages")
        .output()
        .expect("the launcher can be started")
}

#[test]
fn the_wave_is_exact_on_one_to_sixteen_ranks() {
    for (ranks, points) in [(1, "1000"), (2, "400"), (5, "30"), (16, "2")] {
        let scratch = tempfile::tempdir().expect("a directory");
        let output = wave(scratch.path(), ranks, &["--points", points, "--steps", "700"]);
        assert!(output.status.success(), "{ranks} ranks: {output:?}");
    }
}

#[test]
fn the_rank_that_computes_longer_is_found_with_its_place() {
    let scratch = tempfile::tempdir().expect("a directory");
    let arguments = ["--points", "40000", "--steps", "300", "--slow-rank", "2", "--slow-by", "8"];
    let output = wave(scratch.path(), 4, &arguments);
    assert!(output.status.success(), "{output:?}");
    let why = Why::of_profile(&read_profile(&scratch.path().join("wave.tprof")).expect("whole"));
    let verdict = why.verdict();
    assert!(verdict.starts_with("Rank 2 computes") && verdict.contains("update"), "{verdict}");
}
