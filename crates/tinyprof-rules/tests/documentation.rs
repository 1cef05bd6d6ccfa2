//! docs/rules.md says what the program does.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use tinyprof_rules::{FACTS, Rules};
use tinyprof_why::Kind;

fn path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md")
}

fn documentation() -> String {
    fs::read_to_string(path()).expect("it is there")
}

/// Returns the lines of the blocks of TOML, without their indentation.
fn blocks(text: &str) -> Vec<String> {
    let (mut blocks, mut inside): (Vec<String>, bool) = (Vec::new(), false);
    for line in text.lines().map(str::trim) {
        if line == "```toml" {
            blocks.push(String::new());
            inside = true;
        } else if line == "```" {
            inside = false;
        } else if inside && let Some(block) = blocks.last_mut() {
            block.push_str(line);
            block.push('\n');
        }
    }
    blocks
}

#[test]
fn the_table_of_facts_is_that_of_the_program() {
    let mut table = String::from("| fact | unit | meaning |\n|---|---|---|\n");
    for fact in FACTS {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `{fact}` | {} | {} |", fact.unit, fact.meaning);
    }
    let text = documentation();
    let start = text.find("| fact | unit").expect("it has the table");
    let length = text[start..].find("\n\n").expect("a text follows") + 1;
    if env::var_os("TINYPROF_UPDATE_DOCS").is_some() {
        let (before, after) = (&text[..start], &text[start + length..]);
        fs::write(path(), format!("{before}{table}{after}")).expect("it can be written");
        return;
    }
    assert_eq!(&text[start..start + length], table, "TINYPROF_UPDATE_DOCS=1 writes it");
}

#[test]
fn the_rules_of_the_tutorial_are_right() {
    let blocks = blocks(&documentation());
    let [rule, cases, advice] = blocks.as_slice() else { panic!("{blocks:#?}") };
    let mut rules = Rules::default();
    let file = format!("{rule}{cases}");
    assert_eq!(rules.add(&file, "site.toml"), []);
    assert_eq!(rules.add(advice, "advice.toml"), []);
    assert_eq!(rules.check_cases(), [""; 0]);
    assert_eq!(rules.iter().map(tinyprof_rules::Rule::cases).sum::<usize>(), 2);
    let problems =
        Rules::default().add(&rule.replace("call.visits >=", "call.visit >="), "site.toml");
    let text = problems.iter().map(ToString::to_string).collect::<String>();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&documentation()).contains(&words(&text)), "{text}");
}

#[test]
fn built_in_rules_are_right_and_have_cases_and_sources() {
    let rules = Rules::built_in();
    assert_eq!(rules.check_cases(), [""; 0]);
    let text = documentation();
    for rule in rules.iter() {
        let name = rule.name();
        assert!(rule.cases() >= 3, "{name}: cases that hold, and cases that do not");
        assert!(!rule.source().is_empty(), "{name}: a source");
        assert!(text.contains(&format!("rule `{name}`")), "{name}: the table of patterns has it");
    }
    let patterns = text.split("## Patterns").nth(1).expect("the table of patterns");
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::OfRule) {
        let word = kind.word();
        assert!(patterns.contains(&format!("`{word}`")), "{word}: the table of patterns has it");
    }
}
