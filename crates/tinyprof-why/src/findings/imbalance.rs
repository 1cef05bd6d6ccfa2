//! Ranks with more work than others, in profiles that do not say who waits for whom.

use tinyprof_messages::delay::Visits;
use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;

use super::Facts;
use super::oversubscribed::ADVICE;
use super::processor::most_lost_ns;
use crate::facts::activities::Doing;
use crate::facts::calls::Call;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, if_many, ns, ranks};
use crate::place::Place;

/// The option that would tell more.
const MORE: &str = "Measure with -o mpi=messages to see who waits for whom, and where.";
/// The remark instead, if that option was given.
const NOT_FOLLOWED: &str = "For whom these calls wait is not followed, as between hosts in \
                            non-blocking operations (docs/causes.md): that it is for this is a guess.";

/// The part of the run in calls that are not followed, from which on balance says more.
const NOT_FOLLOWED_PART: f64 = 0.2;

/// Returns the finding about the ranks that are busy the longest.
pub(super) fn imbalance(facts: &Facts<'_>, found: &[Finding]) -> Option<Finding> {
    let run = facts.run;
    if run.has_messages() && run.share(run.not_followed_ns) < NOT_FOLLOWED_PART {
        return None;
    }
    let finding = busier(run, facts)?;
    // What is followed says more of the same ranks.
    let is_same = |one: &Finding| one.ranks.iter().any(|rank| finding.ranks.contains(rank));
    (!run.has_messages() || !found.iter().any(is_same)).then_some(finding)
}

fn busier(run: &Run, facts: &Facts<'_>) -> Option<Finding> {
    let busy_ns: Vec<f64> = (0..run.ranks).map(|rank| busy_ns(run, rank)).collect();
    let used = run.used();
    if used < 2 {
        return None;
    }
    let most_ns = busy_ns.iter().copied().fold(0.0, f64::max);
    let mean_ns = busy_ns.iter().sum::<f64>() / crate::ns(used as u128);
    // Only as long as a rank is in calls that may wait.
    let calls = if run.has_messages() { &run.in_calls } else { &run.may_wait };
    let waiting = (0..run.ranks).map(|rank| {
        let may_wait = calls.iter().map(|(_, of_ranks)| crate::ns(of_ranks[rank].ns.into()));
        (most_ns - busy_ns[rank]).max(0.0).min(may_wait.sum())
    });
    let waiting: Vec<f64> = waiting.collect();
    let waiting_ns: f64 = waiting.iter().sum();
    let waiting_ns =
        if run.has_messages() { waiting_ns.min(run.not_followed_ns) } else { waiting_ns };
    if !facts.is_large(waiting_ns) || most_ns <= 0.0 {
        return None;
    }
    let used_ns = (0..run.ranks).filter(|rank| run.rank_ns[*rank] > 0).map(|rank| busy_ns[rank]);
    let halfway = f64::midpoint(most_ns, used_ns.fold(most_ns, f64::min));
    let of = |is_in: &dyn Fn(usize) -> bool| -> RankSet {
        (0_u32..)
            .zip(0..run.ranks)
            .filter(|(_, rank)| is_in(*rank))
            .map(|(number, _)| number)
            .collect()
    };
    let late = of(&|rank| busy_ns[rank] >= halfway);
    let early = of(&|rank| waiting[rank] >= 0.1 * (most_ns - mean_ns) && busy_ns[rank] < halfway);
    let others_ns = mean(&busy_ns, |rank| !late.contains(rank));
    let late_ns = mean(&busy_ns, |rank| late.contains(rank));
    let (place, doing) = place(run, &late);
    let waits_at = waits_at(run, &early, &late);
    let call = match doing {
        Some(Doing::In(at)) => run.calls.get(&at),
        _ => None,
    };
    let is_file = call.is_some_and(Call::is_file);
    let kind = if is_file { Kind::SerialIo } else { Kind::Imbalance };
    let where_ = if matches!(doing, Some(Doing::Before(_))) { "before" } else { "in" };
    let at = place
        .as_ref()
        .map_or_else(|| "outside of MPI".to_owned(), |place| format!("{where_} {}", place.name()));
    let (late_shown, others_shown) = match doing.and_then(|doing| run.activities.of(doing)) {
        Some(visits) => (mean_of(visits, &late, true), mean_of(visits, &late, false)),
        None => (late_ns, others_ns),
    };
    let lost_ns = mean_lost_ns(run, &late);
    let is_lost = !is_file && lost_ns >= late_ns - others_ns;
    let lost = if is_lost {
        let had = if_many(&late, "was", "were");
        format!(", but {had} ready to run without a processor for up to {}", ns(lost_ns))
    } else {
        String::new()
    };
    let sentence = format!(
        "{} {} {} {at}, the others {}{lost}; {} may wait {} for {}{}",
        capital(&ranks(&late)),
        if_many(&late, "spends", "spend"),
        ns(late_shown),
        ns(others_shown),
        ranks(&early),
        ns(waiting_ns),
        if_many(&late, "it", "them"),
        waits_at.as_ref().map_or_else(String::new, |place| format!(", mostly in {}", place.name())),
    );
    let more = if run.has_messages() { NOT_FOLLOWED } else { MORE };
    let kind = if is_lost { Kind::Oversubscription } else { kind };
    let advice = match kind {
        Kind::Oversubscription => format!("{ADVICE} {more}"),
        Kind::SerialIo => {
            "Let all ranks read or write their own part, as with MPI_File_write_at_all, or let the \
                          others go on meanwhile."
                .to_owned()
        }
        _ if call.is_some() => {
            format!("Look at what that call moves on {}, and when it is made. {more}", ranks(&late))
        }
        _ => format!("Give {} less work. {more}", ranks(&late)),
    };
    let why = format!(
        "{} in calls of MPI for a shorter time than the others",
        if_many(&late, "is", "are")
    );
    let link = Link { ranks: late.clone(), place: place.clone(), ns: waiting_ns, why };
    Some(Finding {
        certainty: Certainty::AtMost,
        ranks: late,
        place,
        waits_at,
        waiting_ranks: early,
        chain: vec![link],
        ..Finding::new(kind, run.a_rank_ns(waiting_ns), sentence, advice)
    })
}

/// Returns the most that these ranks may have been without a processor, in ns, on average.
fn mean_lost_ns(run: &Run, late: &RankSet) -> f64 {
    let all: f64 = late.iter().map(|rank| most_lost_ns(run, rank)).sum();
    all / crate::ns(late.len().max(1).into())
}

/// Returns the time of a rank that is not in calls in which it may wait, in ns.
fn busy_ns(run: &Run, rank: usize) -> f64 {
    run.activities.iter().map(|(_, of_ranks)| crate::ns(of_ranks[rank].ns.into())).sum()
}

fn mean(of: &[f64], is_in: impl Fn(u32) -> bool) -> f64 {
    let chosen = (0_u32..).zip(of).filter(|(rank, _)| is_in(*rank));
    let (sum, count) = chosen.fold((0.0, 0.0), |(sum, count), (_, ns)| (sum + ns, count + 1.0));
    sum / f64::max(count, 1.0)
}

fn mean_of(visits: &[Visits], late: &RankSet, is_in: bool) -> f64 {
    let ns: Vec<f64> = visits.iter().map(|visits| crate::ns(visits.ns.into())).collect();
    mean(&ns, |rank| late.contains(rank) == is_in)
}

/// Returns the activity that takes longer on each of these ranks than on others, if it is more than
/// the program as a whole.
fn place(run: &Run, late: &RankSet) -> (Option<Place>, Option<Doing>) {
    let least_ns = |visits: &[Visits]| {
        let chosen = (0_u32..).zip(visits).filter(|(rank, _)| late.contains(*rank));
        crate::ns(chosen.map(|(_, visits)| visits.ns).min().unwrap_or(0).into())
    };
    let excess = |visits: &[Visits]| least_ns(visits) - mean_of(visits, late, false);
    let most = run
        .activities
        .iter()
        .map(|(doing, visits)| (doing, excess(visits)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((doing, _)) = most.filter(|(_, ns)| *ns > 0.0) else { return (None, None) };
    let is_whole = run.callpaths.get(doing.callpath()).parent.is_none();
    if is_whole {
        return (None, None);
    }
    (Some(Place::of(&run.callpaths, doing.callpath())), Some(doing))
}

/// Returns the call in which these ranks are longer than the late ones by the most: where all ranks
/// are for long, as at the end of MPI, they do not wait for each other.
fn waits_at(run: &Run, early: &RankSet, late: &RankSet) -> Option<Place> {
    let longer = |visits: &[Visits]| mean_of(visits, early, true) - mean_of(visits, late, true);
    let longest = run.may_wait.iter().max_by(|a, b| longer(a.1).total_cmp(&longer(b.1)));
    longest.map(|(doing, _)| Place::of(&run.callpaths, doing.callpath()))
}
