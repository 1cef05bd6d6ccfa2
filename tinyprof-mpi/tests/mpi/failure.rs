//! A profile that cannot be written changes nothing in the program: its output and exit code are its own, one
//! line says what was not written and why, and nothing half written is left.

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
    // Below a file nobody can make a directory, not even root.
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

#[test]
fn a_full_disk_is_one_line_and_leaves_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let disk = scratch.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    // A file system of two pages, one of which is taken, in a mount name space that only this command sees: it
    // vanishes with the command. Root needs no user name space, others get one.
    let command = launch(3, "hook", &disk.join("p"));
    let inner: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|a| format!("'{}'", a.to_str().expect("test paths are UTF-8")))
        .collect();
    let script = format!(
        "mount -t tmpfs -o size=8k none '{disk}' && head -c 4096 /dev/zero > '{disk}/taken' \
         && {} code; code=$?; ls -A '{disk}'; exit $code",
        inner.join(" "),
        disk = disk.display(),
    );
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--map-root-user", "sh", "-c", &script]);
    unshare.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut ended = run(&mut unshare);
    let left = ended.stdout.lines().last().unwrap_or_default().to_owned();
    assert_eq!(left, "taken", "{}{}", ended.stdout, ended.stderr);
    ended.stdout = ended.stdout.lines().filter(|line| *line != "taken").collect::<Vec<_>>().join("\n");
    check_one_complaint(&ended, "p.tprof", "No space left on device");
}

#[test]
fn the_test_programs_exist() {
    for name in ["figure2", "hook", "explicit", "stopped"] {
        assert!(program(name).exists(), "{name}");
    }
}
