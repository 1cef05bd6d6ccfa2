//! The comparison of profiles in memory by their inclusive times, as the HTML page shows it.

use serde_json::Value;
use tinyprof_format::model::Profile;
use tinyprof_report::SortKey;

use super::compare::{Diff, Run, rows};
use super::names::Names;
use super::{tables, text, values};

/// A profile, its name, and its selected ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side<'a> {
    pub(crate) name: &'a str,
    pub(crate) profile: &'a Profile,
    pub(crate) ranks: &'a [usize],
}

/// Returns the output of `tinyprof diff --json` for the profiles of both sides, without limits, and
/// what `tinyprof diff` says above and below its table: `samples` and `notes`.
pub(crate) fn sides_json(base: &[Side<'_>], new: &[Side<'_>]) -> Value {
    let mut names = Names::default();
    let mut run = |&Side { name, profile, ranks }: &Side<'_>| Run {
        name: String::from(name),
        ranks: <[usize]>::len(ranks),
        executions: profile.manifest.executions,
        incomplete: !profile.manifest.complete,
        rows: values::amounts(profile, &SortKey::Inclusive, ranks, &mut names),
    };
    let base: Vec<Run> = base.iter().map(&mut run).collect();
    let new: Vec<Run> = new.iter().map(&mut run).collect();
    let rows = rows(names.rows().len(), &base, &new);
    let diff = Diff {
        base,
        new,
        metric: SortKey::Inclusive,
        names,
        rows,
        fail_above: None,
        min_share: 0.0,
    };
    let mut json = tables::json(&diff).to_value();
    json["samples"] = text::samples(&diff).into();
    json["notes"] = text::notes(&diff).into();
    json
}
