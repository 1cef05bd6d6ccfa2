//! Several ranks, and several jobs, whose segments are side by side.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use super::scratch::{NOBODY, Scratch, names, segment};
use tinyprof_format::segment::ProcessState;
use tinyprof_segment::layout::header;

#[test]
fn ranks_of_one_job_become_one_profile() {
    let place = Scratch::new();
    for (rank, process) in [(2_u64, NOBODY), (0, NOBODY + 1), (3, NOBODY + 2)] {
        let mut words = segment(process, 5);
        words[header::RANK] = 4 << 32 | rank;
        place.leave(&format!("rank-{rank}"), &words);
    }
    // A second segment of the same rank is from another run.
    let mut again = segment(NOBODY + 3, 6);
    again[header::RANK] = 4 << 32;
    place.leave("again", &again);
    let said = place.recover_with(&["--all"]);
    assert!(
        said.contains("3 of 4 ranks") && said.contains("run.tprof") && said.contains("run-1.tprof")
    );
    let profile = place.read("run.tprof");
    let visits: Vec<u64> = profile.values[0].iter().map(|rank| rank.visits()).collect();
    assert_eq!(visits, [7, 0, 7, 7]);
    assert!(place.left().is_empty());
}

#[test]
fn one_of_several_jobs_is_recovered_by_its_name() {
    let place = Scratch::new();
    place.leave("a", &segment(NOBODY, 5));
    place.leave("b", &segment(NOBODY + 1, 5));
    let (output, _) = place.run(&["recover", "segments", "--job", "nobody"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.contains(&format!(
            "no job that was killed is called nobody: what can be recovered is of process {NOBODY}; "
        )),
        "{said}"
    );
    let number = (NOBODY + 1).to_string();
    let (output, said) = place.run(&["recover", "segments", "--job", &number]);
    assert_eq!((output.status.code(), said.lines().count()), (Some(0), 1), "{said}");
    assert_eq!(place.left(), ["a"]);
    let (output, said) = place.run(&["recover", "segments", "--job", "run.tprof"]);
    assert_eq!(
        (output.status.code(), said.lines().count(), place.left().len()),
        (Some(0), 1, 0),
        "{said}"
    );
}

#[test]
fn several_jobs_are_listed_and_left_alone_unless_all_are_wanted() {
    let place = Scratch::new();
    for (rank, process) in [(0_u64, NOBODY), (1, NOBODY + 1)] {
        let mut words = segment(process, 5);
        words[header::RANK] = 4 << 32 | rank;
        words[header::LAUNCH_DATE] = 1_795_270_350;
        place.leave(&format!("rank-{rank}"), &words);
    }
    place.leave("other", &segment(NOBODY + 2, 6));
    for options in [&["recover", "segments"][..], &["recover", "segments", "--job", "run"]] {
        let (output, said) = place.run(options);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let lines: Vec<&str> = said.lines().collect();
        let [heading, job, other] = lines[..] else { panic!("{said}") };
        assert!(heading.starts_with("process  profile    program  began"), "{said}");
        let expected = "4194305  run.tprof  run      2026-11-21 14:12:30 UTC  2 of 4  65.5 kB";
        assert_eq!(job, expected);
        assert!(
            other.starts_with("4194307  run.tprof  run      - ") && other.contains(" 1 of 1 "),
            "{said}"
        );
        let advice = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(advice.contains("2 jobs ") && advice.contains("--all"), "{advice}");
        assert_eq!(place.left(), ["other", "rank-0", "rank-1"]);
        assert_eq!(names(place.0.path()), ["segments"]);
    }
    let (_, said) = place.run(&["recover", "segments", "--json"]);
    assert!(said.contains("\"to_choose_from\"") && said.contains("\"ranks_of_job\": 4"), "{said}");
    place.recover_with(&["--job", "4194307"]);
    assert_eq!(place.left(), ["rank-0", "rank-1"]);
    place.recover();
    assert!(place.left().is_empty(), "the only one");
    place.leave("a", &segment(NOBODY, 5));
    place.leave("b", &segment(NOBODY + 1, 5));
    assert_eq!(place.recover_with(&["--job", "run", "--all"]).lines().count(), 2);
}

#[test]
fn the_board_of_a_dead_job_is_removed_and_that_of_a_starting_one_is_not() {
    let place = Scratch::new();
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux has it");
    let started = ProcessState::parse(&stat).expect("it is a process").start_time;
    let mark = |process_id: u32, start: u64| u64::from(process_id) << 32 | start;
    let own = mark(std::process::id(), started & u64::from(u32::MAX));
    let namespace = fs::metadata("/proc/self/ns/pid").expect("Linux has it").ino();
    place.leave("job-1.board", &[0, 2, namespace, mark(NOBODY, 5), mark(NOBODY + 1, 5)]);
    place.leave("job-2.board", &[0, 2, namespace, mark(NOBODY, 5), own]);
    place.leave("job-3.board", &[0, 2, namespace, 0, 0]);
    assert_eq!(place.recover(), "nothing to recover in segments\n");
    assert_eq!(place.left(), ["job-2.board", "job-3.board"]);
}

#[test]
fn several_at_once_make_each_profile_once() {
    const JOBS: u32 = 12;
    let place = Scratch::new();
    for job in 0..JOBS {
        place.leave(&format!("{job}"), &segment(NOBODY + job, 5));
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    command.args(["recover", "segments", "--all"]).current_dir(place.0.path());
    command.stdout(std::process::Stdio::null());
    let started: Vec<_> = (0..6).map(|_| command.spawn().expect("tinyprof starts")).collect();
    for mut child in started {
        assert!(child.wait().expect("it ends").success());
    }
    assert_eq!(names(place.0.path()).len(), JOBS as usize + 1, "{:?}", names(place.0.path()));
    assert!(place.left().is_empty());
}
