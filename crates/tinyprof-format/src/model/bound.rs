//! Limits on estimates, from the times that were measured around them.

use super::{EventMap, ExecutionSummary};

/// The number of standard errors by which an estimate may be off.
pub const ESTIMATE_ERRORS: f64 = 2.0;

impl EventMap {
    /// Lowers estimates where the children of a callpath take longer than the callpath itself,
    /// since no visit lasts longer than the one around it. An excess beyond the estimates' own
    /// errors is lowered only in a process of one thread. The errors do not change.
    ///
    /// With several threads, a greater excess is real: the children ran on other threads. The
    /// number of threads is that of [`facts`](Self::facts).
    ///
    /// # Cost
    /// Linear in the numbers of callpaths and summaries; negligible if there are no estimates.
    pub fn bound_estimates(&mut self) {
        if !self.values.iter().any(|values| is_estimate(&values.executions)) {
            return;
        }
        let children = self.callpaths.children();
        let has_one_thread = self.facts.threads <= 1;
        // Parents come first, so the time that limits a child is already bounded.
        for row in 0..self.callpaths.len() {
            let mut exact_ns = 0_u64;
            let (mut estimated_ns, mut variance_ns2) = (0_u64, self.variance_ns2(row));
            for child in children[row].iter().map(|child| child.row()) {
                let ns = self.values[child].inclusive_ns();
                if is_estimate(&self.values[child].executions) {
                    estimated_ns = estimated_ns.saturating_add(ns);
                    variance_ns2 += self.variance_ns2(child);
                } else {
                    exact_ns = exact_ns.saturating_add(ns);
                }
            }
            let room_ns = self.values[row].inclusive_ns().saturating_sub(exact_ns);
            let excess_ns = estimated_ns.saturating_sub(room_ns);
            if excess_ns == 0
                || !(has_one_thread || float(excess_ns) <= ESTIMATE_ERRORS * variance_ns2.sqrt())
            {
                continue;
            }
            let part = float(room_ns) / float(estimated_ns);
            for child in &children[row] {
                let executions = &mut self.values[child.row()].executions;
                executions
                    .iter_mut()
                    .filter(|e| e.sum_variance_ns2 > 0.0)
                    .for_each(|e| scale(e, part));
            }
        }
    }

    fn variance_ns2(&self, row: usize) -> f64 {
        ExecutionSummary::sum_variance_ns2_of(&self.values[row].executions)
    }
}

fn is_estimate(executions: &[ExecutionSummary]) -> bool {
    executions.iter().any(|execution| execution.sum_variance_ns2 > 0.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the part of a time is a time, rounded down to be no more than what it is part of"
)]
fn scale(execution: &mut ExecutionSummary, part: f64) {
    execution.sum_ns = (float(execution.sum_ns) * part) as u64;
    execution.sum_squares_ns2 *= part * part;
}

#[expect(clippy::cast_precision_loss, reason = "an estimate has no 53 exact bits")]
const fn float(ns: u64) -> f64 {
    ns as f64
}

#[cfg(test)]
mod tests {
    use crate::model::{CallpathId, CallpathValues, RankFacts, Region, SiteId};

    use super::*;

    /// Returns a map with a parent of 1000 ns, a measured child of 100 ns, and two estimates with
    /// this variance each.
    fn map(threads: u32, estimates_ns: [u64; 2], variance_ns2: f64) -> EventMap {
        let parent = CallpathId::root(SiteId::from_bits(1));
        let record = |site: u64, above: Option<CallpathId>, ns: u64, variance_ns2: f64| {
            let site = SiteId::from_bits(site);
            let visited = ExecutionSummary {
                visits: 2,
                sum_variance_ns2: variance_ns2,
                ..ExecutionSummary::of_one_visit(0, ns)
            };
            let values = CallpathValues { executions: vec![visited], ..CallpathValues::default() };
            let id = above.map_or_else(|| CallpathId::root(site), |parent| parent.child(site));
            (id, above, Region::named(site, "r"), values)
        };
        let [first, second] = estimates_ns;
        let records = [
            record(1, None, 1_000, 0.0),
            record(2, Some(parent), 100, 0.0),
            record(3, Some(parent), first, variance_ns2),
            record(4, Some(parent), second, variance_ns2),
        ];
        let mut map =
            EventMap::from_records(records, RankFacts { threads, ..RankFacts::default() });
        map.bound_estimates();
        map
    }

    fn sums(map: &EventMap) -> Vec<u64> {
        let mut sums: Vec<u64> = map.values.iter().map(CallpathValues::inclusive_ns).collect();
        sums.sort_unstable();
        sums
    }

    #[test]
    fn children_take_no_more_than_their_parent() {
        assert_eq!(sums(&map(1, [300, 500], 1.0)), [100, 300, 500, 1_000], "they have room");
        assert_eq!(sums(&map(1, [600, 1_200], 1.0)), [100, 300, 600, 1_000]);
        assert_eq!(
            map(1, [600, 1_200], 1.0).variance_ns2(1).to_bits(),
            map(1, [1, 1], 1.0).variance_ns2(1).to_bits()
        );
    }

    #[test]
    fn what_ran_on_other_threads_stays_unless_the_error_explains_it() {
        assert_eq!(sums(&map(2, [600, 1_200], 1.0)), [100, 600, 1_000, 1_200]);
        // An excess of 900, and two standard errors of sqrt(2 x 450^2) = 636 each.
        assert_eq!(sums(&map(2, [600, 1_200], 450.0 * 450.0)), [100, 300, 600, 1_000]);
    }
}
