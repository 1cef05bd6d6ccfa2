//! A region that is too small to be measured.

use tinyprof_format::model::CallpathIndex;

use super::finding::{Certainty, Finding, FindingKind, Words};
use super::phrases::name;
use super::rule::Rule;
use super::run::Run;
use crate::facts::numbers::{float, ratio, whole};
use crate::facts::overhead::VISIT_COST_NS;
use crate::facts::statistics::rank::RankStatistics;
use crate::words::units::{counted, percent_cell, time};

/// The maximum mean time of a visit of a region that is too small to be measured, in nanoseconds
/// ...
const VISIT_NS: f64 = 500.0;
/// ... and the minimum part of the total time that measuring its visits took.
const COST_PART: f64 = 0.01;

pub(crate) struct TooSmallRule;

impl Rule for TooSmallRule {
    fn kind(&self) -> FindingKind {
        FindingKind::TooSmall
    }

    fn find(&self, run: &Run<'_>) -> Vec<Finding> {
        run.all().filter_map(|index| too_small(run, index)).collect()
    }
}

fn too_small(run: &Run<'_>, index: CallpathIndex) -> Option<Finding> {
    let RankStatistics { visits, inclusive, .. } = run.row(index);
    let sum_ns = ratio(inclusive.sum_ns, 1);
    let cost_ns = run.overhead.map_or_else(
        || float(visits) * VISIT_COST_NS,
        |cost| cost.of_visits_ns(visits, inclusive.is_estimate()),
    );
    if !is_too_small(visits, sum_ns, cost_ns, run.total_ns()) {
        return None;
    }
    let (mark, shown_ns) = inclusive.shown_ns(None);
    let at_most = if mark == "<" { "at most " } else { "" };
    let words = Words {
        headline: format!("{} is too small to be measured", name(run, index)),
        evidence: format!(
            "Its {} took {at_most}{} each; measuring them took at least {} of the run.",
            counted(visits, "visit"),
            time(whole(ratio(shown_ns, visits.into()))),
            percent_cell(cost_ns / run.total_ns()),
        ),
        advice: "Measure a region around it instead, or exclude it with TINYPROF_FILTER."
            .to_owned(),
    };
    let lost_ns = cost_ns / f64::from(run.count().max(1));
    let finding = Finding::new(FindingKind::TooSmall, lost_ns, words).at(index);
    Some(finding.with_certainty(Certainty::Estimated))
}

/// Returns true if measuring a region, which cost `cost_ns` nanoseconds, is out of proportion to
/// its size.
///
/// `visits` and `sum_ns` are those of all ranks together, `total_ns` is the total time of all
/// ranks.
fn is_too_small(visits: u64, sum_ns: f64, cost_ns: f64, total_ns: f64) -> bool {
    let small = visits > 0 && sum_ns / float(visits) < VISIT_NS;
    small && total_ns > 0.0 && cost_ns >= COST_PART * total_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_too_small_if_its_measurement_counts() {
        // 25 us are one percent of 2.5 ms.
        assert!(is_too_small(1_000, 499_000.0, 25_000.0, 2_500_000.0));
        assert!(!is_too_small(1_000, 500_000.0, 25_000.0, 2_500_000.0));
        assert!(!is_too_small(1_000, 499_000.0, 25_000.0, 2_500_001.0));
        assert!(!is_too_small(0, 0.0, 0.0, 0.0));
    }
}
