//! `tinyprof rules`: checks rules, and lists those that reports apply.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;

use tinyprof_report::escaped;
use tinyprof_rules::{FACTS, Rules, files_of_user, load, text_of};

use crate::arguments::{RulesArguments, RulesCommand};
use crate::outcome::Outcome;
use crate::render;

pub(crate) fn run(arguments: &RulesArguments) -> Result<Outcome, Box<dyn Error>> {
    match &arguments.command {
        RulesCommand::Check { files } => check(files),
        RulesCommand::List { facts: true } => list_facts().map(Outcome::done),
        RulesCommand::List { facts: false } => list().map(Outcome::done),
    }
}

/// Checks files, each by itself, or those in the user's directory and the built-in rules.
fn check(files: &[PathBuf]) -> Result<Outcome, Box<dyn Error>> {
    let (mut text, mut is_right) = (String::new(), true);
    let mut add = |name: &str, rules: &Rules, mut problems: Vec<String>| {
        problems.extend(rules.check_cases());
        is_right &= problems.is_empty();
        let cases: usize = rules.iter().map(tinyprof_rules::Rule::cases).sum();
        let verdict = match problems.len() {
            0 => "right".to_owned(),
            count => format!("{count} wrong"),
        };
        for problem in problems {
            text.push_str(&escaped(&problem));
            text.push('\n');
        }
        let count = rules.iter().count();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {count} rules, {cases} cases: {verdict}", escaped(name));
    };
    let own = files_of_user();
    if files.is_empty() {
        add("built-in", &Rules::built_in(), Vec::new());
    }
    for file in if files.is_empty() { &own } else { files } {
        let name = file.display().to_string();
        let mut rules = Rules::default();
        let problems = match text_of(file) {
            Ok(toml) => rules.add(&toml, &name).iter().map(ToString::to_string).collect(),
            Err(error) => vec![error],
        };
        add(&name, &rules, problems);
    }
    render::output(&text)?;
    Ok(if is_right { Outcome::Done } else { Outcome::Damaged })
}

fn list() -> Result<(), Box<dyn Error>> {
    let (rules, notes) = load(&[]);
    let mut text = String::new();
    for rule in rules.iter() {
        let name = format!("{:<24} {:<8} {}", rule.name(), rule.scope().word(), rule.origin());
        let formula = rule.formula().split_whitespace().collect::<Vec<_>>().join(" ");
        let source = (!rule.source().is_empty()).then(|| format!("source: {}", rule.source()));
        text.push_str(&escaped(&name));
        for line in [Some(formula), source].into_iter().flatten() {
            text.push_str("\n    ");
            text.push_str(&escaped(&line));
        }
        text.push('\n');
    }
    render::notes(&notes);
    render::output(&text)
}

fn list_facts() -> Result<(), Box<dyn Error>> {
    let line = |fact: &tinyprof_rules::Fact| {
        format!("{:<28} {:<7} {}\n", fact.to_string(), fact.unit, fact.meaning)
    };
    render::output(&FACTS.iter().map(line).collect::<String>())
}
