//! A region that is imbalanced over ranks.

use tinyprof_format::model::CallpathIndex;

use super::finding::{Certainty, Finding, FindingKind, Words};
use super::load_balance::explains_imbalance_of_work;
use super::phrases::{name, on_host};
use super::rule::Rule;
use super::run::Run;
use crate::facts::numbers::{float, ratio, whole};
use crate::words::units::time;

/// The minimum imbalance of a region: the slowest rank is this far above the mean ...
const IMBALANCE_MIN: f64 = 0.25;
/// ... and the difference is at least this part of the mean rank's total time.
const LOSS_PART: f64 = 0.02;

pub(crate) struct ImbalanceRule;

impl Rule for ImbalanceRule {
    fn kind(&self) -> FindingKind {
        FindingKind::Imbalance
    }

    fn find(&self, run: &Run<'_>) -> Vec<Finding> {
        if run.count() < 2 {
            return Vec::new();
        }
        let looked_at = run.large().filter(|index| !run.is_communication(*index));
        looked_at.filter_map(|index| imbalance(run, index)).collect()
    }

    fn explains(&self, own: &Finding, other: &Finding) -> bool {
        explains_imbalance_of_work(own, other)
    }
}

fn imbalance(run: &Run<'_>, index: CallpathIndex) -> Option<Finding> {
    let exclusive = &run.exclusive(index);
    let ranks = f64::from(run.count());
    let (max_ns, mean_ns) = (float(exclusive.max_ns), ratio(exclusive.sum_ns, 1) / ranks);
    let lost_ns = imbalanced(max_ns, mean_ns, run.total_ns() / ranks)?;
    let rank = exclusive.max_rank;
    let host = on_host(run, exclusive.max_host);
    let words = Words {
        headline: format!("{} is imbalanced: rank {rank}{host} takes longest", name(run, index)),
        evidence: format!(
            "Its exclusive time is {} there and {} per rank {}; the others may wait {}.",
            time(whole(max_ns)),
            time(whole(mean_ns)),
            mean_words(run, index),
            time(whole(lost_ns)),
        ),
        advice: format!("Give rank {rank} less of it."),
    };
    let finding = Finding::new(FindingKind::Imbalance, lost_ns, words).at(index);
    Some(finding.because_of([rank]).with_certainty(Certainty::Estimated))
}

/// Returns the time between the slowest rank and the mean, in nanoseconds, if a region is
/// imbalanced.
///
/// `total_ns` is the total time of the mean rank. None below [`IMBALANCE_MIN`] or [`LOSS_PART`].
fn imbalanced(max_ns: f64, mean_ns: f64, total_ns: f64) -> Option<f64> {
    let lost_ns = max_ns - mean_ns;
    let clear = mean_ns > 0.0 && lost_ns >= IMBALANCE_MIN * mean_ns;
    (clear && total_ns > 0.0 && lost_ns >= LOSS_PART * total_ns).then_some(lost_ns)
}

/// Returns the words for a mean over all ranks. The table's means are those of the ranks that
/// visited a callpath, so ranks that did not are mentioned.
fn mean_words(run: &Run<'_>, index: CallpathIndex) -> String {
    match run.count().saturating_sub(run.row(index).ranks) {
        0 => "on average".to_owned(),
        never => format!("over all {} ranks, {never} of which never run it", run.count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_imbalance_is_a_part_of_the_mean_and_of_the_run() {
        assert_eq!(imbalanced(125.0, 100.0, 1_000.0), Some(25.0));
        assert_eq!(imbalanced(124.9, 100.0, 1_000.0), None);
        assert_eq!(imbalanced(150.0, 100.0, 2_500.0), Some(50.0));
        assert_eq!(imbalanced(150.0, 100.0, 2_501.0), None);
        assert_eq!(imbalanced(0.0, 0.0, 0.0), None);
    }
}
