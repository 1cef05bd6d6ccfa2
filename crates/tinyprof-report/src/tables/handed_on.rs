//! The note on callpaths whose work went to other threads.

use tinyprof_format::model::CallpathIndex;

use crate::report::Report;
use crate::words::names::{cut, shown};
use crate::words::units::time;

/// The maximum width of a name in a sentence, in columns.
const NAME_COLUMNS: usize = 40;

/// Returns a sentence about the callpath that takes the most time, and the number of the others.
pub(crate) fn handed_on(report: &Report) -> Option<String> {
    let inclusive_ns = |index: CallpathIndex| report.statistics.row(index.row()).inclusive.sum_ns;
    let (&index, at_once) =
        report.threads_at_once.iter().max_by_key(|(index, _)| inclusive_ns(**index))?;
    let others = match report.threads_at_once.len() - 1 {
        0 => String::new(),
        more => format!("; so it is with {more} more"),
    };
    Some(format!(
        "work of {} went to other threads: below it are {at_once:.1} times its {}, added up over threads, and what of its \
         time is its own is not known{others}",
        cut(&shown(&report.callpaths.get(index).region.name), NAME_COLUMNS),
        time(inclusive_ns(index)),
    ))
}
