//! Locations where no profile can be written: the program must not notice, and its user must be
//! told once.

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::process::{Command, Output, Stdio};

use crate::endings::check_untouched;
use crate::program::{Scratch, contents, names, text, visits};
use crate::recover::{recovered, visits as visits_of_segments};

/// Checks for exactly one line that reports what was not written and why, including `reason`.
fn check_one_line(output: &Output, reason: &str) {
    let mut lines = text(&output.stderr).lines();
    let line = lines.next().unwrap_or_default();
    assert!(
        line.starts_with("tinyprof: the profile ") && line.contains(" was not written: "),
        "{output:?}"
    );
    assert!(line.contains(reason), "{reason} is missing: {line}");
    assert_eq!(lines.next(), None, "one line is enough");
}

fn check_unwritable(out: &str, reason: &str) {
    let place = Scratch::new();
    fs::write(place.path().join("file"), "kept").unwrap();
    let run = |report| {
        let mut command = place.command("test_endings");
        command.env("TINYPROF_OUT", out).env("TINYPROF_REPORT", report).output().unwrap()
    };
    let quiet = run("off");
    check_untouched(&quiet);
    check_one_line(&quiet, reason);
    assert!(text(&quiet.stderr).contains(out.trim_end_matches(".tprof")), "{quiet:?}");
    // With a table, at least the measurements are visible.
    let with_table = run("on");
    check_untouched(&with_table);
    let said = text(&with_table.stderr);
    assert!(said.contains("leaf") && !said.contains("profile: "), "{said}");
    assert_eq!(said.lines().filter(|line| line.starts_with("tinyprof: ")).count(), 1, "{said}");
    assert_eq!(contents(place.path()), [("file".to_owned(), b"kept".to_vec())]);
}

#[test]
fn below_a_file_there_is_no_place() {
    check_unwritable("file/profile", "cannot create file");
}

#[test]
fn a_system_directory_takes_no_profile() {
    check_unwritable("/proc/tinyprof-test/profile", "cannot create /proc/tinyprof-test");
}

#[test]
fn a_working_directory_that_is_gone_takes_no_profile() {
    let place = Scratch::new();
    let script = r#"mkdir gone && cd gone && rmdir ../gone && TINYPROF_REPORT=off exec "$0""#;
    let output = place.shell(script, "test_endings").output().unwrap();
    check_untouched(&output);
    check_one_line(&output, "No such file or directory");
    assert!(place.names().is_empty());
}

#[test]
fn a_full_disk_takes_no_profile_and_keeps_no_part_of_it() {
    // 8 KiB hold the dictionary and the part, but not the manifest. 4 KiB hold only directories.
    for size in ["8k", "4k"] {
        let place = Scratch::new();
        fs::create_dir(place.path().join("full")).unwrap();
        let script = format!(
            r#"mount -t tmpfs -o size={size} tinyprof-test full || exit 99
            TINYPROF_OUT=full/profile TINYPROF_REPORT=off TINYPROF_SEGMENT_DIR=segments "$0"
            code=$?
            ls -A full > listing
            exit $code"#
        );
        let output = in_mount_namespace(&place, &script, "test_endings");
        check_untouched(&output);
        check_one_line(&output, "No space left on device");
        assert_eq!(
            fs::read_to_string(place.path().join("listing")).unwrap(),
            "",
            "nothing is left behind"
        );
        // The measurements are kept in the segments, since there is no other copy.
        let segments = place.path().join("segments");
        let command = format!("`tinyprof recover {}` makes a profile of it", segments.display());
        assert!(text(&output.stderr).contains(&command), "{output:?}");
        assert_eq!(visits_of_segments(&recovered(&segments), "work<inner<leaf"), 1);
    }
}

/// Runs a script that may mount: as root, or as root of a user namespace. The mount disappears with
/// the script.
pub(crate) fn in_mount_namespace(place: &Scratch, script: &str, program: &str) -> Output {
    let mut said = String::new();
    for options in [&["--mount"][..], &["--user", "--map-root-user", "--mount"]] {
        let shell = place.shell(script, program);
        let mut command = Command::new("unshare");
        command
            .args(options)
            .arg(shell.get_program())
            .args(shell.get_args())
            .current_dir(place.path());
        for (variable, value) in shell.get_envs() {
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
        }
        let output = command.output().expect("unshare, of util-linux, makes the full disk");
        if place.path().join("listing").exists() {
            return output;
        }
        said.push_str(text(&output.stderr));
    }
    panic!(
        "this machine allows no mount, not even in a user namespace, so a full disk cannot be tried: {said}"
    );
}

#[test]
fn a_limit_on_file_sizes_takes_no_profile_and_sends_no_signal() {
    let place = Scratch::new();
    let script = r#"ulimit -f 0; TINYPROF_OUT=profile TINYPROF_REPORT=off exec "$0""#;
    let output = place.shell(script, "test_endings").output().unwrap();
    check_untouched(&output);
    check_one_line(&output, "File too large");
    assert!(place.names().is_empty());
}

#[test]
fn an_existing_profile_is_never_touched() {
    let place = Scratch::new();
    let run = || {
        let output = place.command("test_endings").env("TINYPROF_OUT", "same").output().unwrap();
        check_untouched(&output);
        text(&output.stderr).lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(run(), "profile: same.tprof");
    let first = contents(&place.path().join("same.tprof"));
    assert_eq!(run(), "profile: same-1.tprof");
    assert_eq!(run(), "profile: same-2.tprof");
    assert_eq!(contents(&place.path().join("same.tprof")), first);
    assert_eq!(place.names(), ["same-1.tprof", "same-2.tprof", "same.tprof"]);
    assert_eq!(visits(&place.read("same-1.tprof")), visits(&place.read("same.tprof")));
}

#[test]
fn whatever_has_the_name_keeps_it() {
    let place = Scratch::new();
    fs::write(place.path().join("taken.tprof"), "a file").unwrap();
    symlink("nowhere", place.path().join("taken-1.tprof")).unwrap();
    fs::create_dir(place.path().join("taken-2.tprof")).unwrap();
    let output = place.command("test_endings").env("TINYPROF_OUT", "taken").output().unwrap();
    check_untouched(&output);
    assert_eq!(fs::read(place.path().join("taken.tprof")).unwrap(), b"a file");
    assert_eq!(
        fs::read_link(place.path().join("taken-1.tprof")).unwrap().to_str(),
        Some("nowhere")
    );
    assert!(names(&place.path().join("taken-2.tprof")).is_empty());
    assert_eq!(visits(&place.read("taken-3.tprof")).len(), 3);
}

#[test]
fn closed_outputs_disturb_nobody() {
    for (script, stdout) in [
        (r#"exec "$0" 2>&-"#, "the result is 42\n"),
        (r#"exec "$0" >&-"#, ""),
        (r#"exec "$0" <&- >&- 2>&-"#, ""),
        (r#"exec "$0" 2>/dev/full"#, "the result is 42\n"),
    ] {
        let place = Scratch::new();
        let output = place.shell(script, "test_endings").output().unwrap();
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(7), stdout), "{script}");
        assert_eq!(visits(&place.profile()).len(), 3, "{script}");
    }
}

#[test]
fn a_reader_that_went_away_ends_no_program() {
    for how in ["", "sigpipe"] {
        let place = Scratch::new();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut child = place
            .command("test_endings")
            .arg(how)
            .stdout(Stdio::piped())
            .stderr(writer)
            .spawn()
            .unwrap();
        let mut result = String::new();
        child.stdout.take().unwrap().read_to_string(&mut result).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(7), "{how}");
        assert_eq!(result, "the result is 42\n");
        assert_eq!(visits(&place.profile()).len(), 3, "{how}");
    }
}

#[test]
fn where_memory_is_limited_recording_makes_do() {
    // Less address space than an arena usually reserves.
    let place = Scratch::new();
    let script = r#"ulimit -v 100000; TINYPROF_OUT=profile TINYPROF_REPORT=off exec "$0""#;
    let output = place.shell(script, "test_endings").output().unwrap();
    check_untouched(&output);
    assert_eq!(text(&output.stderr), "");
    assert_eq!(visits(&place.profile()).len(), 3);
}
