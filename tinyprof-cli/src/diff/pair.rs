//! The comparison of profiles by their inclusive times, as the HTML page shows it.

use std::error::Error;

use serde_json::Value;
use tinyprof_report::SortKey;

use crate::arguments::Estimator;
use crate::by_callpath::ByCallpath;

use super::compare::{Diff, Run, rows};
use super::names::Names;
use super::{tables, text, values};

/// A profile, its name, and its selected ranks.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) name: &'a str,
    pub(crate) profile: &'a dyn ByCallpath,
    pub(crate) ranks: &'a [usize],
}

/// Returns the output of `tinyprof diff --json` for the profiles of both sides, without limits, and
/// what `tinyprof diff` says above and below its table: `samples` and `notes`.
///
/// # Errors
/// If a profile cannot be read.
pub(crate) fn sides_json(base: &[Side<'_>], new: &[Side<'_>]) -> Result<Value, Box<dyn Error>> {
    let mut names = Names::default();
    let mut run = |&Side { name, profile, ranks }: &Side<'_>| -> Result<Run, Box<dyn Error>> {
        Ok(Run {
            name: String::from(name),
            ranks: <[usize]>::len(ranks),
            executions: profile.manifest().executions,
            incomplete: !profile.manifest().complete,
            rows: values::amounts(profile, &SortKey::Inclusive, ranks, &mut names)?,
        })
    };
    let base = base.iter().map(&mut run).collect::<Result<Vec<Run>, _>>()?;
    let new = new.iter().map(&mut run).collect::<Result<Vec<Run>, _>>()?;
    let estimator = Estimator::default();
    let rows = rows(names.rows().len(), &base, &new, estimator);
    let diff = Diff {
        base,
        new,
        metric: SortKey::Inclusive,
        estimator,
        names,
        rows,
        fail_above: None,
        min_share: 0.0,
    };
    let mut json = tables::json(&diff).to_value();
    json["samples"] = text::samples(&diff).into();
    json["notes"] = text::notes(&diff).into();
    Ok(json)
}
