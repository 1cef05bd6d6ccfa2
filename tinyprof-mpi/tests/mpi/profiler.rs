//! A profiler that the program controls: its settings, its flush, its drop, and a part of the
//! ranks.

use std::path::Path;

use crate::programs::{Ended, paths, profile, program, run, values};
use crate::support::mpiexec;

fn explicit(ranks: usize, directory: &Path, end: &str, variables: &[(&str, &str)]) -> Ended {
    let mut command = mpiexec(ranks);
    command.arg(program("explicit")).args(["p", end]).current_dir(directory);
    run(command.envs(variables.iter().copied()))
}

#[test]
fn a_flush_gives_every_rank_the_path_and_later_visits_are_not_in_it() {
    let scratch = tempfile::tempdir().unwrap();
    let ended = explicit(3, scratch.path(), "flush", &[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
    for rank in 0..3 {
        let line = format!("rank {rank}: Some(\"p.tprof\")");
        assert!(ended.stdout.lines().any(|l| l == line), "{}", ended.stdout);
    }
    let profile = profile(&scratch.path().join("p.tprof"));
    assert_eq!(profile.manifest.parts.len(), 2, "as the builder says");
    assert_eq!(paths(&profile), ["work"]);
    for rank in 0..3 {
        assert_eq!(values(&profile, "work", rank).visits(), rank as u64 + 1);
    }
    assert_eq!(
        std::fs::read_dir(scratch.path()).unwrap().count(),
        1,
        "the end of MPI writes no second one"
    );
}

#[test]
fn a_drop_flushes() {
    let scratch = tempfile::tempdir().unwrap();
    let ended = explicit(2, scratch.path(), "drop", &[]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{}", ended.stderr);
    assert_eq!(profile(&scratch.path().join("p.tprof")).ranks.len(), 2);
}

#[test]
fn the_environment_wins_over_the_program() {
    let scratch = tempfile::tempdir().unwrap();
    let variables =
        [("TINYPROF_OUT", "q"), ("TINYPROF_AGGREGATORS", "1"), ("TINYPROF_REPORT", "on")];
    let ended = explicit(2, scratch.path(), "drop", &variables);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("work"), "{}", ended.stderr);
    assert_eq!(profile(&scratch.path().join("q.tprof")).manifest.parts.len(), 1);
}

#[test]
fn a_part_of_the_ranks_can_be_profiled_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let ended = explicit(3, scratch.path(), "half", &[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
    let profile = profile(&scratch.path().join("p.tprof"));
    assert_eq!(profile.ranks.len(), 2);
    let visits: Vec<_> = (0..2).map(|rank| values(&profile, "work", rank).visits()).collect();
    assert_eq!(visits, [1, 3], "ranks 0 and 2 of the world");
}

#[test]
fn no_message_of_ours_matches_one_of_the_programs() {
    for ranks in [1, 3, 4] {
        let scratch = tempfile::tempdir().unwrap();
        let ended = explicit(ranks, scratch.path(), "amid", &[]);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
        for rank in 0..ranks {
            let line = format!("rank {rank}: {}", (rank + ranks - 1) % ranks + 1000);
            assert!(ended.stdout.lines().any(|l| l == line), "{}", ended.stdout);
        }
        assert_eq!(profile(&scratch.path().join("p.tprof")).ranks.len(), ranks);
    }
}

#[test]
fn every_level_of_threads_will_do() {
    for threads in ["single", "funneled", "serialized", "multiple"] {
        let scratch = tempfile::tempdir().unwrap();
        let mut command = mpiexec(2);
        command.arg(program("explicit")).args(["p", "flush", threads]).current_dir(scratch.path());
        let ended = run(&mut command);
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (Some(0), ""),
            "{threads}: {}",
            ended.stdout
        );
        assert_eq!(profile(&scratch.path().join("p.tprof")).ranks.len(), 2, "{threads}");
    }
}
