//! The parts of OpenMetrics text that an export and a running job share: the lines before a family,
//! values and labels.

use std::io::{self, Write};

use super::names::shown;

/// Writes what comes before the samples of a family.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn family(
    out: &mut (dyn Write + Send),
    name: &str,
    kind: &str,
    help: &str,
) -> io::Result<()> {
    writeln!(out, "# TYPE {name} {kind}")?;
    for unit in ["seconds", "bytes"] {
        if name.strip_suffix(unit).is_some_and(|name| name.ends_with('_')) {
            writeln!(out, "# UNIT {name} {unit}")?;
        }
    }
    writeln!(out, "# HELP {name} {help}.")
}

/// Returns seconds with nanosecond digits.
pub(crate) fn seconds(ns: u128) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// Returns a float, with the format's spelling of values that are not finite.
pub(crate) fn value(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        (if number > 0.0 { "+Inf" } else { "-Inf" }).to_owned()
    } else {
        number.to_string()
    }
}

/// Returns a label's value, quoted. The format escapes only three characters, so characters that
/// control a terminal are spelled out first.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", shown(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_exact_and_spelled_as_the_format_wants() {
        assert_eq!(seconds(1), "0.000000001");
        assert_eq!(seconds(u128::from(u64::MAX)), "18446744073.709551615");
        assert_eq!(value(f64::NEG_INFINITY), "-Inf");
        assert_eq!(value(f64::INFINITY), "+Inf");
        assert_eq!(value(f64::NAN), "NaN");
        assert_eq!(value(0.1), "0.1");
    }

    #[test]
    fn a_label_cannot_be_left() {
        assert_eq!(quoted("a\"} 1\n\\"), r#""a\"} 1\\n\\""#);
        assert_eq!(quoted("\u{202e}\0"), r#""\\u{202e}\\u{0}""#);
    }
}
