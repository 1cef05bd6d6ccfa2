//! Jobs of several programs, some without the profiler: they end, and compute the same results as
//! without it.

use std::path::Path;
use std::process::Command;

use tinyprof_format::file::read_profile;

use crate::programs::{Ended, profile, program, run, values};
use crate::support::mpiexec;

/// Returns the directory of segments that all tests share.
fn segments() -> String {
    concat!(env!("CARGO_TARGET_TMPDIR"), "/segments").to_owned()
}

/// Returns arguments with which the launcher treats this machine as two hosts, or `None` for Open
/// MPI's launcher, which cannot do that.
fn two_hosts() -> Option<[&'static str; 4]> {
    let is_open_mpi = mpiexec(1).get_args().any(|argument| argument == "--oversubscribe");
    (!is_open_mpi).then_some(["-launcher", "fork", "-hosts", "here,there"])
}

/// Runs two ranks of each program, in this order.
fn job(programs: [&str; 2], out: &Path, variables: &[(&str, &str)]) -> Ended {
    let mut command = mpiexec(2);
    command.arg(program(programs[0])).args([":", "-n", "2"]).arg(program(programs[1]));
    run(command
        .env("TINYPROF_OUT", out)
        .env("TINYPROF_REPORT", "off")
        .envs(variables.iter().copied()))
}

#[track_caller]
fn check_results(ended: &Ended, ranks: usize) {
    assert_eq!(ended.code, Some(7), "{}{}", ended.stdout, ended.stderr);
    let right = format!("{ranks} ranks are right");
    assert_eq!(ended.stdout.matches(&right).count(), ranks, "{}{}", ended.stdout, ended.stderr);
}

/// Ranks 0 and 1 are on one host and 2 and 3 on another, as far as TinyProf can see. `$0` is the
/// program with it, and `$1` chooses the program that a rank runs.
const TWO_HOSTS: &str = "rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; \
                         export OMPI_COMM_WORLD_LOCAL_SIZE=2 MPI_LOCALNRANKS=2; \
                         export SLURM_NODEID=$((rank / 2)); \
                         eval \"$1\"; exec \"$0\"";

/// Runs four ranks on two hosts, in a job that is one program for the launcher.
fn job_on_two_hosts(choice: &str, out: &Path, variables: &[(&str, &str)]) -> Ended {
    let mut command = mpiexec(4);
    command.args(["sh", "-c", TWO_HOSTS]).arg(program("mpmd")).arg(choice);
    command.env("PLAIN", program("plain")).env("TINYPROF_OUT", out).env("TINYPROF_REPORT", "off");
    run(command.envs(variables.iter().copied()))
}

/// Returns our lines: Open MPI's launcher also prints something about exit codes.
fn said(ended: &Ended) -> Vec<&str> {
    ended.stderr.lines().filter(|line| line.starts_with("tinyprof")).collect()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The messages of ranks that know at once that others are missing, and of ranks that have waited.
const KNOWN: [&str; 2] = ["not all ranks of the job are known", "TINYPROF_WORLD=all"];
const ASKED: [&str; 2] = ["not all ranks of the job came to its end", "2s (TINYPROF_DEADLINE)"];

#[track_caller]
fn check_own_profiles(directory: &Path, ended: &Ended, with_us: &[usize], saying: [&str; 2]) {
    let expected: Vec<_> = with_us.iter().map(|rank| format!("p-rank-{rank}.tprof")).collect();
    assert_eq!(names(directory), expected, "{}", ended.stderr);
    for (&rank, name) in with_us.iter().zip(&expected) {
        let profile = profile(&directory.join(name));
        assert_eq!(values(&profile, "work", 0).visits(), rank as u64 + 1);
        let because = profile.manifest.incomplete_because.clone().unwrap_or_default();
        assert!(because.starts_with(&format!("it holds rank {rank} of 4 alone: ")), "{because}");
    }
    let ours = said(ended);
    assert_eq!(ours.len(), 1, "{}", ended.stderr);
    for part in saying {
        assert!(ours[0].contains(part), "{part:?} in {}", ours[0]);
    }
    assert!(expected.iter().any(|name| ours[0].contains(name)), "{}", ours[0]);
}

#[test]
fn the_partner_has_no_hook() {
    let defines_hook = |name: &str| {
        let symbols = Command::new("nm").arg(program(name)).output().unwrap();
        let symbols = String::from_utf8_lossy(&symbols.stdout).into_owned();
        symbols.lines().any(|line| line.ends_with(" T MPI_Init_thread"))
    };
    assert!(defines_hook("mpmd") && !defines_hook("plain"));
}

#[test]
fn beside_a_program_without_the_profiler_each_rank_writes_its_own_profile() {
    for (programs, with_us) in [(["mpmd", "plain"], [0, 1]), (["plain", "mpmd"], [2, 3])] {
        for variables in [&[][..], &[("TINYPROF_INTERVAL", "1s")]] {
            let scratch = tempfile::tempdir().unwrap();
            let ended = job(programs, &scratch.path().join("p"), variables);
            check_results(&ended, 4);
            check_own_profiles(scratch.path(), &ended, &with_us, KNOWN);
        }
    }
}

#[test]
fn programs_that_all_have_us_are_one_profile() {
    for variables in [&[][..], &[("TINYPROF_INTERVAL", "1s")]] {
        let scratch = tempfile::tempdir().unwrap();
        let ended = job(["mpmd", "mpmd"], &scratch.path().join("p"), variables);
        check_results(&ended, 4);
        assert_eq!((said(&ended), names(scratch.path())), (Vec::new(), vec!["p.tprof".to_owned()]));
        let profile = profile(&scratch.path().join("p.tprof"));
        let visits = [0, 1, 2, 3].map(|rank| values(&profile, "work", rank).visits());
        assert_eq!(visits, [1, 2, 3, 4]);
    }
}

#[test]
fn switched_off_it_does_nothing_whoever_the_partner_is() {
    for partner in ["plain", "mpmd"] {
        for variables in
            [&[("TINYPROF", "off")][..], &[("TINYPROF", "off"), ("TINYPROF_INTERVAL", "1s")]]
        {
            let scratch = tempfile::tempdir().unwrap();
            let segments = scratch.path().join("segments").to_string_lossy().into_owned();
            let variables = [variables, &[("TINYPROF_SEGMENT_DIR", &segments)]].concat();
            let ended = job(["mpmd", partner], &scratch.path().join("p"), &variables);
            check_results(&ended, 4);
            assert_eq!((said(&ended), names(scratch.path())), (Vec::new(), Vec::new()));
        }
    }
}

#[test]
fn switched_off_on_some_ranks_the_others_write_their_own() {
    // Only rank 1 is off. Both MPIs tell a process its rank before it starts.
    const WRAPPER: &str =
        "case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in 1) export TINYPROF=off;; esac; exec \"$0\"";
    let scratch = tempfile::tempdir().unwrap();
    let mut command = mpiexec(4);
    command.args(["sh", "-c", WRAPPER]).arg(program("mpmd")).env("TINYPROF_REPORT", "off");
    let ended = run(command.env("TINYPROF_OUT", scratch.path().join("p")));
    check_results(&ended, 4);
    check_own_profiles(scratch.path(), &ended, &[0, 2, 3], KNOWN);
}

#[test]
fn a_rank_with_another_directory_is_known_all_the_same() {
    const WRAPPER: &str = "case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in \
                           2) export TINYPROF_SEGMENT_DIR=/dev/null/none;; esac; exec \"$0\"";
    for variables in [&[][..], &[("TINYPROF_WORLD", "all")]] {
        let scratch = tempfile::tempdir().unwrap();
        let mut command = mpiexec(4);
        command.args(["sh", "-c", WRAPPER]).arg(program("mpmd")).env("TINYPROF_REPORT", "off");
        command.env("TINYPROF_OUT", scratch.path().join("p")).envs(variables.iter().copied());
        check_results(&run(&mut command), 4);
        assert_eq!(read_profile(&scratch.path().join("p.tprof")).unwrap().ranks.len(), 4);
    }
}

#[test]
fn a_promise_that_some_ranks_have_not_heard_hangs_nobody() {
    for some in ["0", "3", "1 | 2 | 3"] {
        let wrapper = format!(
            "case ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} in {some}) export TINYPROF_WORLD=all;; esac; exec \"$0\""
        );
        let scratch = tempfile::tempdir().unwrap();
        let mut command = mpiexec(4);
        command.args(["sh", "-c", &wrapper]).arg(program("mpmd")).env("TINYPROF_REPORT", "off");
        let ended = run(command.env("TINYPROF_OUT", scratch.path().join("p")));
        check_results(&ended, 4);
        assert_eq!((said(&ended), names(scratch.path())), (Vec::new(), vec!["p.tprof".to_owned()]));
    }
}

#[test]
fn a_promise_that_is_not_kept_on_one_host_costs_the_deadline_at_most() {
    // To the launcher it is one program.
    const WRAPPER: &str = "case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in \
                           2 | 3) exec \"$PLAIN\";; esac; exec \"$0\"";
    let scratch = tempfile::tempdir().unwrap();
    let mut command = mpiexec(4);
    command.args(["sh", "-c", WRAPPER]).arg(program("mpmd")).env("PLAIN", program("plain"));
    command.env("TINYPROF_OUT", scratch.path().join("p")).env("TINYPROF_REPORT", "off");
    let ended = run(command.env("TINYPROF_WORLD", "all").env("TINYPROF_DEADLINE", "2s"));
    check_results(&ended, 4);
    check_own_profiles(scratch.path(), &ended, &[0, 1], ASKED);
}

#[test]
fn one_program_on_two_hosts_is_one_profile() {
    for (variables, lines) in [
        (&[][..], 0),
        (&[("TINYPROF_INTERVAL", "1s")], 1),
        (&[("TINYPROF_INTERVAL", "1s"), ("TINYPROF_WORLD", "all")], 0),
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let ended = job_on_two_hosts("", &scratch.path().join("p"), variables);
        check_results(&ended, 4);
        assert_eq!(names(scratch.path()), ["p.tprof"], "{}", ended.stderr);
        let profile = profile(&scratch.path().join("p.tprof"));
        let visits = [0, 1, 2, 3].map(|rank| values(&profile, "work", rank).visits());
        assert_eq!(visits, [1, 2, 3, 4]);
        let ours = said(&ended);
        assert_eq!(ours.len(), lines, "{}", ended.stderr);
        assert!(
            ours.iter()
                .all(|line| line.contains("at intervals") && line.contains("TINYPROF_WORLD=all"))
        );
    }
}

#[test]
fn ranks_of_another_host_without_the_profiler_are_asked_in_vain_until_the_deadline() {
    let deadline = [("TINYPROF_DEADLINE", "2s")];
    for choice in [
        "case $rank in 2 | 3) exec \"$PLAIN\";; esac",
        "case $rank in 2 | 3) export TINYPROF=off;; esac",
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let ended = job_on_two_hosts(choice, &scratch.path().join("p"), &deadline);
        check_results(&ended, 4);
        check_own_profiles(scratch.path(), &ended, &[0, 1], ASKED);
    }
    // The ranks on rank 0's host know at once, the others ask.
    let scratch = tempfile::tempdir().unwrap();
    let choice = "case $rank in 1) export TINYPROF=off;; esac";
    let ended = job_on_two_hosts(choice, &scratch.path().join("p"), &deadline);
    check_results(&ended, 4);
    check_own_profiles(scratch.path(), &ended, &[0, 2, 3], KNOWN);
}

#[test]
fn hosts_of_a_launcher_are_told_apart() {
    // Open MPI has no such launcher, so there this tests nothing.
    let Some(two_hosts) = two_hosts() else { return };
    // Ranks are distributed to the hosts in turn.
    for (programs, ranks_each) in [(&["mpmd", "plain", "mpmd", "plain"][..], 1), (&["mpmd"], 4)] {
        let scratch = tempfile::tempdir().unwrap();
        let mut command = mpiexec(ranks_each);
        command.args(two_hosts).arg(program(programs[0]));
        for name in &programs[1..] {
            command.args([":", "-n", "1"]).arg(program(name));
        }
        command.env("TINYPROF_OUT", scratch.path().join("p")).env("TINYPROF_REPORT", "off");
        let ended = run(command.envs((ranks_each == 1).then_some(("TINYPROF_DEADLINE", "2s"))));
        check_results(&ended, 4);
        if ranks_each == 1 {
            check_own_profiles(scratch.path(), &ended, &[0, 2], ASKED);
        } else {
            assert_eq!(names(scratch.path()), ["p.tprof"], "{}", ended.stderr);
            assert_eq!(profile(&scratch.path().join("p.tprof")).ranks.len(), 4);
        }
    }
}

#[test]
fn no_board_is_left() {
    let scratch = tempfile::tempdir().unwrap();
    check_results(&job(["mpmd", "plain"], &scratch.path().join("p"), &[]), 4);
    let left = std::fs::read_dir(segments()).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(left.filter(|path| path.extension().is_some_and(|e| e == "board")).count(), 0);
}
