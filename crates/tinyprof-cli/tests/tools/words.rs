//! One vocabulary on all screens, that of docs/glossary.md, and one convention for ranks that never
//! run a callpath.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{done, json, run, scratch, write};

/// Phrases that the glossary has a term for.
const WRONG: [&str; 8] = [
    "itself ",
    "with calls",
    "what it calls",
    "on the mean rank",
    "a visit ",
    "children",
    "own cost",
    "self time",
];

fn assert_words(text: &str, of: &str) {
    for wrong in WRONG {
        assert!(!text.contains(wrong), "{of} says {wrong:?}:\n{text}");
    }
    // As in "3 ms a rank", and not in "a value is a rank".
    let is_unit = |before: &str| {
        before
            .split_whitespace()
            .rev()
            .take(2)
            .any(|word| word.starts_with(|c: char| c.is_numeric()))
    };
    let of_rank = text.match_indices(" a rank").find(|(at, _)| is_unit(&text[..*at]));
    assert_eq!(of_rank, None, "{of} says \"a rank\":\n{text}");
}

/// Four ranks, of which two never run `main<rare`; a second run is slower.
fn runs(directory: &Path) {
    for (name, rare) in [("p", "0.4|0.2||"), ("q", "0.6|0.3||")] {
        let rows = [("main", "1.0|1.1|1.0|1.2"), ("main<rare", rare), ("main<even", "0|0|0.4|0.2")];
        write(directory, name, &rows);
    }
}

#[test]
fn every_screen_uses_the_words_of_the_glossary() {
    let scratch = scratch();
    runs(scratch.path());
    let golden = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tinyprof-format/tests/profiles/format-1.1-edges");
    let golden = golden.to_str().expect("a path of text");
    for profile in ["p.tprof", golden] {
        for command in [
            &["report"][..],
            &["report", "--metric", "exclusive"],
            &["report", "--by", "region"],
            &["top"],
            &["top", "--metric", "inclusive"],
            &["tree"],
            &["mpi"],
            &["waits"],
        ] {
            let arguments = [command, &[profile, "--width", "200"]].concat();
            let ran = run(&arguments, scratch.path());
            // The small profile has no messages.
            let code = i32::from(command[0] == "waits" && profile != golden);
            assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.stderr);
            assert_words(&ran.stdout, command[0]);
        }
    }
    let diff = run(&["diff", "p.tprof", "q.tprof"], scratch.path()).stdout;
    assert_words(&diff, "diff");
    let report = done(&["report", "p.tprof"], scratch.path());
    for word in ["inclusive", "exclusive", " per rank"] {
        assert!(report.contains(word), "{word} is not in\n{report}");
    }
    let glossary = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/glossary.md");
    let glossary = fs::read_to_string(glossary).expect("it is read");
    for term in ["inclusive", "exclusive", "per rank", "callee", "overhead"] {
        assert!(glossary.contains(&format!("| {term} |")), "{term} is not in the glossary");
    }
}

#[test]
fn ranks_that_never_run_a_callpath_are_counted_wherever_its_mean_is() {
    let scratch = scratch();
    runs(scratch.path());
    let report = done(&["report", "p.tprof", "--width", "200"], scratch.path());
    let rare = report.lines().find(|line| line.contains("rare")).expect("it is there");
    let cells: Vec<&str> = rare.split_whitespace().collect();
    // The mean of a report is over the ranks that run it.
    assert!(cells.contains(&"2/4") && cells.contains(&"300ms"), "{rare}");
    let csv = done(&["report", "p.tprof", "--format", "csv"], scratch.path());
    let rare = csv.lines().find(|line| line.contains("main<rare")).expect("it is there");
    assert!(rare.contains(",rare,1,2,2,600000000,,200000000,300000000,"), "{rare}");
    let tree = done(&["tree", "p.tprof", "--format", "csv"], scratch.path());
    assert!(tree.contains("\"main<rare\",rare,1,2,2\n"), "{tree}");
    // That of a comparison is over all ranks, and it says so.
    let diff = run(&["diff", "p.tprof", "q.tprof"], scratch.path()).stdout;
    assert!(
        diff.contains(
            "note: ranks that never run a callpath count as 0 there: 1 callpath, such as main<rare, which 2 of 4"
        ),
        "{diff}"
    );
    let rows = json(&["diff", "p.tprof", "q.tprof", "--json"], scratch.path());
    let rows = rows["callpaths"].as_array().expect("a list");
    let rare = rows.iter().find(|row| row["name"] == "rare").expect("it is there");
    assert_eq!(rare["base"]["mean"], Value::from(150_000_000.0));
    let same = run(&["diff", "p.tprof", "p.tprof", "--path", "main/even"], scratch.path()).stdout;
    assert!(!same.contains("never run"), "{same}");
}
