//! The part of a document that its reader wants: some facts, and some callpaths.

use serde_json::Value;
use tinyprof_settings::pattern;

use super::frame::Frame;
use super::json;
use crate::arguments::{DocumentChoice, Fact};

/// The keys that each document has.
const ALWAYS: [&str; 9] = [
    "name",
    "source",
    "has_ended",
    "ranks",
    "ranks_seen",
    "hosts",
    "elapsed_ns",
    "age_ns",
    "interval_ns",
];

/// Returns a frame as JSON, with what is chosen of it.
pub(super) fn document(frame: &Frame, has_ended: bool, choice: &DocumentChoice) -> Value {
    let mut document = json::document(frame, has_ended);
    if let Some(patterns) = &choice.callpaths {
        keep_callpaths(&mut document["callpaths"], patterns);
    }
    if let (Some(facts), Some(keys)) = (&choice.facts, document.as_object_mut()) {
        let is_wanted = |key: &str| facts.iter().any(|&fact| key_of(fact) == key);
        keys.retain(|key, _| ALWAYS.contains(&key.as_str()) || is_wanted(key));
    }
    document
}

const fn key_of(fact: Fact) -> &'static str {
    match fact {
        Fact::Efficiency => "efficiency",
        Fact::Activity => "activity",
        Fact::Loop => "loop",
        Fact::Why => "why",
        Fact::Causes => "causes",
        Fact::Still => "still",
        Fact::Missing => "missing",
        Fact::Losses => "losses",
        Fact::Callpaths => "callpaths",
    }
}

/// Keeps the rows that patterns let in. The parent of a row is then the next above it that is kept.
fn keep_callpaths(callpaths: &mut Value, patterns: &str) {
    let Some(rows) = callpaths.as_array_mut() else { return };
    let mut kept: Vec<Value> = Vec::new();
    // Of each row, the position of itself or of the next above it that is kept.
    let mut positions: Vec<Option<usize>> = Vec::new();
    for mut row in rows.drain(..) {
        let parent = row["parent"].as_u64().and_then(|parent| usize::try_from(parent).ok());
        let above = parent.and_then(|parent| *positions.get(parent)?);
        let is_match = |pattern: &[u8]| {
            let is = |key: &str| {
                let text = row[key].as_str().unwrap_or_default().as_bytes();
                pattern::matches(pattern, &|at| text.get(at).copied())
            };
            is("name") || is("callpath")
        };
        if pattern::excludes(patterns, is_match) {
            positions.push(above);
            continue;
        }
        row["parent"] = above.into();
        positions.push(Some(kept.len()));
        kept.push(row);
    }
    *rows = kept;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::example::sample;
    use super::*;

    fn frame() -> Frame {
        Frame::new(sample(4, 10), None)
    }

    #[test]
    fn a_document_has_the_facts_that_are_wanted_and_always_who_it_is_of() {
        let all = DocumentChoice::default();
        let whole = document(&frame(), true, &all);
        assert_eq!(whole, json::document(&frame(), true));
        let some = DocumentChoice { facts: Some(vec![Fact::Efficiency, Fact::Still]), ..all };
        let document = document(&frame(), true, &some);
        let keys = document.as_object().expect("an object");
        assert_eq!(keys.len(), ALWAYS.len() + 2);
        assert!(keys.iter().all(|(key, value)| *value == whole[key]));
    }

    #[test]
    fn every_fact_is_a_key_of_the_document() {
        let whole = document(&frame(), false, &DocumentChoice::default());
        let facts = <Fact as clap::ValueEnum>::value_variants();
        let keys = facts.iter().map(|&fact| key_of(fact)).chain(ALWAYS);
        let keys: std::collections::BTreeSet<&str> = keys.collect();
        let of_document = whole.as_object().expect("an object");
        assert!(of_document.keys().map(String::as_str).eq(keys));
    }

    #[test]
    fn rows_are_chosen_by_name_or_callpath_and_know_their_parents_among_them() {
        let row = |callpath: &str, parent: Option<usize>| {
            let name = callpath.rsplit('<').next();
            json!({ "callpath": callpath, "name": name, "parent": parent })
        };
        let rows = json!([
            row("main", None),
            row("main<solve", Some(0)),
            row("main<solve<inner", Some(1)),
            row("main<solve<inner<wait", Some(2)),
            row("main<io", Some(0)),
        ]);
        let kept = |patterns: &str| {
            let mut rows = rows.clone();
            keep_callpaths(&mut rows, patterns);
            let rows = rows.as_array().expect("a list").clone();
            let one = |row: &Value| {
                (row["name"].as_str().unwrap_or_default().to_owned(), row["parent"].as_u64())
            };
            rows.iter().map(one).collect::<Vec<_>>()
        };
        let expected = |rows: &[(&str, Option<u64>)]| {
            rows.iter().map(|&(name, parent)| (name.to_owned(), parent)).collect::<Vec<_>>()
        };
        assert_eq!(kept("main,wait"), expected(&[("main", None), ("wait", Some(0))]));
        assert_eq!(kept("main<solve*,-wait"), expected(&[("solve", None), ("inner", Some(0))]));
        assert_eq!(kept("-main<solve*"), expected(&[("main", None), ("io", Some(0))]));
        assert_eq!(kept("nothing"), expected(&[]));
    }
}
