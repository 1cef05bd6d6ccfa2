//! `tinyprof waits`: who waits for whom.

use std::error::Error;

use tinyprof_format::model::CallpathIndex;
use tinyprof_report::{Report, Waits};

use crate::arguments::{Selection, TableFormat, WaitsArguments};
use crate::graph::NO_EDGES;
use crate::name::name_of;
use crate::{render, select};

pub(crate) fn run(arguments: &WaitsArguments) -> Result<(), Box<dyn Error>> {
    // What is waited for may be outside of the selection, so all is read.
    let all = Selection { ranks: None, executions: None, path: None };
    let profile = select::read(&arguments.directory, &all)?;
    if let Some(ranks) = &arguments.ranks {
        select::check_ranks(profile.ranks.len(), ranks)?;
    }
    let rows = match &arguments.path {
        Some(path) => Some(select::rows_below(&profile.callpaths, path)?),
        None => None,
    };
    let is_wanted = |rank: u32, callpath: Option<CallpathIndex>| {
        let is_rank = arguments.ranks.as_ref().is_none_or(|ranks| ranks.contains(rank));
        let is_below = |rows: &Vec<bool>| callpath.is_some_and(|at| rows[at.row()]);
        is_rank && rows.as_ref().is_none_or(is_below)
    };
    let waits = Waits::of_profile(&profile, arguments.by_rank, is_wanted);
    if !waits.are_recorded {
        render::notes(&[NO_EDGES.to_owned()]);
    }
    let report = Report::of_profile(&profile).named(name_of(&arguments.directory));
    let count = usize::try_from(arguments.count).unwrap_or(usize::MAX);
    match arguments.output.format() {
        TableFormat::Json => render::stream(|to| report.waits_json(&waits).write(to)),
        TableFormat::Csv => render::stream(|to| report.write_waits_csv(&waits, to)),
        TableFormat::Text => {
            let columns = render::columns(arguments.output.width);
            if arguments.compensated {
                return render::text(&report.to_compensated_text(&waits, count, columns));
            }
            render::text(&report.to_waits_text(&waits, count, columns))
        }
    }
}
