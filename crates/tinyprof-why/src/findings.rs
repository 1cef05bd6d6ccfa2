//! The rules: what makes a finding, one file each.

mod advice;
mod barrier;
mod busy;
mod evidence;
#[cfg(test)]
mod example;
mod groups;
mod imbalance;
pub(crate) mod large;
mod locks;
mod longer;
mod masters;
mod messages;
mod order;
mod oversubscribed;
mod polling;
mod processor;
mod serial;
mod spread;
mod tested;
mod turns;
mod varying;
mod visits;
mod waiting;

use crate::blame::Blame;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind};

/// The smallest part of a run that is worth a finding.
pub(crate) const FINDING_PART: f64 = 0.05;

/// What rules look at.
pub(crate) struct Facts<'a> {
    pub(crate) run: &'a Run,
    pub(crate) blame: &'a Blame,
}

impl Facts<'_> {
    /// Returns whether a time of all ranks is large enough for a finding.
    fn is_large(&self, ns: f64) -> bool {
        self.run.share(ns) >= FINDING_PART
    }
}

/// Returns the findings in a run, the costliest first. Those of one cause are one.
pub(crate) fn findings(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = order::wrong_order(facts);
    found.extend(masters::starving(facts));
    found.extend(locks::contention(facts));
    let mut groups = groups::groups(facts.run, facts.blame);
    groups.iter_mut().for_each(|group| longer::begin_with_longer(facts.run, group));
    let in_a_row = serial::one_after_another(facts, groups.first());
    if in_a_row.is_none() {
        let (late, left) = waiting::waiting(facts, groups, &found);
        found.extend(late);
        found.extend(barrier::redundant(facts, &found));
        found.extend(messages::small(facts));
        let claimed: Vec<_> = found.iter().filter_map(|one| one.waits_at.clone()).collect();
        let (large, explained) = large::large(facts, &found);
        found.extend(large);
        found.extend(varying::varying(facts, &claimed, &left, &explained));
    } else {
        found.extend(in_a_row);
        let (large, _) = large::large(facts, &found);
        found.extend(large);
    }
    if let Some(tests) = polling::tests(facts) {
        tested::add_late(facts, &tests, &mut found);
        // Sleeping between tests costs nothing but that ranks notice late.
        if !tests.naps {
            found.push(polling::polling(facts, &tests));
        }
    }
    let busier = imbalance::imbalance(facts, &found);
    found.extend(busier);
    visits::add_one_slow_visit(facts, &mut found);
    found.extend(spread::spread(facts, &found));
    oversubscribed::add_waited_for(facts, &mut found);
    let crowded = oversubscribed::oversubscribed(facts, &found);
    found.extend(crowded);
    // Of what has a cause, and what only chance explains, the cause is what can be mended.
    sort(&mut found);
    found
}

/// Returns how much a finding counts among others.
fn weight(finding: &Finding) -> f64 {
    /// Who looks for what has not come would wait for it otherwise: what makes it late comes first.
    const OF_POLLING: f64 = 0.5;
    if finding.kind == Kind::Polling { OF_POLLING * finding.lost_ns } else { finding.lost_ns }
}

/// Sorts findings, the costliest first, and chance last; tests come behind what says for whom.
pub(crate) fn sort(found: &mut [Finding]) {
    found.sort_by(|a, b| a.is_chance().cmp(&b.is_chance()).then(weight(b).total_cmp(&weight(a))));
    let Some(polling) = found.iter().position(|one| one.kind == Kind::Polling) else { return };
    let waits_at = &found[polling].waits_at;
    let says_for_whom = |one: &Finding| !one.is_chance() && one.waits_at == *waits_at;
    let last = found.iter().rposition(says_for_whom).unwrap_or(polling);
    found[polling..=last.max(polling)].rotate_left(1);
}
