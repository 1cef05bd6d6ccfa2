//! `tinyprof rules`, and the rules that reports apply: built-in ones, and those of users.

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use tinyprof_report::escaped;
use tinyprof_rules::{FACTS, Rules};

use crate::arguments::{RulesArguments, RulesCommand};
use crate::outcome::Outcome;
use crate::render;

/// The most bytes of a file of rules that are read.
const BYTES_MAX: u64 = 1 << 20;

pub(crate) fn run(arguments: &RulesArguments) -> Result<Outcome, Box<dyn Error>> {
    match &arguments.command {
        RulesCommand::Check { files } => check(files),
        RulesCommand::List { facts: true } => list_facts().map(Outcome::done),
        RulesCommand::List { facts: false } => list().map(Outcome::done),
    }
}

/// Returns the rules: those of these files first, then those in the user's directory, then built-in
/// ones. What is wrong with any is a line in the notes.
pub(crate) fn load(files: &[PathBuf]) -> (Rules, Vec<String>) {
    let (mut rules, mut notes) = (Rules::built_in(), Vec::new());
    // The last one added is asked first.
    for file in of_user().iter().chain(files) {
        let name = file.display().to_string();
        let problems = match text_of(file) {
            Ok(text) => rules.add(&text, &name),
            Err(error) => {
                notes.push(format!("rules are left out: {error}"));
                continue;
            }
        };
        if let [first, rest @ ..] = problems.as_slice() {
            let more =
                if rest.is_empty() { String::new() } else { format!(" ({} more)", rest.len()) };
            notes.push(format!("rules are left out: {first}{more}; see tinyprof rules check"));
        }
    }
    (rules, notes)
}

/// Returns the files of rules in the user's directory, sorted by name.
fn of_user() -> Vec<PathBuf> {
    let Some(directory) = directory(env::var_os("XDG_CONFIG_HOME"), env::var_os("HOME")) else {
        return Vec::new();
    };
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

fn directory(config: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // As the specification says: a relative path is ignored.
    let config = config.map(PathBuf::from).filter(|path| path.is_absolute());
    let home = home.map(PathBuf::from).filter(|path| path.is_absolute());
    Some(config.or_else(|| Some(home?.join(".config")))?.join("tinyprof/rules"))
}

fn text_of(file: &Path) -> Result<String, String> {
    let with_name = |what: String| format!("{}: {what}", file.display());
    let facts = fs::metadata(file).map_err(|error| with_name(error.to_string()))?;
    if !facts.is_file() {
        return Err(with_name("is no file".to_owned()));
    }
    if facts.len() > BYTES_MAX {
        return Err(with_name(format!("is larger than {BYTES_MAX} bytes")));
    }
    fs::read_to_string(file).map_err(|error| with_name(error.to_string()))
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
    let own = of_user();
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
        let line = format!("{:<24} {:<8} {}", rule.name(), rule.scope().word(), rule.origin());
        let source = if rule.source().is_empty() { "" } else { ": " };
        text.push_str(&escaped(&format!("{line}{source}{}", rule.source())));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_rules_is_that_of_the_specification() {
        let check = |config: Option<&str>, home: Option<&str>, expected: Option<&str>| {
            let found = directory(config.map(OsString::from), home.map(OsString::from));
            assert_eq!(found, expected.map(PathBuf::from));
        };
        check(Some("/c"), Some("/h"), Some("/c/tinyprof/rules"));
        check(Some(""), Some("/h"), Some("/h/.config/tinyprof/rules"));
        check(Some("relative"), Some("/h"), Some("/h/.config/tinyprof/rules"));
        check(None, None, None);
    }
}
