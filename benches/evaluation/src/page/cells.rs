//! The cells of the tables, and the lines below them.

use tinyprof_bench_collective::document::table::float;

use crate::kept::Head;
use crate::statistics::Spread;

/// The text in place of a table whose part was never measured.
pub(crate) const NOT_MEASURED: &str = "*Not measured: `make evaluation` does it.*";

/// Formats a number with three significant digits.
#[expect(clippy::cast_possible_truncation, reason = "a logarithm is small")]
pub(crate) fn three(number: f64) -> String {
    let places =
        if number.abs() < 1e-9 { 0 } else { (2 - number.abs().log10().floor() as i32).clamp(0, 6) };
    format!("{number:.*}", usize::try_from(places).unwrap_or_default())
}

/// Formats `median (least to most)`, or a dash without values.
pub(crate) fn spread(values: impl IntoIterator<Item = f64>) -> String {
    Spread::of(values).map_or("-".to_owned(), |of| {
        if of.least.to_bits() == of.most.to_bits() {
            three(of.median)
        } else {
            format!("{} ({} to {})", three(of.median), three(of.least), three(of.most))
        }
    })
}

/// Formats the median in bold, with the spread.
pub(crate) fn bold_spread(values: impl IntoIterator<Item = f64>) -> String {
    let text = spread(values);
    match text.split_once(' ') {
        Some((median, rest)) => format!("**{median}** {rest}"),
        None => format!("**{text}**"),
    }
}

pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    Spread::of(values).map_or(f64::NAN, |of| of.median)
}

pub(super) fn seconds(ns: u64) -> f64 {
    float(ns) / 1e9
}

pub(super) fn milliseconds(ns: u64) -> f64 {
    float(ns) / 1e6
}

/// Describes the number of ranks per processor, and whether they compete.
pub(super) fn to_a_processor(ranks: u32, head: &Head) -> String {
    let processors = head.place.processors.max(1);
    if ranks > processors {
        format!("{} (shared)", three(f64::from(ranks) / f64::from(processors)))
    } else {
        "a processor each".to_owned()
    }
}

/// Returns the line below a table: what was measured, where, and how often.
pub(crate) fn below(head: &Head, repetitions: usize) -> String {
    let place = &head.place;
    let counted = if repetitions == 1 {
        "once".to_owned()
    } else {
        format!(
            "{repetitions} repetitions, of which the median and, in parentheses, the least and the greatest"
        )
    };
    let trial = if head.wanted.small { " Sizes of a trial, which say nothing." } else { "" };
    let text = format!(
        "*Measured at commit {} on {}, {}; {}; {counted}; load average {} before.{trial}*",
        head.wanted.commit, place.date, place.machine, place.mpi, head.load
    );
    format!("\n{}\n", wrapped(&text))
}

/// Returns a paragraph in lines that leave room for a name before the first.
pub(crate) fn wrapped(text: &str) -> String {
    const COLUMNS: usize = 88;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= COLUMNS => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::tests::head;

    #[test]
    fn cells_have_three_digits_and_their_spread() {
        assert_eq!(
            [three(0.0), three(0.001_234), three(12.34), three(-1234.4)],
            ["0", "0.00123", "12.3", "-1234"]
        );
        assert_eq!(spread([3.0, 1.0, 2.0]), "2.00 (1.00 to 3.00)");
        assert_eq!(bold_spread([3.0, 1.0, 2.0]), "**2.00** (1.00 to 3.00)");
        assert_eq!(
            (spread([5.0]), bold_spread([5.0]), spread([])),
            ("5.00".into(), "**5.00**".into(), "-".into())
        );
    }

    #[test]
    fn ranks_that_share_processors_are_told_apart() {
        assert_eq!(to_a_processor(2, &head("a")), "a processor each");
        assert_eq!(to_a_processor(16, &head("a")), "8.00 (shared)");
    }
}
