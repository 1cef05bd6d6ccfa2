//! The head line of reports and tables.

use crate::facts::numbers::rounded;
use crate::report::Report;
use crate::words::names::{cut, escaped, wrapped};
use crate::words::units::{counted, time};

/// Returns the head line, broken into lines of `width_columns` columns.
#[must_use]
pub fn head(report: &Report, width_columns: usize) -> String {
    wrapped(&head_line(report, width_columns), ", ", width_columns)
}

/// Returns a line like
/// `FFT.tprof: 4 ranks on 1 host, 8 threads, 20 executions, 12 callpaths, 1.23 s a rank`.
fn head_line(report: &Report, width_columns: usize) -> String {
    let name = cut(&escaped(&report.name), (width_columns / 2).max(20));
    let hosts = if report.hosts > 0 {
        format!(" on {}", counted(report.hosts.into(), "host"))
    } else {
        String::new()
    };
    let time = match report.ranks {
        0 | 1 => time(report.base.ns()),
        ranks => format!("{} per rank", time(rounded(report.base.ns(), ranks.into()))),
    };
    let threads = report.threads.filter(|&threads| threads > report.ranks.into());
    let threads =
        threads.map_or_else(String::new, |threads| format!(", {}", counted(threads, "thread")));
    // Each root has its own count of executions. The rows of a report by region are no roots.
    let roots = report.callpaths.rows().iter().filter(|callpath| callpath.parent.is_none()).count();
    let differ = roots > 1 && report.executions > 1 && report.callpaths_of_regions.is_none();
    let up_to = if differ { "up to " } else { "" };
    let executions = format!("{up_to}{}", counted(report.executions.into(), "execution"));
    format!(
        "{name}: {}{hosts}{threads}, {executions}, {}, {time}",
        counted(report.ranks.into(), "rank"),
        counted(report.callpaths.len() as u64, report.row_word()),
    )
}
