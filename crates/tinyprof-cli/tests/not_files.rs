//! Pipes, devices and directories in place of files: an immediate error, without waiting for the
//! writer of a pipe.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tinyprof_format::file::{
    Directory, OutputFormat, Permissions, Source as _, UnfinishedProfile, save_profile, write_part,
};
use tinyprof_format::model::Manifest;
use tinyprof_format::text::read_text;

const TEXT: &str = "\"id\",\"parent\",\"tag\",\"is_loop\",\"times\"\n\
    \"main\",\"null\",\"null\",\"0\",\"0.5|0.25\"\n";

/// Replacements for a file.
const KINDS: [fn(&Path); 3] = [
    |path| assert!(Command::new("mkfifo").arg(path).status().expect("it starts").success()),
    |path| fs::create_dir(path).expect("a directory"),
    |path| symlink("/dev/zero", path).expect("a link"),
];

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// Runs the command, which must not wait for anybody.
fn run(arguments: &[&str], directory: &Path) -> Output {
    let mut command = Command::new("timeout");
    command.arg("60").arg(env!("CARGO_BIN_EXE_tinyprof")).args(arguments).current_dir(directory);
    let output = command.env_remove("TINYPROF_SEGMENT_DIR").output().expect("it starts");
    let code = output.status.code();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(code, Some(0 | 1 | 3 | 4)), "{arguments:?}: {code:?} {said}");
    output
}

fn fails(arguments: &[&str], directory: &Path, expected: &str) {
    let output = run(arguments, directory);
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(!output.status.success() && said.contains(expected), "{arguments:?}: {said}");
}

fn profile(directory: &Path, name: &str) -> PathBuf {
    let profile = read_text(TEXT.as_bytes()).expect("a text").profile;
    save_profile(Permissions::Private, &directory.join(name), &profile).expect("it is written")
}

#[test]
fn in_a_profile_they_are_errors_of_every_command() {
    for file in ["manifest.json", "callpaths", "part-00000"] {
        for kind in KINDS {
            let scratch = scratch();
            let path = profile(scratch.path(), "run").join(file);
            profile(scratch.path(), "whole");
            fs::remove_file(&path).expect("it is there");
            kind(&path);
            let reads: &[&[&str]] = &[
                &["report", "run.tprof"],
                &["report", "run.tprof", "--path", "main"],
                &["tree", "run.tprof"],
                &["top", "run.tprof"],
                &["diff", "whole.tprof", "run.tprof"],
                &["export", "run.tprof", "--to", "chrome", "-o", "out.json"],
                &["html", "run.tprof", "-o", "page.html"],
            ];
            for arguments in reads {
                fails(arguments, scratch.path(), "not a regular file");
            }
            fails(&["check", "run.tprof"], scratch.path(), "not a regular file");
            run(&["check", "run.tprof", "--salvage", "-o", "out"], scratch.path());
            let info = run(&["info", "run.tprof"], scratch.path());
            assert_eq!(info.status.success(), file != "manifest.json");
        }
    }
}

#[test]
fn a_text_is_no_device_and_no_pipe_that_nobody_writes_to() {
    let said = ["nobody has written to it", "is not a readable manifest", "a device or a socket"];
    for (kind, said) in KINDS.iter().zip(said) {
        let scratch = scratch();
        kind(&scratch.path().join("run.csv"));
        let said = if said.contains("manifest") { "no manifest.json" } else { said };
        fails(&["import", "run.csv", "-o", "run"], scratch.path(), said);
    }
    // The equivalent of a shell's `<(cat run.csv)`.
    let scratch = scratch();
    fs::write(scratch.path().join("run.csv"), TEXT).expect("it is written");
    let mut shell = Command::new("bash");
    shell.args(["-c", "\"$0\" import <(cat run.csv) -o run", env!("CARGO_BIN_EXE_tinyprof")]);
    assert!(shell.current_dir(scratch.path()).status().expect("it starts").success());
    assert_eq!(Directory::new(&scratch.path().join("run.tprof")).names().len(), 3);
}

#[test]
fn in_what_aggregators_wrote_they_are_errors() {
    for kind in KINDS {
        let scratch = scratch();
        let unfinished =
            UnfinishedProfile::create(OutputFormat::Csv, &scratch.path().join("run"), "1");
        let unfinished = unfinished.expect("the directory is made");
        let part = write_part(OutputFormat::Csv, unfinished.directory(), 0, 0..2, TEXT.as_bytes());
        let manifest = read_text(TEXT.as_bytes()).expect("a text").profile.manifest;
        let manifest = Manifest { parts: vec![part.expect("a part")], ..manifest };
        let directory = unfinished.finish(&manifest).expect("it is complete");
        fs::remove_file(directory.join("part-00000.csv")).expect("it is there");
        kind(&directory.join("part-00000.csv"));
        fails(&["import", "run.csv", "-o", "run"], scratch.path(), "not a regular file");
    }
}

#[test]
fn among_segments_and_interim_profiles_nobody_waits_for_them() {
    let scratch = scratch();
    for (number, kind) in KINDS.iter().enumerate() {
        kind(&scratch.path().join(format!("{number}-1-0.segment")));
        let interim_profile = scratch.path().join(format!("run{number}-interim-0001.tprof"));
        fs::create_dir(&interim_profile).expect("a directory");
        kind(&interim_profile.join("manifest.json"));
    }
    run(&["recover", "."], scratch.path());
    run(&["top", ".", "--once"], scratch.path());
    for number in ["run0", "run1", "run2"] {
        run(&["top", ".", "--once", "--job", number], scratch.path());
    }
}
