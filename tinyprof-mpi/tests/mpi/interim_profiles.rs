//! Interim profiles of real ranks: all at the same flush point, the newest kept, and present when
//! the job is killed.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tinyprof_format::file::read_profile;
use tinyprof_format::model::Profile;

use crate::programs::{Ended, profile, program, run, values};
use crate::support::mpiexec;

fn launch(ranks: usize, directory: &Path, how: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = mpiexec(ranks);
    command.arg(program("interim_profiles")).arg(how).current_dir(directory);
    command.env("TINYPROF_REPORT", "off").envs(variables.iter().copied());
    command
}

fn ends_well(ranks: usize, directory: &Path, how: &str, variables: &[(&str, &str)]) -> Ended {
    let ended = run(&mut launch(ranks, directory, how, variables));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
    ended
}

const OFTEN: [(&str, &str); 2] = [("TINYPROF_OUT", "p"), ("TINYPROF_INTERVAL", "20ms")];

/// Returns the existing interim profiles, the oldest first.
fn interim_profiles(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.contains("-interim-") && name.ends_with(".tprof")
        })
        .collect();
    paths.sort();
    paths
}

/// Returns the flush point at which all ranks of an interim profile were, and checks that it says
/// that it is an interim profile.
#[track_caller]
fn flush_point_of(interim_profile: &Profile) -> u64 {
    let because = interim_profile.manifest.incomplete_because.clone().unwrap();
    assert!(because.starts_with("it is interim profile "), "{because}");
    let (_, flush_point) = because.split_once("at flush point ").unwrap();
    flush_point.split_once(',').unwrap().0.parse().unwrap()
}

/// Checks that every rank has as many visits of `path` as it had flush points, and `open` that it
/// is in.
#[track_caller]
fn check_same_flush_point(interim_profile: &Profile, path: &str, ranks: usize, open: u64) {
    assert_eq!(interim_profile.ranks.len(), ranks);
    let flush_point = flush_point_of(interim_profile);
    for rank in 0..ranks {
        assert_eq!(values(interim_profile, path, rank).visits(), flush_point + open, "rank {rank}");
    }
}

#[test]
fn all_ranks_write_at_the_same_flush_point_of_a_loop() {
    for ranks in [1, 3] {
        let scratch = tempfile::tempdir().unwrap();
        let all = [OFTEN[0], OFTEN[1], ("TINYPROF_KEEP", "all")];
        ends_well(ranks, scratch.path(), "loop", &all);
        let written = interim_profiles(scratch.path());
        assert!(written.len() >= 3, "{written:?}");
        // The iteration that has begun is a visit, too.
        written
            .iter()
            .for_each(|path| check_same_flush_point(&profile(path), "steps<step", ranks, 1));
        let last = profile(&scratch.path().join("p.tprof"));
        assert!(last.manifest.complete);
        assert_eq!(last.manifest.interim_profiles.written as usize, written.len());
        assert!(last.manifest.interim_profiles.total_ns > 0);
    }
}

#[test]
fn the_ends_of_executions_are_flush_points_and_a_profiler_has_the_interval() {
    let scratch = tempfile::tempdir().unwrap();
    ends_well(4, scratch.path(), "roots", &[]);
    let written = interim_profiles(scratch.path());
    assert!(written.len() >= 3, "{written:?}");
    written.iter().for_each(|path| check_same_flush_point(&profile(path), "execution", 4, 0));
}

#[test]
fn the_newest_are_kept_until_the_final_profile_is_there() {
    let scratch = tempfile::tempdir().unwrap();
    ends_well(2, scratch.path(), "loop", &OFTEN);
    let left: Vec<_> =
        std::fs::read_dir(scratch.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["p.tprof"]);
    assert!(profile(&scratch.path().join("p.tprof")).manifest.interim_profiles.written >= 3);
}

#[test]
fn ranks_with_other_numbers_of_flush_points_come_to_their_end() {
    let scratch = tempfile::tempdir().unwrap();
    for interval in ["1ms", "30ms"] {
        let out = format!("p{interval}");
        ends_well(
            4,
            scratch.path(),
            "uneven",
            &[("TINYPROF_OUT", out.as_str()), ("TINYPROF_INTERVAL", interval)],
        );
        let profile = profile(&scratch.path().join(out).with_extension("tprof"));
        let visits: Vec<_> = (0..4).map(|rank| values(&profile, "alone", rank).visits()).collect();
        assert_eq!(visits, [300_000, 600_000, 900_000, 1_200_000]);
    }
}

#[test]
fn an_interim_profile_by_hand_stands_among_the_others() {
    let scratch = tempfile::tempdir().unwrap();
    let ended = ends_well(3, scratch.path(), "hand", &[("TINYPROF_INTERVAL", "20ms")]);
    for rank in 0..3 {
        assert!(ended.stdout.contains(&format!("rank {rank}: true")), "{}", ended.stdout);
    }
    assert!(profile(&scratch.path().join("p.tprof")).manifest.interim_profiles.written >= 3);
}

#[test]
fn a_killed_job_leaves_its_last_interim_profile_and_its_segments() {
    let scratch = tempfile::tempdir().unwrap();
    let segments = scratch.path().join("segments");
    let variables = [OFTEN[0], OFTEN[1], ("TINYPROF_SEGMENT_DIR", segments.to_str().unwrap())];
    let mut command = launch(2, scratch.path(), "forever", &variables);
    let mut job = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(job.stdout.take().unwrap()).lines().take(2);
    let processes: Vec<String> =
        lines.map(|line| line.unwrap().strip_prefix("process ").unwrap().to_owned()).collect();
    // The launcher has a time limit for a job that writes none.
    while !interim_profiles(scratch.path())
        .iter()
        .any(|path| path.ends_with("p-interim-0003.tprof"))
    {
        assert!(job.try_wait().unwrap().is_none(), "it does not end by itself");
        std::thread::yield_now();
    }
    assert!(Command::new("kill").arg("-KILL").args(&processes).status().unwrap().success());
    job.wait().unwrap();
    let written = interim_profiles(scratch.path());
    let newest: Vec<_> = written
        .iter()
        .filter(|path| path.join("manifest.json").exists())
        .map(|path| profile(path))
        .collect();
    assert!((1..=3).contains(&newest.len()), "{written:?}");
    newest
        .iter()
        .for_each(|interim_profile| check_same_flush_point(interim_profile, "steps<step", 2, 1));
    assert!(read_profile(&scratch.path().join("p.tprof")).is_err(), "there is no final profile");
    let left: Vec<_> =
        std::fs::read_dir(&segments).unwrap().map(|e| e.unwrap().file_name()).collect();
    for process in &processes {
        let prefix = format!("{process}-");
        assert!(left.iter().any(|name| name.to_string_lossy().starts_with(&prefix)), "{left:?}");
    }
}

#[test]
fn serialised_threads_have_no_interim_profiles_and_it_is_said_once() {
    let scratch = tempfile::tempdir().unwrap();
    let ended = run(&mut launch(2, scratch.path(), "serialised", &OFTEN));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let written = profile(&scratch.path().join("p.tprof")).manifest.interim_profiles.written;
    // An MPI may provide more than was requested.
    let refused = ended.stderr.matches("MPI_THREAD_SERIALIZED").count();
    assert!(refused == 1 && written == 0 || ended.stderr.is_empty(), "{}", ended.stderr);
}
