//! A first iteration that takes much longer than the others.

use tinyprof_format::model::CallpathIndex;

use super::finding::{Finding, FindingKind, Words};
use super::phrases::name;
use super::rule::Rule;
use super::run::Run;
use crate::facts::numbers::{float, whole};
use crate::facts::totals::trend::{SlowFirst, Trend};
use crate::words::units::time;

pub(crate) struct SlowFirstRule;

impl Rule for SlowFirstRule {
    fn kind(&self) -> FindingKind {
        FindingKind::SlowFirst
    }

    fn find(&self, run: &Run<'_>) -> Vec<Finding> {
        let Some(of) = &run.ranks else { return Vec::new() };
        let trends = run.large().filter_map(|index| Some((index, of.totals.trend(index)?)));
        trends.filter_map(|(index, trend)| slow_first(run, index, trend)).collect()
    }
}

fn slow_first(run: &Run<'_>, index: CallpathIndex, trend: &Trend) -> Option<Finding> {
    let SlowFirst { first_ns, median_ns } = trend.slow_first?;
    let which = match trend.visits_per_point {
        1 => "The first iteration".to_owned(),
        many => format!("The first {many} iterations"),
    };
    let words = Words {
        headline: format!("{which} of {} took much longer", name(run, index)),
        evidence: format!(
            "A visit took {}, where the median of the others is {}: {:.1} times as much.",
            time(whole(first_ns)),
            time(whole(median_ns)),
            first_ns / median_ns,
        ),
        advice: "Leave it out of comparisons, or do before the loop what only it has to do."
            .to_owned(),
    };
    let lost_ns = (first_ns - median_ns) * float(trend.visits_per_point);
    let finding = Finding::new(FindingKind::SlowFirst, lost_ns, words).at(index);
    Some(Finding { iteration: Some(0), ..finding })
}
