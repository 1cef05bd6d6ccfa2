//! What is not known of waiting, in words.

use crate::facts::numbers::{ratio, rounded};
use crate::report::Report;
use crate::words::names::{cut, shown};
use crate::words::units::{percent_cell, time};

/// The number of functions that the line names.
const FUNCTIONS: usize = 3;

/// The maximum width of a function's name, in columns.
const NAME_COLUMNS: usize = 32;

/// Returns `12.3% of the time in MPI is in calls that are not followed, 34.5 ms per rank:
/// MPI_Probe 10.1%`.
///
/// It is not known what these calls wait for. None if there are no such calls, or if nothing is
/// known of messages.
#[must_use]
pub fn unfollowed_line(report: &Report) -> Option<String> {
    let unfollowed = report.unfollowed.as_ref()?;
    let (ns, mpi_ns) = (unfollowed.ns(), unfollowed.mpi_ns());
    if ns == 0 {
        return None;
    }
    let per_rank = if report.ranks > 1 { " per rank" } else { "" };
    let ranks = u128::from(report.ranks.max(1));
    let functions = unfollowed.functions.iter().take(FUNCTIONS);
    let functions: Vec<String> = functions
        .map(|(name, ns)| {
            let share = percent_cell(ratio(*ns, mpi_ns));
            format!("{} {share}", cut(&shown(name), NAME_COLUMNS))
        })
        .collect();
    let functions = match functions.is_empty() {
        true => String::new(),
        false => format!(": {}", functions.join(", ")),
    };
    Some(format!(
        "{} of the time in MPI is in calls that are not followed, {}{per_rank}{functions}",
        percent_cell(ratio(ns, mpi_ns)),
        time(rounded(ns, ranks)),
    ))
}
