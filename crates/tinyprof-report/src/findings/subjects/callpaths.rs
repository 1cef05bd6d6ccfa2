//! The facts of callpaths: shares, differences between ranks, changes over iterations, and what
//! measuring them cost.

use tinyprof_format::model::CallpathIndex;

use super::super::hint::HintScope;
use super::super::phrases::{name, on_host};
use super::super::run::Run;
use super::super::values::Values;
use super::Subject;
use crate::facts::numbers::{float, ratio};
use crate::facts::overhead::VISIT_COST_NS;
use crate::facts::statistics::rank::RankStatistics;
use crate::facts::totals::trend::Trend;
use crate::facts::usage::Activity;

pub(super) fn subjects<'a>(run: &'a Run<'_>) -> impl Iterator<Item = Subject> + 'a {
    run.all().filter(|index| run.row(*index).visits > 0).map(|index| subject(run, index))
}

fn subject(run: &Run<'_>, index: CallpathIndex) -> Subject {
    let mut values = Values::default();
    let row = run.row(index);
    values.text("name", name(run, index));
    values.number("visits", float(row.visits));
    measurement(run, &row, &mut values);
    let mut subject = Subject { place: Some(index), ..Subject::new(HintScope::Callpath, values) };
    // Samples are part of the region around them, whose time does not differ by chance.
    if run.callpaths.get(index).region.is_sampled() {
        return subject;
    }
    let values = &mut subject.values;
    values.number("share", run.part(run.exclusive(index).sum_ns));
    values.text("activity", run.activities[index.row()].map_or("unknown", word));
    over_ranks(run, (index, row.ranks), values);
    subject.ranks = std::iter::once(run.exclusive(index).max_rank).collect();
    let trend = run.ranks.as_ref().and_then(|of| of.totals.trend(index));
    if let Some(trend) = trend.filter(|_| run.is_large(index)) {
        subject.since = over_iterations(trend, &mut subject.values);
    }
    subject
}

const fn word(activity: Activity) -> &'static str {
    match activity {
        Activity::Communication => "communication",
        Activity::Computation => "computation",
        Activity::InputOutput => "input and output",
        _ => "other",
    }
}

fn measurement(run: &Run<'_>, row: &RankStatistics, values: &mut Values) {
    let RankStatistics { visits, inclusive, .. } = row;
    let cost_ns = run.overhead.map_or_else(
        || float(*visits) * VISIT_COST_NS,
        |cost| cost.of_visits_ns(*visits, inclusive.is_estimate()),
    );
    values.number("visit_seconds", ratio(inclusive.sum_ns, u128::from(*visits)) * 1e-9);
    let (mark, shown_ns) = inclusive.shown_ns(None);
    values.text("visit_mark", if mark == "<" { "at most " } else { "" });
    values.number("visit_seconds_shown", ratio(shown_ns, u128::from(*visits)) * 1e-9);
    values.number("measuring_seconds", cost_ns * 1e-9 / f64::from(run.count().max(1)));
    let total_ns = run.total_ns();
    values.number_if("measuring_share", (total_ns > 0.0).then(|| cost_ns / total_ns));
}

/// Adds the differences between ranks. Those that never came count as 0 in the mean: giving all the
/// work to a few ranks is an imbalance, too.
fn over_ranks(run: &Run<'_>, (index, ranks): (CallpathIndex, u32), values: &mut Values) {
    let exclusive = &run.exclusive(index);
    let mean_ns = run.a_rank_ns(exclusive.sum_ns);
    values.number("max_seconds", float(exclusive.max_ns) * 1e-9);
    values.number("mean_seconds", mean_ns * 1e-9);
    values.number("excess_seconds", (float(exclusive.max_ns) - mean_ns) * 1e-9);
    values.number("slowest_rank", f64::from(exclusive.max_rank));
    values.text("on_host", on_host(run, exclusive.max_host));
    // The table's means are those of the ranks that visited a callpath: the others are mentioned.
    let over = match run.count().saturating_sub(ranks) {
        0 => "on average".to_owned(),
        never => format!("over all {} ranks, {never} of which never run it", run.count()),
    };
    values.text("over", over);
}

/// Adds the changes from iteration to iteration, and returns since when they take longer.
fn over_iterations(trend: &Trend, values: &mut Values) -> Option<u64> {
    let visits = float(trend.visits_per_point);
    if let Some(first) = trend.first {
        let which = match trend.visits_per_point {
            1 => "The first iteration".to_owned(),
            many => format!("The first {many} iterations"),
        };
        values.text("first_iterations", which);
        values.number("first_seconds", first.first_ns * 1e-9);
        values.number("median_seconds", first.median_ns * 1e-9);
        values.number("first_excess_seconds", (first.first_ns - first.median_ns) * visits * 1e-9);
    }
    let growth = trend.growth?;
    let since = growth.since as u64 * trend.visits_per_point;
    values.number("since", float(since));
    values.number("early_seconds", growth.early_ns * 1e-9);
    values.number("late_seconds", growth.late_ns * 1e-9);
    values.number("growth_seconds", growth.lost_ns * visits * 1e-9);
    Some(since)
}
