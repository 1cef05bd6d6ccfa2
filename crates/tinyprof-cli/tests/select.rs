//! `--rank` and `--path` as users see them.

use std::path::Path;
use std::process::Command;

use tinyprof_format::file::{Permissions, save_profile};
use tinyprof_format::text::read_text;

const TEXT: &str = "id,parent,tag,is_loop,times\n\
    main,null,null,0,0.5|0.25|0.125\n\
    main<a,main,null,0,0.1|0.2|0.1\n\
    main<a<x,main<a,null,0,0.05|0.1|0.05\n\
    main<b,main,null,0,0.01|0.02|\n";

fn scratch() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let profile = read_text(TEXT.as_bytes()).expect("it is read").profile;
    save_profile(Permissions::Private, &scratch.path().join("run"), &profile)
        .expect("it is written");
    scratch
}

/// Returns exit code, standard output and standard error.
fn run(arguments: &[&str], directory: &Path) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tinyprof"))
        .args(arguments)
        .current_dir(directory)
        .output();
    let output = output.expect("tinyprof starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn json(arguments: &[&str], directory: &Path) -> serde_json::Value {
    let (code, output, message) = run(arguments, directory);
    assert_eq!((code, message.as_str()), (Some(0), ""));
    serde_json::from_str(&output).expect("JSON")
}

#[test]
fn only_the_ranks_that_are_named_count_and_they_keep_their_numbers() {
    let scratch = scratch();
    let report = json(&["report", "run.tprof", "--json", "--rank", "0,2"], scratch.path());
    assert_eq!((&report["ranks"], &report["total_inclusive_ns"]), (&2.into(), &625_000_000.into()));
    let main = &report["callpaths"][0];
    assert_eq!((&main["inclusive_ns"]["max_rank"], &main["visits"]), (&0.into(), &2.into()));
    let last = json(&["top", "run.tprof", "--json", "--rank", "2"], scratch.path());
    let paths: Vec<_> =
        last["callpaths"].as_array().expect("a list").iter().map(|c| c["path"].clone()).collect();
    assert_eq!(paths.len(), 3, "rank 2 never visited main<b: {paths:?}");
    assert_eq!(last["callpaths"][0]["inclusive_ns"]["max_rank"], 2);
}

#[test]
fn rows_are_callpaths_or_regions() {
    let scratch = scratch();
    let by =
        |command: &str| json(&[command, "run.tprof", "--json", "--by", "region"], scratch.path());
    for regions in [by("report"), by("top")] {
        let names =
            regions["regions"].as_array().expect("a list").iter().map(|r| r["name"].clone());
        let mut names: Vec<_> =
            names.map(|name| name.as_str().expect("a name").to_owned()).collect();
        names.sort();
        assert_eq!(names, ["a", "b", "main", "x"]);
    }
    let (code, _, message) = run(&["top", ".", "--by", "region"], scratch.path());
    assert_eq!(code, Some(1));
    assert!(message.contains("--by"), "{message}");
}

#[test]
fn a_path_selects_what_is_below_it_and_keeps_its_name() {
    let scratch = scratch();
    let tree = json(&["tree", "run.tprof", "--json", "--path", "main<a"], scratch.path());
    let paths: Vec<_> =
        tree["callpaths"].as_array().expect("a list").iter().map(|c| c["path"].clone()).collect();
    assert_eq!(paths, ["main<a", "main<a<x"]);
    let report = json(
        &["report", "run.tprof", "--json", "--path", "main<a", "--rank", "1-2"],
        scratch.path(),
    );
    assert_eq!(report["total_inclusive_ns"], 300_000_000);
    assert_eq!(report["callpaths"][0]["exclusive_ns"]["sum"], 150_000_000);
}

#[test]
fn a_path_reads_its_own_callpaths_alone() {
    let scratch = scratch();
    let part = scratch.path().join("run.tprof/part-00000");
    let mut bytes = std::fs::read(&part).expect("the part");
    // The index follows the last section, that of the deepest callpath, main<a<x.
    let footer = bytes.len() - 24;
    let index_at = u64::from_le_bytes(bytes[footer..footer + 8].try_into().expect("eight bytes"));
    bytes[usize::try_from(index_at).expect("a small file") - 1] ^= 1;
    std::fs::write(&part, &bytes).expect("it is damaged");
    for command in ["report", "tree", "top"] {
        let code = |path: &[&str]| run(&[&[command, "run.tprof"], path].concat(), scratch.path()).0;
        assert_eq!(code(&["--path", "main<b"]), Some(0), "{command} reads nothing of the damage");
        assert_eq!((code(&["--path", "main<a"]), code(&[])), (Some(1), Some(1)), "{command}");
    }
    let export = ["export", "run.tprof", "--to", "hatchet", "--path", "main<b"];
    assert_eq!(run(&export, scratch.path()).0, Some(0));
}

#[test]
fn what_is_not_there_is_said() {
    let scratch = scratch();
    for (arguments, code, expected) in [
        (["--rank", "3"], 1, "there is no rank 3: the profile has 3 ranks"),
        (["--rank", "2-1"], 2, "expected the lower number first"),
        (["--path", "main<c"], 1, "there is no callpath"),
        (["--path", "main<"], 1, "there is no callpath"),
        (["--path", "<main"], 1, "there is no callpath"),
        (["--path", "ain"], 1, "there is no callpath"),
    ] {
        let (found, _, message) =
            run(&[&["tree", "run.tprof"], &arguments[..]].concat(), scratch.path());
        assert!(found == Some(code) && message.contains(expected), "{arguments:?}: {message}");
    }
}

#[test]
fn a_path_has_slashes_or_is_the_end_of_one() {
    let scratch = scratch();
    let root = |path: &str| {
        let tree = json(&["tree", "run.tprof", "--json", "--path", path], scratch.path());
        tree["callpaths"][0]["path"].clone()
    };
    assert_eq!(root("main/a/x"), "main<a<x");
    assert_eq!(root("a<x"), "main<a<x");
    assert_eq!(root("a/x"), "main<a<x");
    assert_eq!(root("b"), "main<b");
}

#[test]
fn a_path_that_is_not_one_callpath_suggests_some() {
    let text = "id,parent,tag,is_loop,times\nmain,null,null,0,1.0\nmain<solve,main,null,0,0.5\n\
        main<solve<gather,main<solve,null,0,0.1\nmain<gather,main,null,0,0.1\n";
    let profile = read_text(text.as_bytes()).expect("it is read").profile;
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let target = scratch.path().join("run");
    save_profile(Permissions::Private, &target, &profile).expect("it is written");
    let message = |path: &str| {
        let (code, _, message) = run(&["report", "run.tprof", "--path", path], scratch.path());
        assert_eq!(code, Some(1), "{message}");
        message
    };
    let several = message("gather");
    assert!(several.contains("2 callpaths end with gather"), "{several}");
    assert!(several.contains("main<gather, main<solve<gather"), "{several}");
    let mistyped = message("main/slove");
    assert!(mistyped.contains("did you mean main<solve?"), "{mistyped}");
    assert!(!message("xyz").contains("did you mean"), "nothing is like that");
}

#[test]
fn a_profile_is_found_without_its_ending_and_reported_without_a_command() {
    let scratch = scratch();
    let (code, with_command, _) = run(&["report", "run"], scratch.path());
    assert_eq!(code, Some(0));
    let (code, without, _) = run(&["run.tprof/"], scratch.path());
    assert_eq!((code, without.as_str()), (Some(0), with_command.as_str()));
    let (code, _, message) = run(&["report", "fast"], scratch.path());
    assert_eq!(code, Some(1));
    assert!(message.contains("there is no fast"), "{message}");
    let (code, _, _) = run(&["run"], scratch.path());
    assert_eq!(code, Some(2), "a command keeps its name");
}
