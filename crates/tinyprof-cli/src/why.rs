//! `tinyprof why`: the cause of what a run loses, its place, and what to do.

use std::error::Error;

use tinyprof_report::{Report, Totals};
use tinyprof_views::json_text;
use tinyprof_why::Why;

use crate::arguments::{RuleFiles, Selection, WhyArguments};
use crate::select::Selected;
use crate::{render, select};

pub(crate) fn run(arguments: &WhyArguments) -> Result<(), Box<dyn Error>> {
    let all = Selection { ranks: None, executions: None, path: None };
    let (why, ..) = of(&select::open(&arguments.directory, &all)?, &arguments.rules)?;
    if arguments.output.is_json() {
        return render::output(&json_text(&why.to_json()));
    }
    render::text(&why.to_text(render::columns(arguments.width)))
}

/// Returns the answer of a profile, with what rules find, its totals and report. What is wrong with
/// rules is printed, and they are left out.
///
/// # Errors
/// If the profile cannot be read.
pub(crate) fn of(
    selected: &Selected<'_>,
    files: &RuleFiles,
) -> Result<(Why, Totals, Report), Box<dyn Error>> {
    let (mut why, totals) = Why::of_source(selected)?;
    let report = Report::of_totals(&totals);
    let (rules, mut notes) = tinyprof_rules::load(&files.rules);
    notes.extend(rules.apply(&mut why, &totals, &report));
    render::notes(&notes);
    Ok((why, totals, report))
}
