//! `tinyprof why`: the cause of what a run loses, its place, and what to do.

use std::error::Error;

use tinyprof_report::Totals;
use tinyprof_views::json_text;
use tinyprof_why::Why;

use crate::arguments::{Selection, WhyArguments};
use crate::select::Selected;
use crate::{render, select};

pub(crate) fn run(arguments: &WhyArguments) -> Result<(), Box<dyn Error>> {
    let all = Selection { ranks: None, executions: None, path: None };
    let (why, _) = of(&select::open(&arguments.directory, &all)?)?;
    if arguments.output.is_json() {
        return render::output(&json_text(&why.to_json()));
    }
    render::text(&why.to_text(render::columns(arguments.width)))
}

/// Returns the answer of a profile, with its totals.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn of(selected: &Selected<'_>) -> Result<(Why, Totals), Box<dyn Error>> {
    Why::of_source(selected)
}
