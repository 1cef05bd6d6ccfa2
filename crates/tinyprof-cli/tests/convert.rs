//! Conversion and its inverse as scripts see them: files, messages, exit codes.

mod support;

use std::fs;
use std::io::Write as _;
use std::process::{Output, Stdio};

use insta::assert_snapshot;

use support::{run, shown, tinyprof};

const WHOLE: &str = "\"id\",\"parent\",\"tag\",\"is_loop\",\"times\"\n\
    \"main\",\"null\",\"null\",\"0\",\"0.500000|0.250000\"\n\
    \"main<a%2Db\",\"main\",\"IO\",\"1\",\"0.100000+0.200000|0.010000+0.020000001\"\n\
    \"main<c\",\"main\",\"null\",\"0\",\"|0.100000\"\n";

/// A text with damage: two ranks run together in line 2, a broken number on rank 1 in line 3.
const DAMAGED: &str = "\"id\",\"parent\",\"tag\",\"is_loop\",\"times\"\n\
    \"main\",\"null\",\"null\",\"0\",\"0.500000,0.250000|0.125000\"\n\
    \"main-a\",\"main\",\"IO\",\"0\",\"0.1|0.x|0.2\"\n\
    \"main-b\",\"main\",\"IO\",\"0\",\"0.1|0.1|0.2\"\n";

/// Creates a directory with the text `run.csv`, and the profile `run.tprof` made from it.
fn imported(text: &str) -> (tempfile::TempDir, Output) {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    fs::write(scratch.path().join("run.csv"), text).expect("the text is written");
    let output = run(&["import", "run.csv", "-o", "run"], scratch.path());
    (scratch, output)
}

#[test]
fn a_whole_text_comes_back_byte_by_byte() {
    let (scratch, output) = imported(WHOLE);
    assert_snapshot!(shown(&output), @r"
    exit code 0
    --- stdout
    run.tprof: 2 ranks, 3 callpaths; nothing was lost
    --- stderr
    ");
    let exported = run(&["export", "run.tprof", "--to", "tinyprof-csv"], scratch.path());
    assert_eq!(String::from_utf8_lossy(&exported.stdout), WHOLE);
    let to_file =
        run(&["export", "run.tprof", "--to", "tinyprof-csv", "-o", "again.csv"], scratch.path());
    assert_eq!(shown(&to_file), "exit code 0\n--- stdout\n--- stderr\n");
    assert_eq!(fs::read_to_string(scratch.path().join("again.csv")).expect("the file"), WHOLE);
}

#[test]
fn a_directory_that_aggregators_wrote_becomes_one_profile() {
    use tinyprof_format::file::{OutputFormat, UnfinishedProfile, read_text_profile, write_part};
    use tinyprof_format::model::Manifest;
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let unfinished = UnfinishedProfile::create(OutputFormat::Csv, &scratch.path().join("run"), "1");
    let unfinished = unfinished.expect("the directory is made");
    let manifest = {
        let text = tinyprof_format::text::read_text(WHOLE.as_bytes()).expect("the text is whole");
        let of_part = |number: u32| {
            let ranks = 2 * number..2 * number + 2;
            write_part(OutputFormat::Csv, unfinished.directory(), number, ranks, WHOLE.as_bytes())
                .expect("a part")
        };
        let parts = vec![of_part(0), of_part(1)];
        Manifest { ranks: 4, parts, ..text.profile.manifest }
    };
    let directory = unfinished.finish(&manifest).expect("the profile is complete");
    assert_eq!(directory, scratch.path().join("run.csv"));
    let output = run(&["import", "run.csv", "-o", "run"], scratch.path());
    assert_snapshot!(shown(&output), @r"
    exit code 0
    --- stdout
    run.tprof: 4 ranks, 3 callpaths; nothing was lost
    --- stderr
    ");
    let refused = run(&["report", "run.csv"], scratch.path());
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("tinyprof import makes a profile of it")
    );
    let damaged = WHOLE.replace("0.25", "0.26");
    fs::write(directory.join("part-00001.csv"), damaged).expect("the part is written");
    let error = read_text_profile(&directory).expect_err("a number has changed").to_string();
    assert!(error.contains("part-00001.csv"), "{error}");
}

#[test]
fn a_damaged_text_is_salvaged_and_the_exit_code_says_so() {
    let (scratch, output) = imported(DAMAGED);
    assert_snapshot!(shown(&output), @r#"
    exit code 3
    --- stdout
    run.tprof: 3 ranks, 3 callpaths; 1 value lost
    --- stderr
    note: line 2, "main", rank 0: two ranks' values run together, "0.500000,0.250000"; read as two, which gives the right number
    note: line 3, "main-a", rank 1: expected seconds, found "0.x"; 1 value lost
    "#);
    let report = run(&["report", "run.tprof"], scratch.path());
    let report = String::from_utf8_lossy(&report.stdout);
    assert!(
        report.contains("note: incomplete: the text it was read from is damaged: 1 value lost"),
        "{report}"
    );
    let json = run(&["import", "run.csv", "-o", "other", "--json"], scratch.path());
    assert_eq!((json.status.code(), json.stderr.as_slice()), (Some(3), &b""[..]));
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!((&json["profile"], &json["whole"]), (&"other.tprof".into(), &false.into()));
    assert_eq!(json["salvage"]["values_lost"], 1);
    let problem = &json["salvage"]["problems"][1];
    assert_eq!(
        (&problem["line"], &problem["rank"], &problem["kind"]),
        (&3.into(), &1.into(), &"bad_value".into())
    );
}

#[test]
fn what_is_no_text_profile_is_one_clear_line() {
    let (_scratch, output) = imported("name,value\n");
    assert_snapshot!(shown(&output), @r#"
    exit code 1
    --- stdout
    --- stderr
    error: run.csv: expected a header like "id","parent","tag","is_loop","times" on line 1, found "name,value": this is not a text profile of TinyProf
    "#);
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let output = run(&["import", "nowhere.csv", "-o", "run"], scratch.path());
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.starts_with("error: cannot read nowhere.csv: "), "{message}");
    assert_eq!(
        fs::read_dir(scratch.path()).expect("the directory").count(),
        0,
        "nothing is left behind"
    );
}

#[test]
fn text_goes_through_pipes() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let mut child = tinyprof(&["import", "-", "-o", "piped"], scratch.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("tinyprof starts");
    child.stdin.take().expect("a pipe").write_all(WHOLE.as_bytes()).expect("it is read");
    assert!(child.wait_with_output().expect("tinyprof ends").status.success());
    let output = run(&["export", "piped.tprof", "--to", "tinyprof-csv", "-o", "-"], scratch.path());
    assert_eq!(String::from_utf8_lossy(&output.stdout), WHOLE);
}

#[test]
fn nothing_is_overwritten() {
    let (scratch, _) = imported(WHOLE);
    let output =
        run(&["export", "run.tprof", "--to", "tinyprof-csv", "-o", "run.csv"], scratch.path());
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("run.csv exists already and is left as it is"), "{message}");
    assert_eq!(fs::read_to_string(scratch.path().join("run.csv")).expect("the file"), WHOLE);
    let output = run(&["import", "run.csv", "-o", "run.tprof"], scratch.path());
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("run-1.tprof: "));
}

#[test]
fn unknown_formats_are_wrong_arguments() {
    let (scratch, _) = imported(WHOLE);
    let output = run(&["export", "run.tprof", "--to", "otf"], scratch.path());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && message.contains("tinyprof-csv"), "{message}");
}

#[test]
fn a_tree_and_a_top_are_printed() {
    let (scratch, _) = imported(WHOLE);
    assert_snapshot!(shown(&run(&["tree", "run.tprof", "--width", "60"], scratch.path())));
    assert_snapshot!(shown(&run(
        &["top", "run.tprof", "-n", "2", "--width", "60"],
        scratch.path()
    )));
    let json = |command: &[&str]| -> serde_json::Value {
        serde_json::from_slice(&run(command, scratch.path()).stdout).expect("JSON")
    };
    let tree = json(&["tree", "run.tprof", "--json"]);
    assert_eq!(
        (&tree["callpaths"][1]["path"], &tree["callpaths"][1]["visits"]),
        (&"main<a-b".into(), &4.into())
    );
    let top = json(&["top", "run.tprof", "-n", "1", "--json"]);
    assert_eq!(top["callpaths"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&top["callpaths"][0]["path"], &top["total_inclusive_ns"]),
        (&"main<a-b".into(), &750_000_000.into())
    );
    assert_eq!(top["callpaths"][0]["exclusive_ns"]["sum"], 330_000_001);
}

#[test]
fn a_check_lists_all_that_is_damaged() {
    let (scratch, _) = imported(WHOLE);
    assert_snapshot!(shown(&run(&["check", "run.tprof"], scratch.path())), @r"
    exit code 0
    --- stdout
    run.tprof: whole, 2 files with 6 sections
    --- stderr
    ");
    let part = scratch.path().join("run.tprof/part-00000");
    let mut bytes = fs::read(&part).expect("the part");
    // The first section follows the header and its frame.
    bytes[48] ^= 1;
    let last = bytes.len() - 5 * 24 - 1;
    bytes[last] ^= 1;
    fs::write(&part, bytes).expect("it is damaged");
    let output = run(&["check", "run.tprof"], scratch.path());
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        (output.status.code(), output.stderr.len(), text.lines().count()),
        (Some(3), 0, 3),
        "{text}"
    );
    assert!(
        text.starts_with("part-00000, offset 48, what the ranks say of themselves: "),
        "{text}"
    );
    let json = run(&["check", "run.tprof", "--json"], scratch.path());
    assert_eq!(json.status.code(), Some(3));
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(
        (&json["whole"], &json["files"][1]["damage"][0]["offset"]),
        (&false.into(), &48.into())
    );
}

#[test]
fn what_is_whole_of_a_damaged_profile_is_salvaged() {
    let (scratch, _) = imported(WHOLE);
    let salvage = |more: &[&str]| {
        run(
            &[&["check", "run.tprof", "--salvage", "-o", "saved"][..], more].concat(),
            scratch.path(),
        )
    };
    assert_snapshot!(shown(&salvage(&[])), @r"
    exit code 0
    --- stdout
    run.tprof: whole, 2 files with 6 sections
    saved.tprof: 2 ranks, 3 callpaths; nothing was lost
    --- stderr
    ");
    let part = scratch.path().join("run.tprof/part-00000");
    let mut bytes = fs::read(&part).expect("the part");
    let last = bytes.len() - 5 * 24 - 1;
    bytes[last] ^= 1;
    fs::write(&part, bytes).expect("it is damaged");
    assert_snapshot!(shown(&salvage(&[])), @r"
    exit code 3
    --- stdout
    part-00000, offset 168, the times of main<a-b: section 2 does not match its checksum
    run.tprof: damaged in 1 places, see above
    saved-1.tprof: 2 ranks, 3 callpaths; lost: 1 section of times, 131 bytes that cannot be read
    --- stderr
    ");
    fs::remove_file(scratch.path().join("run.tprof/manifest.json")).expect("it is removed");
    assert_snapshot!(shown(&salvage(&[])), @r"
    exit code 3
    --- stdout
    run.tprof has no manifest.json: its run ended before the profile was complete; tinyprof check --salvage reads what is there
    saved-2.tprof: 2 ranks, 3 callpaths; lost: the facts of the run, 1 section of times, 131 bytes that cannot be read
    --- stderr
    ");
    let json = salvage(&["--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(
        (&json["whole"], &json["salvaged"]["profile"]),
        (&false.into(), &"saved-3.tprof".into())
    );
    assert_eq!(json["salvaged"]["salvage"]["manifest_lost"], true);
    assert_snapshot!(shown(&run(&["check", "saved-2.tprof"], scratch.path())), @r"
    exit code 0
    --- stdout
    saved-2.tprof: whole, 2 files with 5 sections
    --- stderr
    ");
    let report = run(&["report", "saved-2.tprof", "--width", "100"], scratch.path());
    let report = String::from_utf8_lossy(&report.stdout);
    assert!(
        report.contains("note: incomplete: it was salvaged from a damaged profile"),
        "{report}"
    );
}

#[test]
fn a_profile_that_needs_more_memory_is_refused() {
    let (scratch, _) = imported(WHOLE);
    let refused = run(&["report", "run.tprof", "--memory", "64B"], scratch.path());
    let error = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{error}");
    assert!(error.contains("too large for a reader that may use 64 bytes"), "{error}");
    assert!(run(&["report", "run.tprof", "--memory", "2GiB"], scratch.path()).status.success());
}

#[test]
fn a_profile_that_is_too_large_is_not_called_damaged_by_any_command() {
    let (scratch, _) = imported(WHOLE);
    let commands: [&[&str]; 9] = [
        &["check", "run.tprof"],
        &["check", "run.tprof", "--json"],
        &["check", "run.tprof", "--salvage", "-o", "salvaged"],
        &["report", "run.tprof"],
        &["tree", "run.tprof"],
        &["top", "run.tprof"],
        &["diff", "run.tprof", "run.tprof"],
        &["html", "run.tprof", "-o", "page.html"],
        &["export", "run.tprof", "--to", "folded"],
    ];
    for command in commands {
        // Enough for the manifest, but not for the rest.
        let output = run(&[command, &["--memory", "5000B"]].concat(), scratch.path());
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {error}");
        assert!(
            error.contains("too large for a reader") && error.contains("--memory"),
            "{command:?}: {error}"
        );
        assert!(
            output.stdout.is_empty(),
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

#[test]
fn the_help_of_each_command_tells_its_exit_codes() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    for command in [
        "report",
        "tree",
        "top",
        "diff",
        "info",
        "check",
        "export",
        "import",
        "recover",
        "completions",
        "man",
    ] {
        let output = run(&[command, "--help"], scratch.path());
        let help = String::from_utf8_lossy(&output.stdout);
        let codes = "  2  wrong arguments: nothing was done\n  3  done, but the input is damaged";
        assert!(help.contains("Exit codes:") && help.contains(codes), "{help}");
    }
}
