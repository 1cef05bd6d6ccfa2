//! Similar names, to suggest what was probably meant.

use tinyprof_report::{UnknownMetric, escaped};

/// The largest number of changed letters for which another name is suggested.
pub(crate) const CHANGES_MAX: usize = 2;

/// Returns the message for an unknown metric, with the one that was probably meant.
pub(crate) fn unknown_metric(error: &UnknownMetric) -> String {
    let known = error.known.iter().map(String::as_str).chain(["inclusive", "exclusive", "visits"]);
    let near = known.map(|name| (changes(&error.key, name), name));
    let nearest = near.filter(|(changed, name)| is_near(*changed, name)).min();
    match nearest {
        Some((_, name)) => format!("{error}; did you mean {}?", escaped(name)),
        None => error.to_string(),
    }
}

/// Returns true if so many changed letters may be a mistake in typing this name.
pub(crate) fn is_near(changed: usize, name: &str) -> bool {
    changed <= CHANGES_MAX && 2 * changed < name.chars().count()
}

/// Returns the number of letters to insert, remove or replace to make `b` of `a` (Levenshtein).
pub(crate) fn changes(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (row, from) in a.chars().enumerate() {
        let mut line = vec![row + 1];
        for (column, to) in b.iter().enumerate() {
            let replaced = above[column] + usize::from(from != *to);
            line.push(replaced.min(above[column + 1] + 1).min(line[column] + 1));
        }
        above = line;
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_suggested_if_it_is_near() {
        let check = |key: &str, expected: Option<&str>| {
            let report = tinyprof_report::Report::of_event_map(&Default::default(), "program");
            let mut error = report.by_metric(key.into()).expect_err("there is no such key");
            error.known.insert("alloc_bytes".to_owned());
            let message = unknown_metric(&error);
            let suggested = message.split_once("did you mean ").map(|(_, name)| name);
            assert_eq!(suggested, expected, "{message}");
        };
        check("exclusiv", Some("exclusive?"));
        check("alloc_byte", Some("alloc_bytes?"));
        check("mem", None);
    }

    #[test]
    fn changes_are_counted_by_letter() {
        assert_eq!(changes("budget", "budget"), 0);
        assert_eq!(changes("bugdet", "budget"), 2);
        assert_eq!(changes("", "out"), 3);
        assert_eq!(changes("outs", "out"), 1);
    }
}
