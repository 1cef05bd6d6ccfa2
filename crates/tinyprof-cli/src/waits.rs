//! `tinyprof waits`: who waits for whom.

use std::error::Error;

use tinyprof_report::{Report, Totals, WaitSums};
use tinyprof_views::{WaitsView, compensated_text};

use crate::arguments::{Selection, TableFormat, WaitsArguments};
use crate::graph::NO_EDGES;
use crate::name::name_of;
use crate::outcome::Outcome;
use crate::{render, select};
use tinyprof_report::ByCallpath as _;

pub(crate) fn run(arguments: &WaitsArguments) -> Result<Outcome, Box<dyn Error>> {
    // What is waited for may be outside of the selection, so all is read.
    let all = Selection { ranks: None, executions: None, path: None };
    let selected = select::open(&arguments.directory, &all)?;
    let (callpaths, ranks) = (selected.callpaths(), selected.ranks());
    let mut sums = WaitSums::new(callpaths, ranks.len());
    if arguments.by_rank {
        sums = sums.by_rank();
    }
    if let Some(list) = &arguments.ranks {
        select::check_ranks(ranks.len(), list)?;
        let count = u32::try_from(ranks.len()).unwrap_or(u32::MAX);
        sums = sums.only_ranks((0..count).filter(|rank| list.contains(*rank)));
    }
    if let Some(path) = &arguments.path {
        sums = sums.only_rows(select::rows_below(callpaths, path)?);
    }
    // The base of shares is the time of the ranks that are selected, as in other reports.
    let of_ranks = Selection { ranks: arguments.ranks.clone(), executions: None, path: None };
    let base = select::open(&arguments.directory, &of_ranks)?;
    let mut totals = Totals::new(base.manifest(), callpaths, ranks);
    let is_all = arguments.ranks.is_none();
    selected.each(&mut |index, values| {
        if is_all {
            totals.add(index, values);
        }
        sums.add(index, values);
        Ok(())
    })?;
    if !is_all {
        base.each(&mut |index, values| {
            totals.add(index, values);
            Ok(())
        })?;
    }
    let waits = sums.waits();
    let outcome = if waits.are_recorded { Outcome::Done } else { Outcome::NotRecorded };
    if outcome == Outcome::NotRecorded {
        render::notes(&[NO_EDGES.to_owned()]);
    }
    let report = Report::of_totals(&totals).named(name_of(&arguments.directory));
    let count = usize::try_from(arguments.count).unwrap_or(usize::MAX);
    if arguments.compensated && matches!(arguments.output.format(), TableFormat::Text) {
        let columns = render::columns(arguments.output.width);
        render::text(&compensated_text(&report, count, columns))?;
    } else {
        render::view(&WaitsView::new(&report, &waits, count), &arguments.output)?;
    }
    Ok(outcome)
}
