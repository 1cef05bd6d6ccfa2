//! The list of the costliest regions, below a tree that folds too much to show where the time goes.

use crate::facts::statistics::regions::costliest;
use crate::report::Report;
use crate::words::names::{cut, shown};
use crate::words::units::{percent_cell, time_cell};

/// The minimum width of a name in the flat list, in columns.
const NAME_COLUMNS_MIN: usize = 20;

/// Returns a table of the `count` regions with the most exclusive time, below a line that says
/// why it is there. None if each of them has one callpath: a tree of the costliest callpaths
/// shows the same.
pub(crate) fn flat_regions(report: &Report, count: usize, width_columns: usize) -> Option<String> {
    let regions = costliest(&report.callpaths, &report.statistics, count, |index| {
        report.base.startup_itself(index) == 0
    });
    if !regions.iter().any(|region| region.callpaths > 1) {
        return None;
    }
    let mut text = "more than a third is folded; regions by exclusive time:\n".to_owned();
    let mut line = |[time, share, callpaths, name]: [&str; 4]| {
        let numbers = format!("{time:>9}  {share:>6}  {callpaths:>9}  ");
        let room = width_columns.saturating_sub(numbers.len()).max(NAME_COLUMNS_MIN);
        text.push_str(&format!("{numbers}{}\n", cut(name, room)));
    };
    line(["exclusive", "share", "callpaths", "region"]);
    for region in &regions {
        let share = percent_cell(report.base.share(region.exclusive_ns));
        let (time, callpaths) = (time_cell(region.exclusive_ns), region.callpaths.to_string());
        line([&time, &share, &callpaths, &shown(region.name)]);
    }
    Some(text)
}
