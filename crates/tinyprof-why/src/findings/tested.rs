//! A rank for whose messages others test in a loop: what makes it late comes before how they wait.

use tinyprof_messages::delay::Visits;
use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;

use super::Facts;
use super::advice::advice;
use super::evidence::{Compared, excess_ns};
use super::groups::Group;
use super::polling::Tests;
use crate::blame::Blamed;
use crate::facts::activities::Doing;
use crate::facts::calls::is_started_by_all;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, does, if_many, ns, ranks};
use crate::place::Place;

/// The part of the time of tests that the late ranks have to explain.
const EXPLAINED_PART: f64 = 0.5;

/// Adds the finding about ranks that are busy for longer than those that test for their messages;
/// to that about their waiting, if there is one.
pub(super) fn add_late(facts: &Facts<'_>, tests: &Tests, found: &mut Vec<Finding>) {
    let Some((mut late, tested)) = late(facts, tests) else { return };
    let same =
        |one: &Finding| one.ranks == late.ranks && one.place == late.place && !one.is_chance();
    let same = found.iter().position(same).map(|place| found.remove(place));
    let testing = found.extract_if(.., |one| is_of_testing(one, tests, &late));
    let testing: Vec<Finding> = testing.collect();
    testing.into_iter().for_each(|one| add_behind(&mut late, one));
    let Some(mut same) = same else { return found.push(late) };
    same.sentence = format!("{}; {tested}", same.sentence);
    same.lost_ns += late.lost_ns;
    same.certainty = Certainty::AtMost;
    same.chain.extend(late.chain);
    found.push(same);
}

/// Returns whether a finding is about ranks that test for messages that come too late: they are not
/// the cause themselves.
fn is_of_testing(one: &Finding, tests: &Tests, late: &Finding) -> bool {
    let is_there = one.place.as_ref().is_some_and(|place| place.index == tests.index);
    let is_late = one.ranks.iter().any(|rank| late.ranks.contains(rank));
    is_there && !is_late && one.ranks.iter().any(|rank| late.waiting_ranks.contains(rank))
}

/// Adds what others wait for ranks that test to the finding about the late ranks.
fn add_behind(late: &mut Finding, testing: Finding) {
    let ns: f64 = testing.chain.iter().map(|link| link.ns).sum();
    late.lost_ns += testing.lost_ns;
    let (who, wait) = (ranks(&testing.ranks), if_many(&testing.waiting_ranks, "waits", "wait"));
    let why =
        format!("{wait} for {who}, which {} until then", if_many(&testing.ranks, "tests", "test"));
    late.chain.push(Link { ranks: testing.waiting_ranks, place: testing.waits_at, ns, why });
}

/// Returns the finding, and its words on the tests.
fn late(facts: &Facts<'_>, tests: &Tests) -> Option<(Finding, String)> {
    let run = facts.run;
    // Elsewhere the balance of ranks says as much: nothing more is known of what they do.
    if !run.has_messages() {
        return None;
    }
    let (late, waiting, is_sent) = late_and_waiting(run, tests)?;
    let testing: RankSet = waiting.iter().map(|(rank, _)| *rank).collect();
    let waiting_ns: f64 = waiting.iter().map(|(_, ns)| ns).sum();
    let tests_ns: f64 = testing.iter().filter_map(|rank| tests.by_rank.get(&rank)).sum();
    if !facts.is_large(waiting_ns) || waiting_ns < EXPLAINED_PART * tests_ns {
        return None;
    }
    let own = run.activities.iter().filter(|(doing, _)| doing.callpath() != tests.index);
    let excesses = own.map(|(doing, visits)| (doing, excess_ns(visits, &late)));
    let (doing, excess) = excesses.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let compared = Compared::of(run, doing, &late).filter(|_| excess > 0.0)?;
    let place = Place::of(&run.callpaths, doing.callpath());
    let waits_at = Place::of(&run.callpaths, tests.index);
    let (kind, for_what) = if is_sent {
        (Kind::LateSender, if_many(&late, "its messages", "their messages"))
    } else {
        (Kind::LateToCollective, if_many(&late, "it", "them"))
    };
    let tested = format!(
        "{} {} {} for {for_what} in {}",
        ranks(&testing),
        if_many(&testing, "tests", "test"),
        ns(waiting_ns),
        waits_at.short_name(&place)
    );
    let does = does(run, &late, doing, compared.here.ns);
    let others = compared.others(run, &late);
    let sentence = format!("{} {does}{others}; {tested}", capital(&ranks(&late)));
    let why = format!("{does}{others}, while others test");
    let link = Link { ranks: late.clone(), place: Some(place.clone()), ns: waiting_ns, why };
    let activities = vec![(doing, waiting_ns)];
    let group = Group { ranks: late.clone(), activities, blamed: Blamed::default() };
    let advice = advice(run, kind, &group, doing, &compared);
    let finding = Finding {
        certainty: Certainty::AtMost,
        ranks: late,
        place: Some(place),
        waits_at: Some(waits_at),
        waiting_ranks: testing,
        chain: vec![link],
        ..Finding::new(kind, run.a_rank_ns(waiting_ns), sentence, advice)
    };
    Some((finding, tested))
}

/// Late ranks; those that test because of them, for how long each in ns; and whether for messages.
type LateAndWaiting = (RankSet, Vec<(u32, f64)>, bool);

/// Returns the ranks that are busy the longest, if those that test get messages of them, or start
/// operations with them; for how long each of these tests because of it, in ns; and whether that is
/// for messages.
fn late_and_waiting(run: &Run, tests: &Tests) -> Option<LateAndWaiting> {
    let busy_ns = busy_ns(run, tests);
    let used =
        || busy_ns.iter().zip(&run.rank_ns).filter(|(_, ns)| **ns > 0).map(|(busy, _)| *busy);
    let most_ns = used().fold(0.0, f64::max);
    let halfway_ns = f64::midpoint(most_ns, used().fold(most_ns, f64::min));
    let is_late = |(_, busy): &(u32, &f64)| **busy >= halfway_ns && **busy > 0.0;
    let late: RankSet = (0_u32..).zip(&busy_ns).filter(is_late).map(|(rank, _)| rank).collect();
    let late_ns: f64 = late.iter().filter_map(|rank| busy_ns.get(rank as usize)).sum();
    let mean_ns = late_ns / crate::ns(late.len().max(1).into());
    let testing = tests.by_rank.iter().filter(|(rank, _)| !late.contains(**rank));
    let waiting = testing.map(|(rank, test_ns)| {
        let own_ns = busy_ns.get(*rank as usize).copied().unwrap_or(0.0);
        (*rank, (mean_ns - own_ns).clamp(0.0, *test_ns))
    });
    let waiting: Vec<(u32, f64)> = waiting.filter(|(_, ns)| *ns > 0.0).collect();
    // Not every MPI says in a test whose message it is.
    let is_got =
        |from, to| run.received.contains_key(&(to, from)) || run.sent.contains(&(from, to));
    let of_messages = waiting.iter().filter(|(to, _)| late.iter().any(|from| is_got(from, *to)));
    let of_messages: Vec<(u32, f64)> = of_messages.copied().collect();
    if !of_messages.is_empty() {
        return Some((late, of_messages, true));
    }
    start_together(run, &late, &waiting).then_some((late, waiting, false))
}

/// Returns whether late ranks start an operation that is completed later, and those that test as
/// well.
fn start_together(run: &Run, late: &RankSet, testing: &[(u32, f64)]) -> bool {
    let starts = run.calls.iter().filter(|(_, call)| is_started_by_all(&call.function));
    let visits: Vec<&[Visits]> =
        starts.filter_map(|(index, _)| run.activities.of(Doing::In(*index))).collect();
    let starts = |rank: u32| {
        visits.iter().any(|of| of.get(rank as usize).is_some_and(|visits| visits.count > 0))
    };
    late.iter().all(starts) && testing.iter().all(|(rank, _)| starts(*rank))
}

/// Returns the time of each rank that is neither in calls that may wait nor in these tests, in ns.
fn busy_ns(run: &Run, tests: &Tests) -> Vec<f64> {
    let mut busy_ns = vec![0.0; run.ranks];
    for (doing, of_ranks) in run.activities.iter() {
        if doing == Doing::In(tests.index) {
            continue;
        }
        let is_before = doing == Doing::Before(tests.index);
        for ((rank, sum_ns), visits) in (0_u32..).zip(&mut busy_ns).zip(of_ranks) {
            let between_ns = tests.between_ns.get(&rank).copied().filter(|_| is_before);
            *sum_ns += (crate::ns(visits.ns.into()) - between_ns.unwrap_or(0.0)).max(0.0);
        }
    }
    busy_ns
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::Edge;

    use super::super::example::{row_of, run_of};
    use super::super::polling::tests;
    use super::*;
    use crate::blame::Blame;
    use crate::facts::run::Received;

    const MS: u64 = 1_000_000;
    const TEST: &str = "MPI_Test";
    const SEND: &str = "MPI_Send";
    const BARRIER: &str = "MPI_Barrier";

    /// Returns a run in which ranks 0 and 1 compute for these ms, and then test in a loop for 120
    /// ms, with another 80 ms between two tests; ranks 2 and 3 compute for 220 and 90 ms before
    /// they send them what they wait for; then all call this.
    fn run(busy_ms: u64, last: &str) -> Run {
        let rows: [(&str, &[u64]); 3] =
            [(TEST, &[busy_ms, busy_ms, 0, 0]), (SEND, &[0, 0, 220, 90]), (last, &[0; 4])];
        let mut run = run_of(&rows);
        run.rank_ns = vec![500 * MS; 4];
        run.waits.are_recorded = true;
        let test = row_of(&run, TEST);
        for (rank, number) in [(0, 0_u32), (1, 1)] {
            let between = Edge { count: 500_000, sum_ns: 80 * MS, ..Edge::default() };
            run.activities.add_gaps(Doing::Before(test), rank, &between, false);
            run.apart.add(test, number, &between);
            let inside = Visits { count: 500_010, ns: 120 * MS };
            run.activities.add(Doing::In(test), rank, inside, 0);
        }
        run
    }

    fn sending(mut run: Run) -> Run {
        run.received.insert((0, 2), Received::default());
        run.received.insert((1, 3), Received::default());
        run
    }

    /// Returns a finding that blames a rank for what it does before a call, for which others wait
    /// 200 ms.
    fn blamed(run: &Run, rank: u32, before: &str, waits_at: &str) -> Finding {
        let ranks: RankSet = std::iter::once(rank).collect();
        let place = Some(Place::of(&run.callpaths, row_of(run, before)));
        let waits_at = Some(Place::of(&run.callpaths, row_of(run, waits_at)));
        let waiting_ranks = (0..4).filter(|other| *other != rank).collect();
        let why = String::new();
        let chain = vec![Link { ranks: ranks.clone(), place: place.clone(), ns: 200e6, why }];
        let told = Finding::new(Kind::LateToCollective, 50e6, "Late".to_owned(), String::new());
        Finding { ranks, place, waits_at, waiting_ranks, chain, ..told }
    }

    /// Returns what is found, with a finding that was there before.
    fn found(run: &Run, before: Finding) -> Vec<Finding> {
        let facts = Facts { run, blame: &Blame::default() };
        let tests = tests(&facts).expect("ranks test a lot");
        let mut found = vec![before];
        add_late(&facts, &tests, &mut found);
        found
    }

    #[test]
    fn what_others_wait_for_a_rank_that_tests_is_for_the_late_one() {
        let run = sending(run(60, BARRIER));
        let found = found(&run, blamed(&run, 0, TEST, BARRIER));
        assert_eq!(found.len(), 1);
        let late = &found[0];
        assert_eq!((late.kind, late.ranks.to_string().as_str()), (Kind::LateSender, "2"));
        assert_eq!(
            late.sentence,
            "Rank 2 computes 220 ms before MPI_Send, others that do it 90.0 ms; rank 0 tests 160 ms \
             for its messages in MPI_Test"
        );
        assert_eq!(late.lost_ns, (160.0 + 200.0) / 4.0 * 1e6);
        let links: Vec<String> =
            late.chain.iter().map(|link| format!("{}: {}", link.ranks, link.ns / 1e6)).collect();
        assert_eq!(links, ["2: 160", "1-3: 200"]);
    }

    #[test]
    fn a_rank_that_is_busy_before_it_tests_is_blamed() {
        let run = sending(run(250, BARRIER));
        let before = blamed(&run, 0, TEST, BARRIER);
        assert_eq!(found(&run, before.clone()), [before]);
    }

    #[test]
    fn what_is_said_of_the_late_rank_and_its_tests_is_one() {
        let run = sending(run(60, BARRIER));
        let found = found(&run, blamed(&run, 2, SEND, BARRIER));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].sentence, "Late; rank 0 tests 160 ms for its messages in MPI_Test");
        assert_eq!((found[0].certainty, found[0].chain.len()), (Certainty::AtMost, 2));
    }

    #[test]
    fn ranks_may_test_for_an_operation_that_all_start() {
        let blocking = run(60, BARRIER);
        let before = blamed(&blocking, 0, TEST, BARRIER);
        assert_eq!(found(&blocking, before.clone()), [before], "nobody tests for rank 2");
        let run = run(60, "MPI_Ibarrier");
        let found = found(&run, blamed(&run, 0, TEST, "MPI_Ibarrier"));
        assert_eq!(found[0].kind, Kind::LateToCollective);
        assert!(
            found[0].sentence.contains("ranks 0-1 test 320 ms for it"),
            "{}",
            found[0].sentence
        );
    }
}
