//! Sets of rules: the built-in ones, and those of users before them.

use crate::case::Case;
use crate::parse::{Problem, parse};
use crate::rule::Rule;

/// The built-in rules that the command applies.
const BUILT_IN: &str = include_str!("rules.toml");

/// The built-in rules of hints, which are applied where reports are made, translated to Rust.
pub(crate) const HINTS: &str = include_str!("hints.toml");

/// Rules in the order in which they are asked.
#[derive(Debug, Default)]
pub struct Rules {
    pub(crate) all: Vec<Rule>,
    /// The names of built-in hints that rules of users replace.
    pub(crate) replaced: Vec<String>,
}

impl Rules {
    /// Returns the built-in rules.
    #[must_use]
    pub fn built_in() -> Self {
        let mut rules = Self::default();
        let problems = rules.add(BUILT_IN, "built-in");
        debug_assert!(problems.is_empty(), "the tests check them: {problems:?}");
        let (hints, problems) = parse(HINTS, "built-in", true);
        debug_assert!(problems.is_empty(), "the tests check them: {problems:?}");
        rules.all.extend(hints);
        for rule in &mut rules.all {
            rule.is_built_in = true;
            "built-in".clone_into(&mut rule.origin);
        }
        rules
    }

    /// Puts the rules of a file with this name before the others. Returns what is wrong with those
    /// that cannot be used: the others are added all the same.
    pub fn add(&mut self, toml: &str, file: &str) -> Vec<Problem> {
        let (parsed, mut problems) = parse(toml, file, false);
        let mut rules: Vec<Rule> = Vec::new();
        for rule in parsed {
            let own = self.all.iter().filter(|known| !known.is_built_in);
            if own.chain(&rules).any(|known| known.name == rule.name) {
                let line = rule.origin.rsplit(':').next().and_then(|line| line.parse().ok());
                let text = format!("rule {} is there already: give it another name", rule.name);
                problems.push(Problem { file: file.to_owned(), line, text });
            } else {
                rules.push(rule);
            }
        }
        // A user's rule takes the place of a built-in one of its name.
        let (kept, replaced): (Vec<Rule>, Vec<Rule>) = std::mem::take(&mut self.all)
            .into_iter()
            .partition(|known| !rules.iter().any(|rule| rule.name == known.name));
        self.replaced
            .extend(replaced.into_iter().filter(|rule| rule.is_hint).map(|rule| rule.name));
        self.all = kept;
        rules.append(&mut self.all);
        self.all = rules;
        problems
    }

    /// Returns the rules, in the order in which they are asked.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.all.iter()
    }

    /// Returns what is wrong with the test cases of the rules.
    #[must_use]
    pub fn check_cases(&self) -> Vec<String> {
        let of_rule = |rule: &Rule| -> Vec<String> {
            let cases = (1..).zip(&rule.cases);
            cases
                .filter_map(|(number, case)| {
                    let complaint = complaint(case, rule)?;
                    let (origin, name) = (&rule.origin, &rule.name);
                    Some(format!("{origin}: rule {name}: case {number}: {complaint}"))
                })
                .collect()
        };
        self.all.iter().flat_map(of_rule).collect()
    }
}

/// Returns what is wrong with a rule, if it does not hold as the case says.
fn complaint(case: &Case, rule: &Rule) -> Option<String> {
    match rule.holds(&case.run, &case.subject) {
        Ok(found) if found == case.holds => None,
        Ok(_) if case.holds => Some("does not hold where its case says holds = true".into()),
        Ok(_) => Some("holds where its case says holds = false".into()),
        Err(error) => Some(error),
    }
}
