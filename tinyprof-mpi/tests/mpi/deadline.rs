//! Ranks that never come to the flush, or come too late. The others stop waiting at the deadline
//! and each writes its own profile. One line reports the missing ranks, and no profile gets the
//! final name.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tinyprof_format::file::read_profile;

use crate::programs::{Ended, launch, values};

/// Waits until `condition` holds, not for a fixed time: a test that fails here has waited for
/// something that never came.
#[track_caller]
fn wait_until(what: &str, running: &mut Child, condition: impl Fn() -> bool) {
    for _ in 0..60_000 {
        if condition() {
            return;
        }
        let ended = running.try_wait().unwrap();
        assert!(ended.is_none(), "the program has ended ({ended:?}) before {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("{what}: not within a minute");
}

/// Runs `ranks` ranks of which `stopped` stop, and continue when all others have written their
/// data.
fn run_stopped(ranks: usize, stopped: &[usize], scratch: &Path) -> Ended {
    let mut command = launch(ranks, "stopped", &scratch.join("p"));
    command
        .arg(scratch)
        .args(stopped.iter().map(usize::to_string))
        .env("TINYPROF_DEADLINE", "700ms");
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pids = stopped.iter().map(|rank| scratch.join(format!("stopped-{rank}")));
    let pids: Vec<_> = pids.collect();
    wait_until("the ranks are stopped", &mut running, || pids.iter().all(|file| file.exists()));
    let left = (0..ranks).filter(|rank| !stopped.contains(rank));
    let left: Vec<_> = left.map(|rank| scratch.join(format!("p-rank-{rank}.tprof"))).collect();
    wait_until("the others have written", &mut running, || {
        left.iter().all(|profile| profile.exists())
    });
    for file in &pids {
        let id = std::fs::read_to_string(file).unwrap();
        assert!(Command::new("kill").args(["-CONT", &id]).status().unwrap().success());
    }
    let output = running.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[track_caller]
fn check(ranks: usize, stopped: &[usize], missing: &str) {
    let scratch = tempfile::tempdir().unwrap();
    let ended = run_stopped(ranks, stopped, scratch.path());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    // MPICH's transport notes there that requests were abandoned; there may be no other output.
    let mut said = ended.stdout.lines().filter(|line| !line.contains(" UCX  WARN "));
    assert_eq!(said.next(), None, "{}", ended.stdout);
    let ours: Vec<_> = ended.stderr.lines().filter(|line| line.starts_with("tinyprof:")).collect();
    assert_eq!(ours.len(), 1, "{}", ended.stderr);
    for part in ["p.tprof was not written", missing, "TINYPROF_DEADLINE", "-rank-"] {
        assert!(ours[0].contains(part), "{part:?} in {}", ours[0]);
    }
    for rank in 0..ranks {
        let profile = read_profile(&scratch.path().join(format!("p-rank-{rank}.tprof"))).unwrap();
        assert_eq!(values(&profile, "work", 0).visits(), rank as u64 + 1);
        assert!(!profile.manifest.complete);
        let because = profile.manifest.incomplete_because.unwrap();
        assert!(
            because.starts_with(&format!("it holds rank {rank} of {ranks} alone: ")),
            "{because}"
        );
    }
    let whole = std::fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let whole: Vec<_> =
        whole.filter(|name| name.to_string_lossy().starts_with("p.tprof")).collect();
    assert_eq!(
        whole,
        Vec::<std::ffi::OsString>::new(),
        "nothing under the profile's name, finished or not"
    );
}

#[test]
fn a_rank_that_is_stopped_is_named_and_the_others_go_on() {
    check(3, &[1], "no sign of rank 1 within 700ms");
}

#[test]
fn without_rank_0_the_next_one_speaks() {
    check(3, &[0], "no sign of rank 0 within 700ms");
}

#[test]
fn all_missing_ranks_are_named() {
    check(5, &[1, 2, 4], "no sign of ranks 1 to 2 and 4 within 700ms");
}

#[test]
fn a_rank_within_the_deadline_is_waited_for() {
    let scratch = tempfile::tempdir().unwrap();
    let mut command = launch(2, "stopped", &scratch.path().join("p"));
    command.arg(scratch.path()).arg("1").env("TINYPROF_DEADLINE", "10m").stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    let file = scratch.path().join("stopped-1");
    wait_until("the rank is stopped", &mut running, || file.exists());
    let id = std::fs::read_to_string(&file).unwrap();
    let state = || std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    wait_until("the rank is stopped", &mut running, || state().contains(") T "));
    assert!(Command::new("kill").args(["-CONT", &id]).status().unwrap().success());
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(read_profile(&scratch.path().join("p.tprof")).unwrap().ranks.len(), 2);
}

/// Stops rank 1 after `looks` looks at the clock, whatever it is doing, until the others are past
/// their deadline.
fn stop_at_some_moment(looks: u32) {
    let scratch = tempfile::tempdir().unwrap();
    let mut command = launch(3, "stopped", &scratch.path().join("p"));
    command.arg(scratch.path()).arg("1").env("TEST_STOPS", "no").env("TINYPROF_REPORT", "off");
    command
        .env("TINYPROF_DEADLINE", "800ms")
        .env("TINYPROF_AGGREGATORS", "3")
        .stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    let file = scratch.path().join("stopped-1");
    wait_until("rank 1 is about to flush", &mut running, || file.exists());
    let id = std::fs::read_to_string(&file).unwrap();
    (0..looks).for_each(|_| drop(std::fs::metadata(&file)));
    // It may have ended meanwhile. Whatever it is doing, the checks below must hold.
    let signal =
        |name: &str| drop(Command::new("kill").args([name, &id]).stderr(Stdio::null()).status());
    signal("-STOP");
    let exists = |name: &str| scratch.path().join(name).exists();
    for _ in 0..2000 {
        if exists("p.tprof") || (exists("p-rank-0.tprof") && exists("p-rank-2.tprof")) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    signal("-CONT");
    let output = running.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let whole = exists("p.tprof").then(|| read_profile(&scratch.path().join("p.tprof")).unwrap());
    for rank in 0..3 {
        let apart = scratch.path().join(format!("p-rank-{rank}.tprof"));
        let apart = apart.exists().then(|| read_profile(&apart).unwrap());
        assert!(whole.is_some() || apart.is_some(), "rank {rank} is in no profile: {said}");
        for (profile, at) in whole.iter().zip([rank]).chain(apart.iter().zip([0])) {
            assert_eq!(values(profile, "work", at).visits(), rank as u64 + 1);
        }
    }
    let names = std::fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().contains("unfinished")).collect();
    assert_eq!(left, Vec::<std::ffi::OsString>::new(), "{said}");
}

#[test]
fn a_rank_that_is_stopped_at_any_moment_loses_nothing_of_anybody() {
    for looks in [0, 200, 500, 1000, 2000, 4000, 8000] {
        stop_at_some_moment(looks);
    }
}
