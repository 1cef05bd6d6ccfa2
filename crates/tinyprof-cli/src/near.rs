//! Similar names, to suggest what was probably meant.

use tinyprof_report::{UnknownMetric, escaped};
pub(crate) use tinyprof_settings::near::{CHANGES_MAX, changes, is_near};

use crate::outcome::WrongArgument;

/// Returns the name that was probably meant, if one is near.
pub(crate) fn nearest<'a>(
    wanted: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let near = names.into_iter().map(|name| (changes(wanted, name), name));
    near.filter(|(changed, name)| is_near(*changed, name)).min().map(|(_, name)| name)
}

/// Returns the error about an unknown metric, with the one that was probably meant.
pub(crate) fn unknown_metric(error: &UnknownMetric) -> WrongArgument {
    let known = error.known.iter().map(String::as_str).chain(["inclusive", "exclusive", "visits"]);
    WrongArgument(match nearest(&error.key, known) {
        Some(name) => format!("{error}; did you mean {}?", escaped(name)),
        None => error.to_string(),
    })
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
            let message = unknown_metric(&error).0;
            let suggested = message.split_once("did you mean ").map(|(_, name)| name);
            assert_eq!(suggested, expected, "{message}");
        };
        check("exclusiv", Some("exclusive?"));
        check("alloc_byte", Some("alloc_bytes?"));
        check("mem", None);
    }
}
