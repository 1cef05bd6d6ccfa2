//! `tinyprof html`: the file that it writes, and the things it must never do. The tests in
//! `web/tests` cover the page in a browser.

mod support;

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::DeflateDecoder;
use tinyprof_format::file::ProfileWriter;
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, Mode, RankFacts, Region, RegionKind,
    RunMetadata, SiteId,
};

use support::{run, shown};

const HOSTILE: &str = "</script><script>alert(1)</script>";

/// Writes a run of `ranks` ranks with one region, whose name tries to break out of the page's data.
fn written(scratch: &Path, name: &str, ranks: u64) {
    let site = SiteId::from_bits(1);
    let region = Region {
        site,
        name: HOSTILE.into(),
        module: HOSTILE.into(),
        file: HOSTILE.into(),
        line: 1,
        column: 1,
        kind: RegionKind::Function,
        mode: Mode::Total,
        rank_local: false,
        constants: [].into(),
    };
    let rank = |rank| {
        let executions = vec![ExecutionSummary::of_one_visit(0, 1_000_000 + rank)];
        let values = CallpathValues { executions, ..CallpathValues::default() };
        let facts = RankFacts { host: HOSTILE.into(), ..RankFacts::default() };
        EventMap::from_records([(CallpathId::root(site), None, region.clone(), values)], facts)
    };
    let maps: Vec<EventMap> = (0..ranks).map(rank).collect();
    let metadata = RunMetadata { executable: HOSTILE.into(), ..RunMetadata::default() };
    ProfileWriter::new()
        .with_ranks_per_part(4)
        .with_metadata(metadata)
        .write(&scratch.join(name), &maps)
        .expect("it is written");
}

fn page(scratch: &Path, arguments: &[&str]) -> String {
    let output = run(arguments, scratch);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    String::from_utf8(output.stdout).expect("a page is text")
}

#[test]
fn a_page_is_whole_and_names_nothing_of_the_profile() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    written(scratch.path(), "run", 3);
    let page = page(scratch.path(), &["html", "run.tprof", "-o", "-"]);
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(!page.contains("alert(1)"), "a name is text of the page");
    assert!(page.contains("default-src 'none'; script-src 'sha256-") && !page.contains("unsafe-"));
    assert_eq!(page.matches("class=\"profile\"").count(), 1);
    assert!(!page.contains("class=\"comparison\""));
}

#[test]
fn two_profiles_and_what_became_of_them_are_in_one_page() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    written(scratch.path(), "before", 2);
    written(scratch.path(), "after", 3);
    let page = page(scratch.path(), &["html", "before.tprof", "after.tprof", "-o", "-"]);
    assert_eq!(page.matches("class=\"profile\"").count(), 2);
    assert_eq!(page.matches("class=\"comparison\"").count(), 1);
}

#[test]
fn several_runs_of_both_sides_are_compared_in_one_page() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    for name in ["a", "b", "c"] {
        written(scratch.path(), name, 2);
    }
    let sides = ["html", "--base", "a.tprof", "b.tprof", "--new", "c.tprof", "-o", "-"];
    let several = page(scratch.path(), &sides);
    // The first run of each side has its data in the page, the others count in the comparison.
    assert_eq!(several.matches("class=\"profile\"").count(), 2);
    assert_eq!(several.matches("class=\"comparison\"").count(), 1);
    assert_ne!(several, page(scratch.path(), &["html", "a.tprof", "c.tprof", "-o", "-"]));
    for wrong in [
        &["html", "--base", "a.tprof", "-o", "d.html"][..],
        &["html", "c.tprof", "--base", "a.tprof", "--new", "b.tprof", "-o", "d.html"],
    ] {
        assert_eq!(run(wrong, scratch.path()).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn equal_profiles_give_equal_pages_and_selected_ranks_another() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    written(scratch.path(), "run", 3);
    let whole = page(scratch.path(), &["html", "run.tprof", "-o", "-"]);
    assert_eq!(whole, page(scratch.path(), &["html", "run.tprof", "-o", "-"]));
    assert_ne!(whole, page(scratch.path(), &["html", "run.tprof", "--rank", "1", "-o", "-"]));
    let output = run(&["html", "run.tprof", "--rank", "7", "-o", "report.html"], scratch.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(shown(&output).contains("there is no rank 7"), "{}", shown(&output));
    assert!(!scratch.path().join("report.html").exists());
}

/// Returns the data of the page's first profile.
fn data(page: &str) -> Vec<u8> {
    let (_, base64) = page.split_once("class=\"profile\">").expect("it has a profile");
    let (base64, _) = base64.split_once('<').expect("the element ends");
    let deflated = STANDARD.decode(base64).expect("base64");
    let mut data = Vec::new();
    DeflateDecoder::new(deflated.as_slice()).read_to_end(&mut data).expect("deflated data");
    data
}

#[test]
fn what_rules_find_is_in_the_page() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    written(scratch.path(), "run", 3);
    let rule = "[[rule]]\nname = 'of_ours'\nfor = 'run'\nwhen = 'run.ranks == 3.0'\n\
                seconds = 'run.seconds'\ntext = 'found by our rule'\nadvice = 'take four'\n";
    fs::write(scratch.path().join("our.toml"), rule).expect("a file");
    let has = |arguments: &[&str]| {
        let page = data(&page(scratch.path(), arguments));
        page.windows(17).any(|part| part == b"found by our rule")
    };
    let arguments = ["html", "run.tprof", "-o", "-", "--rules", "our.toml"];
    assert!(has(&arguments) && !has(&arguments[..4]));
}

#[test]
fn a_file_that_exists_is_left_as_it_is() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    written(scratch.path(), "run", 1);
    let file = scratch.path().join("report.html");
    page(scratch.path(), &["html", "run.tprof", "-o", "report.html"]);
    assert!(fs::metadata(&file).expect("the page").len() > 100_000);
    fs::write(&file, "somebody's").expect("it is changed");
    let output = run(&["html", "run.tprof", "-o", "report.html"], scratch.path());
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(shown(&output).contains("report.html exists already"), "{}", shown(&output));
    assert_eq!(fs::read(&file).expect("it is there"), b"somebody's");
}

#[test]
fn a_page_is_named_like_its_profile_and_overwritten_by_force() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    written(scratch.path(), "run", 1);
    written(scratch.path(), "other", 1);
    let file = scratch.path().join("run.html");
    let made = run(&["html", "run"], scratch.path());
    assert!(made.status.success() && shown(&made).contains("wrote run.html"), "{}", shown(&made));
    fs::write(&file, "an old page").expect("it is changed");
    let again = run(&["html", "run"], scratch.path());
    assert_eq!(again.status.code(), Some(1));
    assert!(shown(&again).contains("--force overwrites a page"), "{}", shown(&again));
    assert!(run(&["html", "run", "--force"], scratch.path()).status.success());
    assert!(fs::metadata(&file).expect("the page").len() > 100_000);
    assert!(run(&["html", "run", "other"], scratch.path()).status.success());
    assert!(scratch.path().join("run-other.html").exists());
}

#[test]
fn a_page_without_a_browser_is_written_all_the_same() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    written(scratch.path(), "run", 1);
    let output = Command::new(env!("CARGO_BIN_EXE_tinyprof"))
        .args(["html", "run.tprof", "--open"])
        .current_dir(scratch.path())
        .env("PATH", "")
        .output()
        .expect("tinyprof starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(shown(&output).contains("run.html in a browser"), "{}", shown(&output));
    assert!(scratch.path().join("run.html").exists());
}

#[test]
fn a_profile_that_cannot_be_read_and_arguments_that_are_missing_are_told() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let output = run(&["html", "nowhere.tprof", "-o", "report.html"], scratch.path());
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    assert!(!scratch.path().join("report.html").exists());
    for wrong in [&["html"][..], &["html", "a", "b", "c", "-o", "d"]] {
        assert_eq!(run(wrong, scratch.path()).status.code(), Some(2), "{wrong:?}");
    }
}
