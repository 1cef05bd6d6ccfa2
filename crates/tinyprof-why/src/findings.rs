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

use tinyprof_report::Certainty;

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

/// Sorts findings, the costliest first, and chance last, unless it is measured, and costs far more
/// than the rest; tests come behind what says for whom.
pub(crate) fn sort(found: &mut [Finding]) {
    /// How many times more ranks without a processor cost than what has a cause, to come first.
    const FAR_MORE: f64 = 3.0;
    let caused = found.iter().filter(|one| !one.is_chance()).map(weight);
    let first_ns = FAR_MORE * caused.fold(0.0, f64::max);
    let is_last = |one: &Finding| {
        let is_measured = one.certainty == Certainty::Measured;
        one.is_chance() && !(is_measured && weight(one) >= first_ns)
    };
    found.sort_by(|a, b| is_last(a).cmp(&is_last(b)).then(weight(b).total_cmp(&weight(a))));
    let Some(polling) = found.iter().position(|one| one.kind == Kind::Polling) else { return };
    let waits_at = &found[polling].waits_at;
    let says_for_whom = |one: &Finding| !one.is_chance() && one.waits_at == *waits_at;
    let last = found.iter().rposition(says_for_whom).unwrap_or(polling);
    found[polling..=last.max(polling)].rotate_left(1);
}

#[cfg(test)]
mod tests {
    use tinyprof_format::text::read_text;

    use super::*;
    use crate::place::Place;

    /// Returns the kinds of findings in their order, of these kinds, times in ms and certainties.
    fn sorted(of: &[(Kind, f64, Certainty)]) -> Vec<Kind> {
        let finding = |(kind, ms, certainty): &(Kind, f64, Certainty)| Finding {
            certainty: *certainty,
            ..Finding::new(*kind, ms * 1e6, String::new(), String::new())
        };
        let mut found: Vec<Finding> = of.iter().map(finding).collect();
        sort(&mut found);
        found.into_iter().map(|one| one.kind).collect()
    }

    #[test]
    fn chance_comes_last_unless_it_is_measured_and_costs_far_more() {
        use Certainty::{AtMost, Measured};
        use Kind::{LateRoot, LateSender, Oversubscription};
        let causes = [(LateRoot, 77.0, Measured), (LateSender, 80.0, Measured)];
        let with =
            |ms, certainty| sorted(&[causes[0], (Oversubscription, ms, certainty), causes[1]]);
        assert_eq!(with(239.0, Measured), [LateSender, LateRoot, Oversubscription]);
        assert_eq!(with(241.0, Measured), [Oversubscription, LateSender, LateRoot]);
        assert_eq!(with(241.0, AtMost), [LateSender, LateRoot, Oversubscription]);
    }

    #[test]
    fn tests_come_behind_what_says_for_whom() {
        let text = "id,parent,tag,is_loop,times\nMPI_Test,null,COMM,0,1\nMPI_Recv,null,COMM,0,1\n";
        let profile = read_text(text.as_bytes()).expect("it is right").profile;
        let rows: Vec<_> = profile.callpaths.iter().map(|(row, _)| row).collect();
        let finding = |kind, ms: f64, row: usize| Finding {
            waits_at: Some(Place::of(&profile.callpaths, rows[row])),
            ..Finding::new(kind, ms * 1e6, String::new(), String::new())
        };
        let kinds = |row| {
            let mut found = [
                finding(Kind::Polling, 100.0, 0),
                finding(Kind::LateSender, 40.0, row),
                finding(Kind::SmallMessages, 30.0, 1),
            ];
            sort(&mut found);
            found.map(|one| one.kind)
        };
        assert_eq!(kinds(0), [Kind::LateSender, Kind::Polling, Kind::SmallMessages]);
        assert_eq!(kinds(1), [Kind::Polling, Kind::LateSender, Kind::SmallMessages]);
    }
}
