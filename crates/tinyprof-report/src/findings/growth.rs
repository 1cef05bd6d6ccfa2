//! A region whose visits take longer and longer.

use tinyprof_format::model::CallpathIndex;

use super::finding::{Finding, FindingKind, Words};
use super::phrases::name;
use super::rule::Rule;
use super::run::Run;
use crate::facts::numbers::{float, whole};
use crate::facts::totals::trend::{Growth, Trend};
use crate::words::units::{percent_cell, time};

pub(crate) struct GrowthRule;

impl Rule for GrowthRule {
    fn kind(&self) -> FindingKind {
        FindingKind::Growth
    }

    fn find(&self, run: &Run<'_>) -> Vec<Finding> {
        let Some(of) = &run.ranks else { return Vec::new() };
        let trends = run.large().filter_map(|index| Some((index, of.totals.trend(index)?)));
        trends.filter_map(|(index, trend)| growth(run, index, trend)).collect()
    }
}

fn growth(run: &Run<'_>, index: CallpathIndex, trend: &Trend) -> Option<Finding> {
    let Growth { early_ns, late_ns, since, lost_ns } = trend.growth?;
    let since = since as u64 * trend.visits_per_point;
    let lost_ns = lost_ns * float(trend.visits_per_point);
    let words = Words {
        headline: format!("{} takes longer since iteration {since}", name(run, index)),
        evidence: format!(
            "A visit takes {} in the first quarter and {} in the last, {} more; that cost {} per rank.",
            time(whole(early_ns)),
            time(whole(late_ns)),
            percent_cell(late_ns / early_ns - 1.0),
            time(whole(lost_ns)),
        ),
        advice: "Look for data that grows with the iterations.".to_owned(),
    };
    let finding = Finding::new(FindingKind::Growth, lost_ns, words).at(index);
    Some(Finding { iteration: Some(since), ..finding })
}
