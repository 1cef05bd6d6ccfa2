//! Test of the smallest part that needs no MPI: measured, resumed, and put into a page that has all
//! places.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn evaluation(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_evaluation"))
        .args(arguments)
        .output()
        .expect("the program can be started")
}

fn measure(results: &Path, more: &[&str]) -> String {
    let results = results.to_str().expect("the directory has a plain name");
    let fixed =
        ["run", "--results", results, "--parts", "formats", "--repetitions", "2", "--small"];
    let output = evaluation(&[&fixed[..], more].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

#[test]
fn a_part_is_measured_once_for_each_commit_and_shown_on_the_page() {
    let scratch = tempfile::tempdir().unwrap();
    let results = scratch.path().join("results");
    let said = measure(&results, &["--commit", "abc"]);
    assert!(said.contains("part 1 of 1, formats; 0 s passed"), "{said}");
    let file = results.join("formats.jsonl");
    let first = fs::read(&file).unwrap();
    let said = measure(&results, &["--commit", "abc"]);
    assert!(
        said.contains("1 of 1 parts are there already") && !said.contains("part 1 of 1"),
        "{said}"
    );
    assert_eq!(fs::read(&file).unwrap(), first);
    assert!(measure(&results, &["--commit", "abd"]).contains("part 1 of 1, formats"));
    assert!(measure(&results, &["--commit", "abd", "--fresh"]).contains("part 1 of 1, formats"));

    let (page, plots) = (scratch.path().join("evaluation.md"), scratch.path().join("evaluation"));
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evaluation.md"), &page)
        .unwrap();
    let simulated =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../collective/results/simgrid.jsonl");
    let output = evaluation(&[
        "page",
        "--results",
        results.to_str().unwrap(),
        "--simulated",
        simulated.to_str().unwrap(),
        "--page",
        page.to_str().unwrap(),
        "--plots",
        plots.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("| made up, 16 ranks | 624 | JSON |"), "{text}");
    assert!(text.contains("commit abd") && text.contains("not measured"), "{text}");
    assert!(fs::read_to_string(plots.join("figure9-size.svg")).unwrap().contains("JSON"));
}

#[test]
fn a_program_that_cannot_be_started_is_an_error_that_names_it() {
    let scratch = tempfile::tempdir().unwrap();
    let results = scratch.path().to_str().unwrap();
    let output = evaluation(&[
        "run",
        "--results",
        results,
        "--parts",
        "tc",
        "--commit",
        "a",
        "--mpiexec",
        "./absent",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("cannot start") && said.contains("./absent"), "{said}");
    assert!(!scratch.path().join("tc.jsonl").exists());
}
