//! A profile that cannot be written changes nothing in the program: its output and exit code are
//! its own, one line says which profile was not written and why, and no partial files are left.

use std::path::Path;
use std::process::Command;

use crate::programs::{Ended, launch, profile, program, run};

#[track_caller]
fn check_one_complaint(ended: &Ended, name: &str, reason: &str) {
    assert_eq!(ended.code, Some(7), "{}", ended.stderr);
    assert_eq!(ended.stdout.lines().count(), 3, "{}", ended.stdout);
    let ours: Vec<_> = ended.stderr.lines().filter(|line| line.starts_with("tinyprof:")).collect();
    assert_eq!(ours.len(), 1, "{}", ended.stderr);
    for part in ["was not written", name, reason] {
        assert!(ours[0].contains(part), "{:?} in {}", part, ours[0]);
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn an_unwritable_directory_is_one_line() {
    let scratch = tempfile::tempdir().unwrap();
    // No user can create a directory below a file, not even root.
    let file = scratch.path().join("file");
    std::fs::write(&file, "").unwrap();
    let ended = run(launch(3, "hook", &file.join("p")).arg("code"));
    check_one_complaint(&ended, "file/p.tprof", "not a directory");
    assert_eq!(names(scratch.path()), ["file"]);
}

#[test]
fn an_existing_profile_is_never_overwritten() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("p");
    for _ in 0..3 {
        assert_eq!(run(launch(2, "hook", &out).arg("code")).code, Some(7));
    }
    assert_eq!(names(scratch.path()), ["p-1.tprof", "p-2.tprof", "p.tprof"]);
    for name in names(scratch.path()) {
        assert_eq!(profile(&scratch.path().join(name)).ranks.len(), 2);
    }
}

/// Runs `command` after `mounts`, which mount file systems that only this command sees, and which
/// vanish with it. Root needs no user namespace for that; other users get one. The last lines of
/// the output list the contents of `directory` at the end.
fn run_with_mounts(command: &Command, mounts: &str, directory: &Path) -> (Ended, Vec<String>) {
    let inner: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|a| format!("'{}'", a.to_str().expect("test paths are UTF-8")))
        .collect();
    let script = format!(
        "{mounts} && {}; code=$?; echo; echo left:; ls -A '{}'; exit $code",
        inner.join(" "),
        directory.display()
    );
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--map-root-user", "sh", "-c", &script]);
    unshare.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut ended = run(&mut unshare);
    let (stdout, left) =
        ended.stdout.split_once("\nleft:\n").expect("the script lists the directory");
    let left = left.lines().map(str::to_owned).collect();
    ended.stdout = stdout.to_owned();
    (ended, left)
}

#[test]
fn a_full_disk_is_one_line_and_leaves_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let disk = scratch.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mut command = launch(3, "hook", &disk.join("p"));
    // Two pages, one of which is taken.
    let mounts = format!(
        "mount -t tmpfs -o size=8k none '{disk}' && head -c 4096 /dev/zero > '{disk}/taken'",
        disk = disk.display()
    );
    let (ended, left) = run_with_mounts(command.arg("code"), &mounts, &disk);
    assert_eq!(left, ["taken"], "{}{}", ended.stdout, ended.stderr);
    check_one_complaint(&ended, "p.tprof", "No space left on device");
}

#[test]
fn a_disk_that_is_full_for_the_part_of_one_rank_fails_the_profile_of_all() {
    let scratch = tempfile::tempdir().unwrap();
    let disk = scratch.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mut command = launch(3, "hook", &disk.join("p"));
    command.arg("large-on-2").env("TINYPROF_AGGREGATORS", "3");
    // Rank 2's part alone is larger than this.
    let mounts = format!("mount -t tmpfs -o size=32k none '{}'", disk.display());
    let (ended, left) = run_with_mounts(&command, &mounts, &disk);
    assert_eq!(left, [""; 0], "{}{}", ended.stdout, ended.stderr);
    // Other parts are written at the same time: the rank that fills the disk is not always the one
    // that finds it full.
    check_one_complaint(&ended, "p.tprof", "No space left on device");
}

#[test]
fn a_rank_that_may_not_write_fails_the_profile_of_all() {
    let scratch = tempfile::tempdir().unwrap();
    let disk = scratch.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    // The second of three ranks sees the same directory, but read-only.
    let (hook, shown) = (program("hook"), disk.display());
    let read_only = format!(
        "mount --bind {shown} {shown} && mount -o remount,bind,ro {shown} && exec {} code",
        hook.display()
    );
    let mut command = launch(1, "hook", &disk.join("p"));
    command.args(["code", ":", "-n", "1", "unshare", "--mount", "sh", "-c", &read_only]);
    command.args([":", "-n", "1"]).arg(&hook).arg("code").env("TINYPROF_AGGREGATORS", "3");
    // Only a separate mount can be mounted again.
    let mounts = format!("mount -t tmpfs none '{shown}'");
    let (ended, left) = run_with_mounts(&command, &mounts, &disk);
    assert_eq!(left, [""; 0], "{}{}", ended.stdout, ended.stderr);
    check_one_complaint(&ended, "p.tprof", "part-00001: Read-only file system");
}

#[test]
fn the_test_programs_exist() {
    for name in ["figure2", "hook", "explicit", "stopped", "arbitrary"] {
        assert!(program(name).exists(), "{name}");
    }
}

#[test]
fn what_could_not_be_written_is_still_there_for_recover() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    std::fs::write(&file, "").unwrap();
    let segments = scratch.path().join("segments");
    let mut command = launch(3, "hook", &file.join("p"));
    let ended = run(command.arg("code").env("TINYPROF_SEGMENT_DIR", &segments));
    check_one_complaint(&ended, "file/p.tprof", "not a directory");
    let advice = format!("`tinyprof recover {}` makes a profile of it", segments.display());
    assert!(ended.stderr.contains(&advice), "{}", ended.stderr);
    let left = names(&segments);
    // Rank 1 visits nothing; the others have several threads, whose files are named after their
    // process.
    let processes: std::collections::BTreeSet<_> =
        left.iter().filter_map(|name| name.split('-').next()).collect();
    assert_eq!(processes.len(), 2, "{left:?}");
    // Nothing is left where the profile is written, either.
    std::fs::remove_dir_all(&segments).unwrap();
    let mut command = launch(3, "hook", &scratch.path().join("p"));
    let ended = run(command.arg("code").env("TINYPROF_SEGMENT_DIR", &segments));
    assert_eq!(ended.code, Some(7), "{}", ended.stderr);
    assert_eq!(names(&segments), [""; 0]);
}

#[test]
fn a_rank_whose_own_profile_cannot_be_written_keeps_its_segments() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    std::fs::write(&file, "").unwrap();
    let segments = scratch.path().join("segments");
    let mut command = crate::support::mpiexec(1);
    command.arg(program("mpmd")).args([":", "-n", "1"]).arg(program("plain"));
    command.env("TINYPROF_OUT", file.join("p")).env("TINYPROF_SEGMENT_DIR", &segments);
    let ended = run(&mut command);
    assert_eq!(ended.code, Some(7), "{}", ended.stderr);
    assert!(ended.stderr.contains("p-rank-0.tprof was not written: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("`tinyprof recover "), "{}", ended.stderr);
    assert_eq!(names(&segments).len(), 1, "{:?}", names(&segments));
}

#[test]
fn standard_error_that_nobody_reads_does_not_hold_up_the_program() {
    // A full pipe that rank 0 itself keeps open: writing a table to it never ends.
    const WRAPPER: &str = "case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in 0) mkfifo \"$1\"; exec 3<>\"$1\"; \
                           dd if=/dev/zero of=\"$1\" bs=4096 count=1024 oflag=nonblock 2>/dev/null; \
                           exec \"$0\" code 2>&3;; *) exec \"$0\" code;; esac";
    let scratch = tempfile::tempdir().unwrap();
    let mut command = crate::support::mpiexec(2);
    command.args(["sh", "-c", WRAPPER]).arg(program("hook")).arg(scratch.path().join("fifo"));
    command.env("TINYPROF_OUT", scratch.path().join("p")).env("TINYPROF_DEADLINE", "4s");
    let ended = run(&mut command);
    assert_eq!(ended.code, Some(7), "{}", ended.stderr);
    assert_eq!(profile(&scratch.path().join("p.tprof")).ranks.len(), 2);
}
