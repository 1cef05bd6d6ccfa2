//! The comparison of two profiles in memory by their inclusive times, as the HTML page shows it.

use serde_json::Value;
use tinyprof_format::model::Profile;
use tinyprof_report::SortKey;

use super::compare::{Diff, Run, rows};
use super::names::Names;
use super::{tables, values};

/// A profile, its name, and its selected ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side<'a> {
    pub(crate) name: &'a str,
    pub(crate) profile: &'a Profile,
    pub(crate) ranks: &'a [usize],
}

/// Returns the output of `tinyprof diff --json` for the two profiles, without limits.
pub(crate) fn pair_json(base: Side<'_>, new: Side<'_>) -> Value {
    let mut names = Names::default();
    let mut run = |Side { name, profile, ranks }| Run {
        name: String::from(name),
        ranks: <[usize]>::len(ranks),
        executions: profile.manifest.executions,
        incomplete: !profile.manifest.complete,
        rows: values::amounts(profile, &SortKey::Inclusive, ranks, &mut names),
    };
    let (base, new) = (vec![run(base)], vec![run(new)]);
    let rows = rows(names.rows().len(), &base, &new);
    tables::json(&Diff {
        base,
        new,
        metric: SortKey::Inclusive,
        names,
        rows,
        fail_above: None,
        min_share: 0.0,
    })
    .to_value()
}
