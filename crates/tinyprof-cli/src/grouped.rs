//! `tinyprof report --by site|loop|call|peer`.

use std::cmp::Reverse;
use std::error::Error;

use tinyprof_report::{Report, Totals};
use tinyprof_structure::StructureBuilder;
use tinyprof_views::{GroupBy, GroupSums, GroupView};

use crate::arguments::ReportArguments;
use crate::name::name_of;
use crate::{render, select};
use tinyprof_report::ByCallpath as _;

/// The number of rows, unless all are asked for.
const ROWS: usize = 20;

pub(crate) fn run(arguments: &ReportArguments, by: GroupBy) -> Result<(), Box<dyn Error>> {
    if arguments.metric.is_some() {
        return Err("--metric is for callpaths and regions".into());
    }
    let selected = select::open(&arguments.directory, &arguments.selection)?;
    let (callpaths, ranks) = (selected.callpaths(), selected.ranks());
    let mut totals = Totals::new(selected.manifest(), callpaths, ranks);
    let mut sums = GroupSums::new(callpaths, ranks.len(), by);
    let mut structure =
        (by == GroupBy::Loop).then(|| StructureBuilder::new(callpaths, ranks.len()));
    selected.each(&mut |index, values| {
        totals.add(index, values);
        sums.add(index, values);
        if let Some(structure) = &mut structure {
            structure.add(index, values);
        }
        Ok(())
    })?;
    let mut rows = sums.rows(&totals);
    if let Some(structure) = structure {
        rows.extend(structure.finish(false).loops());
        rows.sort_by_key(|row| Reverse(row.inclusive_ns));
    }
    let report = Report::of_totals(&totals).named(name_of(&arguments.directory));
    let count = if arguments.all { usize::MAX } else { ROWS };
    render::view(&GroupView::new(&report, by, &rows, count), &arguments.output)
}
