//! The numbers as OpenMetrics text, version 1.0, which Prometheus and the textfile collector of
//! `node_exporter` read. There are no times of the points, which that collector refuses, and no
//! types that the older text format of Prometheus does not know.

use std::io::{self, Write};

use super::metric::{Number, Numbers};
use crate::export::{family, quoted, seconds, value};

/// Writes the numbers.
///
/// # Errors
/// If they cannot be written.
pub(super) fn write(out: &mut (dyn Write + Send), numbers: &Numbers) -> io::Result<()> {
    for (metric, points) in numbers.metrics() {
        let kind = if metric.is_sum { "counter" } else { "gauge" };
        family(out, &metric.family(), kind, metric.help)?;
        for point in points {
            let labels = numbers.labels(metric, point);
            let labels: Vec<String> =
                labels.map(|(name, value)| format!("{name}={}", quoted(value))).collect();
            let number = match point.number {
                Number::Whole(count) => count.to_string(),
                Number::Time(ns) => seconds(ns),
                Number::Real(number) => value(number),
            };
            writeln!(out, "{}{{{}}} {number}", metric.sample(), labels.join(","))?;
        }
    }
    out.write_all(b"# EOF\n")
}

#[cfg(test)]
mod tests {
    use super::super::example::numbers;
    use super::*;

    #[test]
    fn text_is_that_of_the_format() {
        let mut out = Vec::new();
        write(&mut out, &numbers()).expect("it is written");
        insta::assert_snapshot!(String::from_utf8(out).expect("text"));
    }
}
