//! `tinyprof report --by site|loop|call|peer`.

use std::error::Error;

use tinyprof_report::Report;
use tinyprof_views::{GroupBy, GroupView};

use crate::arguments::ReportArguments;
use crate::name::name_of;
use crate::{render, select};

pub(crate) fn run(arguments: &ReportArguments, by: GroupBy) -> Result<(), Box<dyn Error>> {
    if arguments.metric.is_some() {
        return Err("--metric is for callpaths and regions".into());
    }
    let selected = select::open(&arguments.directory, &arguments.selection)?;
    let (totals, rows) = tinyprof_structure::grouped(&selected, by)?;
    let report = Report::of_totals(&totals).named(name_of(&arguments.directory));
    let count = if arguments.all { usize::MAX } else { GroupView::ROWS };
    render::view(&GroupView::new(&report, by, &rows, count), &arguments.output)
}
