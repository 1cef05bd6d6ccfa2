//! What rules find in a run, and the advice that they give to its findings.

use tinyprof_report::{FindingKind, HINTS, Hint, Report, Totals, Values};
use tinyprof_why::{Finding, Why};

use crate::collect::{Subject, Subjects, of_finding};
use crate::facts::Scope;
use crate::rule::Rule;
use crate::rules::Rules;

impl Rules {
    /// Adds to the answer what the rules find, the costliest subject of each rule, and lets rules
    /// for findings give their advice. `totals` and `report` are those of the same profile, by
    /// callpath.
    ///
    /// Returns a line for each rule that went wrong; it is left out.
    pub fn apply(&self, why: &mut Why, totals: &Totals, report: &Report) -> Vec<String> {
        let mut notes = Vec::new();
        why.replace_hints(self.hints_replaced());
        let is_of_findings = |rule: &&Rule| rule.scope == Scope::Finding;
        let is_asked = |rule: &&Rule| !is_of_findings(rule) && !rule.is_hint;
        if self.all.iter().any(|rule| is_asked(&rule)) {
            let is_of_user = self.all.iter().any(|rule| !rule.is_built_in);
            let subjects = Subjects::of(totals, report, why, is_of_user);
            for rule in self.all.iter().filter(is_asked) {
                match found(rule, &subjects) {
                    Ok(Some(finding)) => add(why, rule, finding),
                    Ok(None) => {}
                    Err(error) => notes.push(note(rule, &error)),
                }
            }
        }
        let advised: Vec<&Rule> = self.all.iter().filter(is_of_findings).collect();
        if !advised.is_empty() {
            notes.extend(advise(&advised, why));
        }
        notes
    }
}

impl Rules {
    /// Returns the kinds of the hints that rules of users replace.
    fn hints_replaced(&self) -> impl Iterator<Item = FindingKind> {
        let is_replaced = |hint: &&Hint| self.replaced.iter().any(|name| name == hint.name);
        HINTS.iter().filter(is_replaced).map(|hint| hint.kind)
    }
}

fn note(rule: &Rule, error: &str) -> String {
    format!("rule {} is left out: {error} ({})", rule.name, rule.origin)
}

/// Returns the finding of a rule: that about its costliest subject.
fn found(rule: &Rule, subjects: &Subjects) -> Result<Option<Finding>, String> {
    let run = &subjects.run;
    let mut costliest: Option<(f64, &Subject)> = None;
    for subject in subjects.all.iter().filter(|subject| subject.scope == rule.scope) {
        if !rule.holds(run, &subject.values)? {
            continue;
        }
        let Some(gain) = rule.gain(run, &subject.values)? else { continue };
        if costliest.is_none_or(|(most, _)| gain > most) {
            costliest = Some((gain, subject));
        }
    }
    let (Some((gain, subject)), Some(text)) = (costliest, &rule.text) else { return Ok(None) };
    let sentence = text.text(run, rule.scope, &subject.values)?;
    let advice = rule.advice.text(run, rule.scope, &subject.values)?;
    let sentence = sentence.trim_end_matches('.').to_owned();
    let mut finding = Finding::of_rule(&rule.name, gain * 1e9, sentence, advice);
    finding.place.clone_from(&subject.place);
    finding.ranks = subject.rank.into_iter().collect();
    Ok(Some(finding))
}

/// Adds a finding. A built-in rule says nothing of a call for which a cause is known.
fn add(why: &mut Why, rule: &Rule, finding: Finding) {
    let at = finding.place.as_ref().map(|place| place.index);
    let is_told = why.findings().iter().filter(|known| !known.is_chance()).any(|known| {
        let places = [&known.place, &known.waits_at];
        at.is_some() && places.iter().any(|p| p.as_ref().map(|place| place.index) == at)
    });
    if !(rule.is_built_in && is_told) {
        why.add(finding);
    }
}

/// Gives each finding the advice of the first rule that holds for it.
fn advise(rules: &[&Rule], why: &mut Why) -> Vec<String> {
    let (mut notes, run) = (Vec::new(), Values::default());
    for number in 0..why.findings().len() {
        let values = of_finding(why, &why.findings()[number]);
        for rule in rules {
            let advice = rule.holds(&run, &values).and_then(|holds| {
                holds.then(|| rule.advice.text(&run, rule.scope, &values)).transpose()
            });
            match advice {
                Ok(Some(advice)) => {
                    why.advise(number, advice);
                    break;
                }
                Ok(None) => {}
                Err(error) => notes.push(note(rule, &error)),
            }
        }
    }
    notes.sort();
    notes.dedup();
    notes
}
