//! The command as users and scripts see it: output, messages, exit codes.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use insta::assert_snapshot;
use tinyprof_format::file::ProfileWriter;
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, RankFacts, Region, RunMetadata, SiteId,
};

use support::{run, shown, tinyprof};

/// Writes a run of two ranks: main<compute on both, main<write on rank 1 only, and `leaves` short
/// callpaths.
fn written(scratch: &Path, leaves: u64) -> PathBuf {
    let rank = |rank: u64| {
        let visit = |ns| CallpathValues {
            executions: vec![ExecutionSummary::of_one_visit(0, ns)],
            ..CallpathValues::default()
        };
        let site = SiteId::from_bits;
        let main = CallpathId::root(site(1));
        let mut records = vec![
            (main, None, region(1, "main"), visit(1_500_000 + rank * 200_000)),
            (main.child(site(2)), Some(main), region(2, "compute"), visit(1_200_000)),
        ];
        if rank == 1 {
            records.push((main.child(site(3)), Some(main), region(3, "write"), visit(250_000)));
        }
        for leaf in 4..4 + leaves {
            let name = format!("leaf_{leaf}");
            records.push((main.child(site(leaf)), Some(main), region(leaf, &name), visit(1_000)));
        }
        let facts = RankFacts {
            host: "node001".into(),
            process_id: 100,
            threads: 1,
            ..RankFacts::default()
        };
        EventMap::from_records(records, facts)
    };
    let metadata = RunMetadata {
        user: "ada".into(),
        launchdate: 1_795_270_350,
        executable: "/home/ada/run".into(),
        cmdline: vec!["./run".into(), "--fast".into()],
        tinyprof_version: "0.1.0".into(),
        clock: "tsc".into(),
        ..RunMetadata::default()
    };
    ProfileWriter::new()
        .with_metadata(metadata)
        .write(&scratch.join("run"), &[rank(0), rank(1)])
        .expect("the profile is written")
}

fn region(site: u64, name: &str) -> Region {
    let place = Region::named(SiteId::from_bits(site), name);
    Region { module: "run".into(), file: "src/main.rs".into(), line: 1, column: 1, ..place }
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

#[test]
fn a_report_is_printed() {
    let scratch = scratch();
    written(scratch.path(), 3);
    assert_snapshot!(shown(&run(&["report", "run.tprof/", "--width", "100"], scratch.path())));
}

#[test]
fn all_shows_what_is_folded() {
    let scratch = scratch();
    let profile = written(scratch.path(), 3);
    // The report has the profile's name even from inside the directory.
    let output = shown(&run(&["report", ".", "--all"], &profile));
    assert!(output.contains("run.tprof: 2 ranks on 1 host"), "{output}");
    assert!(output.contains("leaf_6") && !output.contains("smaller"), "{output}");
}

#[test]
fn the_facts_are_printed() {
    let scratch = scratch();
    written(scratch.path(), 0);
    let output = shown(&run(&["info", "run.tprof"], scratch.path()));
    // The size depends on the compression.
    let output: Vec<&str> = output.lines().filter(|line| !line.starts_with("files ")).collect();
    assert_snapshot!(output.join("\n"));
}

#[test]
fn json_is_json() {
    let scratch = scratch();
    written(scratch.path(), 0);
    let json = |arguments: &[&str]| -> serde_json::Value {
        let output = run(arguments, scratch.path());
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
        serde_json::from_slice(&output.stdout).expect("standard output is JSON")
    };
    let report = json(&["report", "run.tprof", "--json"]);
    assert_eq!((&report["name"], &report["ranks"]), (&"run.tprof".into(), &2.into()));
    assert_eq!(report["callpaths"][0]["inclusive_ns"]["sum"], 3_200_000);
    let manifest = json(&["info", "run.tprof", "--json"]);
    assert_eq!(
        (&manifest["format"], &manifest["metadata"]["user"]),
        (&"tinyprof".into(), &"ada".into())
    );
}

#[test]
fn a_missing_directory_is_one_clear_line() {
    let scratch = scratch();
    for command in ["report", "info"] {
        let output = run(&[command, "nowhere.tprof"], scratch.path());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
        assert!(message.starts_with("error: ") && message.contains("nowhere.tprof"), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn a_directory_that_is_no_profile_is_named_as_such() {
    let scratch = scratch();
    fs::create_dir(scratch.path().join("src")).expect("a directory");
    assert_snapshot!(shown(&run(&["report", "src"], scratch.path())), @r"
    exit code 1
    --- stdout
    --- stderr
    error: src is not a profile: it has no manifest.json (expected a directory NAME.tprof)
    ");
}

#[test]
fn a_damaged_part_is_named() {
    let scratch = scratch();
    let part = written(scratch.path(), 0).join("part-00001");
    let mut bytes = fs::read(&part).expect("the part is there");
    bytes.truncate(bytes.len() - 1);
    fs::write(&part, bytes).expect("the part is cut");
    let output = run(&["report", "run.tprof"], scratch.path());
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(message.contains("part-00001") && message.contains("cut off"), "{message}");
    // The facts are in the manifest, which is intact.
    assert_eq!(run(&["info", "run.tprof"], scratch.path()).status.code(), Some(0));
}

#[test]
fn a_hostile_path_is_escaped_in_a_message() {
    let scratch = scratch();
    let message = run(&["report", "no\u{1b}[2J\nwhere"], scratch.path()).stderr;
    let message = String::from_utf8_lossy(&message);
    assert!(message.contains(r"no\u{1b}[2J\nwhere"), "{message}");
}

#[test]
fn wrong_arguments_exit_with_2() {
    let scratch = scratch();
    let wrong: [&[&str]; 5] = [
        &[],
        &["report"],
        &["repot", "x"],
        &["report", "x", "--width", "3"],
        &["info", "x", "--all"],
    ];
    for arguments in wrong {
        assert_eq!(run(arguments, scratch.path()).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn help_tells_the_exit_codes() {
    let scratch = scratch();
    assert_snapshot!(shown(&run(&["report", "--help"], scratch.path())));
    assert_snapshot!(shown(&run(&["--help"], scratch.path())));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let scratch = scratch();
    // More than a pipe holds, so that the writer sees the closed end.
    written(scratch.path(), 3_000);
    let mut child = tinyprof(&["report", "run.tprof", "--all"], scratch.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("tinyprof starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("tinyprof ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let scratch = scratch();
    written(scratch.path(), 0);
    let full = fs::File::create("/dev/full").expect("Linux has /dev/full");
    let output =
        tinyprof(&["info", "run.tprof"], scratch.path()).stdout(full).output().expect("it starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(message.starts_with("error: cannot write to standard output: "), "{message}");
}
