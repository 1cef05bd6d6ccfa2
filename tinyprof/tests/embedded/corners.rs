//! Corner cases that few programs use: none of them disturbs the program or makes a profile wrong.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use tinyprof_format::model::Losses;

use crate::endings::check_untouched;
use crate::program::{Scratch, check_visits, names, text};
use crate::recover::{recovered, visits};

#[test]
fn a_child_made_by_clone_leaves_the_measurements_of_its_parent_alone() {
    let place = Scratch::new();
    let mut command = place.command("test_corners");
    command.arg("clone").env("TINYPROF_OUT", "profile").env("TINYPROF_SEGMENT_DIR", "segments");
    check_untouched(&command.env("TINYPROF_REPORT", "off").output().unwrap());
    assert_eq!(place.names(), ["profile.tprof", "segments"]);
    let profile = place.read("profile.tprof");
    let own = [("work", 1), ("work<inner", 1), ("work<inner<leaf", 1)];
    let around = [("around", 1), ("around<step", 4), ("around<step<leaf", 4)];
    check_visits(&profile, &[own, around].concat());
    assert_eq!(profile.manifest.losses, Losses::default());
}

#[test]
fn a_program_that_replaces_itself_leaves_its_segment_and_gets_another() {
    let place = Scratch::new();
    let mut command = place.command("test_corners");
    command.arg("exec").env("TINYPROF_OUT", "profile").env("TINYPROF_SEGMENT_DIR", "segments");
    let output = command.env("TINYPROF_REPORT", "off").output().unwrap();
    check_untouched(&output);
    assert_eq!(text(&output.stderr), "");
    let profile = place.read("profile.tprof");
    check_visits(&profile, &[("work", 1), ("work<inner", 1), ("work<inner<leaf", 1)]);
    assert_eq!(
        profile.manifest.losses,
        Losses::default(),
        "the second image has a segment of its own"
    );
    let segments = place.path().join("segments");
    assert_eq!(names(&segments).len(), 1, "the first image could not write its profile");
    assert_eq!(visits(&recovered(&segments), "work<inner"), 1);
}

#[test]
fn the_smallest_stack_is_enough_to_end_on() {
    for how in ["small-stack", "smallest-stack"] {
        let place = Scratch::new();
        let mut command = place.command("test_corners");
        check_untouched(&command.arg(how).env("TINYPROF_OUT", "profile").output().unwrap());
        check_visits(
            &place.read("profile.tprof"),
            &[("work", 1), ("work<inner", 1), ("work<inner<leaf", 1)],
        );
    }
}

#[test]
fn a_program_with_more_rights_than_its_user_obeys_no_variable() {
    let place = Scratch::new();
    // SAFETY: takes no arguments and always succeeds.
    if unsafe { libc::geteuid() } != 0 {
        println!("only root can make a program that another user runs as root");
        return;
    }
    let program = place.path().join("program");
    fs::copy(place.command("test_corners").get_program(), &program).unwrap();
    chown(&program, Some(0), Some(0)).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o4755)).unwrap();
    fs::set_permissions(place.path(), Permissions::from_mode(0o777)).unwrap();
    let run = |user| {
        let mut command = place.command("test_corners");
        let mut secure = std::process::Command::new(&program);
        secure.current_dir(place.path()).arg("rights").uid(user).gid(user);
        for (variable, value) in command.env("TINYPROF_OUT", "out/profile").get_envs() {
            value.map(|value| secure.env(variable, value));
        }
        let output = secure.output().unwrap();
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        (text(&output.stdout).starts_with('1'), text(&output.stderr).to_owned())
    };
    let (is_secure, said) = run(65_534);
    if !is_secure {
        println!("this file system gives no program the rights of its owner");
        return;
    }
    assert_eq!((said.as_str(), place.names()), ("", vec!["program".to_owned()]));
    // The same program, run by its own user.
    assert!(!run(0).0);
    assert_eq!(names(&place.path().join("out")), ["profile.tprof"]);
}

#[test]
fn a_standard_error_that_nobody_reads_does_not_hold_the_program() {
    for variables in [
        &[("TINYPROF_REPORT", "on")][..],
        &[("TINYPROF_REPORT", "off"), ("TINYPROF_KEEP_NONSENSE", "")],
    ] {
        let place = Scratch::new();
        let (reader, writer) = std::io::pipe().unwrap();
        fill(&writer);
        let mut command = place.command("test_corners");
        command
            .env("TINYPROF_OUT", "profile")
            .env("TINYPROF_DEADLINE", "300ms")
            .env("TINYPROF_BUDGET", "nonsense");
        for (name, value) in variables {
            command.env(name, value);
        }
        let child = command.stdout(Stdio::piped()).stderr(writer).spawn().unwrap();
        drop(command);
        check_untouched(&child.wait_with_output().unwrap());
        assert_eq!(place.names(), ["profile.tprof"], "the profile does not depend on it");
        drop(reader);
    }
}

/// Writes until the pipe is full.
fn fill(pipe: &std::io::PipeWriter) {
    let set_flags = |flags: libc::c_int| {
        // SAFETY: the descriptor is open.
        let failed = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, flags) };
        assert_eq!(failed, 0);
    };
    set_flags(libc::O_NONBLOCK);
    let mut writer = pipe;
    while writer.write(b"x").is_ok() {}
    set_flags(0);
}

#[test]
fn control_characters_of_variables_do_not_reach_the_terminal() {
    let place = Scratch::new();
    let mut command = place.command("test_corners");
    command.env("TINYPROF_BUDGET", "\x1b[31mred").env("TINYPROF_REPORT", "off");
    let output = command.output().unwrap();
    check_untouched(&output);
    let said = text(&output.stderr);
    assert!(
        said.contains(r"TINYPROF_BUDGET=\u{1b}[31mred is ignored") && !said.contains('\x1b'),
        "{said:?}"
    );
}
