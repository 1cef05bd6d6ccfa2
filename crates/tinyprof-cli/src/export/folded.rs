//! Folded stacks: one line for each callpath, with its exclusive time summed over all ranks.

use std::error::Error;
use std::io::Write;

use super::exporter::{Exporter, Notes, Request, Source};
use super::names::without;
use super::paths::joined;
use super::summary::Summary;

pub(super) struct Folded;

impl Exporter for Folded {
    fn export(
        &self,
        request: &Request<'_>,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        let source = request.source()?;
        for (stack, ns) in stacks(&source)? {
            writeln!(out, "{stack} {ns}")?;
        }
        Ok(source.rounded_note().into_iter().collect())
    }
}

/// Returns the callpaths with exclusive time, sorted, each with that time summed over all ranks, in
/// nanoseconds.
///
/// # Errors
/// If the profile cannot be read, or if the paths are too long.
pub(super) fn stacks(source: &Source<'_>) -> Result<Vec<(String, u128)>, Box<dyn Error>> {
    let table = source.callpaths();
    let stacks =
        joined(table, ";", table.rows().iter().map(|callpath| frame(&callpath.region.name)))?;
    let summary = Summary::of(source)?;
    let times = summary.statistics.rows().map(|row| row.exclusive.sum_ns);
    let mut lines: Vec<(String, u128)> =
        stacks.into_iter().zip(times).filter(|(_, ns)| *ns > 0).collect();
    lines.sort();
    Ok(lines)
}

/// Returns a name without the delimiters of a line. A number after a space at its end would be read
/// as a time.
fn frame(name: &str) -> String {
    let frame = without(';', name);
    match frame.rsplit_once(' ') {
        Some((before, number))
            if number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') =>
        {
            format!("{before}\\u{{20}}{number}")
        }
        _ => frame,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_has_no_delimiter() {
        let check = |name: &str, expected: &str| assert_eq!(frame(name), expected);
        check("solve<f64> of x", "solve<f64> of x");
        check("a;b\n", r"a\u{3b}b\n");
        check("step 12", r"step\u{20}12");
        check("step 1 2.5", r"step 1\u{20}2.5");
        check("trailing ", r"trailing\u{20}");
    }
}
