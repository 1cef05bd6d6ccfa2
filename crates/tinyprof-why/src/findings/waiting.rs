//! Ranks that wait for others: what these do longer, and where.

use tinyprof_format::model::CallpathIndex;
use tinyprof_messages::delay::{Imbalance, Visits};
use tinyprof_messages::waiting::Pattern;
use tinyprof_report::Certainty;

use super::evidence::{
    Compared, LONGER_BY, certainty_of, chain, excess_ns, uneven_ns, waiting_ranks, where_they_wait,
};
use super::groups::Group;
use super::{Facts, masters, oversubscribed, processor, serial};
use crate::blame::Blamed;
use crate::facts::activities::Doing;
use crate::facts::calls::Call;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind};
use crate::phrases::{between_tests, capital, does, if_many, ns, ranks};
use crate::place::Place;

/// A rank is slow if at least this part of its activities takes this much longer there.
const SLOW_ACTIVITIES: f64 = 0.75;
const SLOWER_BY: f64 = 1.1;
/// The least number of activities. With fewer, a slow rank looks like one with more work.
const SLOW_ACTIVITIES_MIN: usize = 3;

/// The part of all that it does longer that one activity of a slow rank has at most. Otherwise that
/// is the cause, and the others are a little slower because of it.
const SLOW_BY_ONE: f64 = 0.6;

/// The part of the waiting for late receivers that these have to wait themselves: otherwise they
/// have no time in which they could receive earlier.
const IDLE_PART: f64 = 0.3;

/// How many times longer than others a rank has to do what is before its number is known.
const FIRST_LONGER_BY: f64 = 2.0;

/// The part of a group's waiting that another finding about the same call has to explain.
const TOLD_PART: f64 = 0.5;

/// Returns a finding for each group of causes that is large enough; and the waiting of those groups
/// that do not do more than others. Waiting that is due to the order of receives, or to locks, is
/// told elsewhere.
pub(super) fn waiting(
    facts: &Facts<'_>,
    groups: Vec<Group>,
    told: &[Finding],
) -> (Vec<Finding>, Blamed) {
    let is_told = |group: &Group| {
        let at = group.blamed.longest().and_then(|(at, _)| at.callpath);
        let least_ns = TOLD_PART * facts.run.a_rank_ns(group.blamed.ns());
        told.iter()
            .filter(|one| one.lost_ns >= least_ns)
            .any(|one| at.is_some() && one.waits_at.as_ref().map(|place| place.index) == at)
    };
    let large =
        groups.into_iter().filter(|group| facts.is_large(group.blamed.ns()) && !is_told(group));
    let mut found = Vec::new();
    let mut left = Blamed::default();
    for group in large {
        match finding(facts, &group) {
            Some(one) => found.push(one),
            None => left.absorb(&group.blamed),
        }
    }
    (found, left)
}

/// Returns whether an activity ends before its rank knows which one it is, so that the program
/// hardly makes it differ: what differs is when the ranks begin, unless it is measured, and takes a
/// multiple of that of others, as for a file that is slow to read on one host.
fn is_before_ranks(facts: &Facts<'_>, group: &Group, doing: Doing) -> bool {
    let run = facts.run;
    let Doing::Before(at) = doing else { return false };
    let is_longer = |one: Compared| one.here.ns >= FIRST_LONGER_BY * one.elsewhere.ns;
    if facts.blame.is_measured
        && Compared::with_all(run, doing, &group.ranks).is_some_and(is_longer)
    {
        return false;
    }
    let asks = |call: &Call| matches!(call.function.as_str(), "MPI_Comm_rank" | "MPI_Comm_size");
    let once = |visits: &[Visits]| visits.iter().all(|visits| visits.count <= 1);
    run.calls.get(&at).is_some_and(asks) && run.activities.of(doing).is_some_and(once)
}

/// Returns whether the ranks of a group do nothing longer than the others: which of them was late
/// is chance.
fn are_equal(run: &Run, group: &Group) -> bool {
    let compared = group
        .activities
        .iter()
        .filter_map(|(doing, _)| Compared::with_all(run, *doing, &group.ranks));
    let (here, elsewhere) = compared.fold((0.0, 0.0), |(here, elsewhere), one| {
        (here + one.here.ns, elsewhere + one.elsewhere.ns)
    });
    group.ranks.len() < run.used() as u64 && here < LONGER_BY * elsewhere
}

fn finding(facts: &Facts<'_>, group: &Group) -> Option<Finding> {
    let run = facts.run;
    let (doing, _) = *group.activities.first()?;
    if is_before_ranks(facts, group, doing) {
        return None;
    }
    if masters::kind(run, group).is_none()
        && let Some(found) = serial::in_turns(facts, group)
    {
        return found;
    }
    if masters::kind(run, group).is_none() && are_equal(run, group) {
        return None;
    }
    let place = run.place(doing);
    let compared = Compared::of(run, doing, &group.ranks)?;
    let kind = kind(facts, group, doing);
    let waiting_ns = group.blamed.ns();
    let (at, _) = group.blamed.longest()?;
    let waits_at = at.callpath.map(|callpath| Place::of(&run.callpaths, callpath));
    let waiting_ranks = waiting_ranks(run, group);
    let subject = capital(&ranks(&group.ranks));
    let does = does(run, &group.ranks, doing, compared.here.ns);
    let is_no_longer = kind != Kind::MasterSaturated && is_no_longer(run, group, &compared);
    let others = if is_no_longer {
        ", no longer than others that do it".to_owned()
    } else {
        compared.others(run, &group.ranks)
    };
    let region = region(run, group, doing);
    let in_region =
        region.as_ref().map_or_else(String::new, |place| format!(" (in {})", place.name()));
    let lost_ns = processor::may_be_lost_ns(facts, group);
    let lost = lost_ns.map_or_else(String::new, |lost_ns| {
        let had = if_many(&group.ranks, "was", "were");
        format!(", but {had} ready to run without a processor for up to {}", ns(lost_ns))
    });
    let sentence = format!(
        "{subject} {does}{in_region}{}{lost}; {} {} {} for {}{}",
        others,
        ranks(&waiting_ranks),
        if_many(&waiting_ranks, "waits", "wait"),
        ns(waiting_ns),
        if_many(&group.ranks, "it", "them"),
        where_they_wait(run, group, &place),
    );
    let (kind, certainty, advice) = match lost_ns {
        Some(_) => (Kind::Oversubscription, Certainty::AtMost, oversubscribed::ADVICE.to_owned()),
        None if is_no_longer => (
            kind,
            certainty_of(facts, group),
            format!(
                "{subject} {} no longer there than others, but {} later: what {} for should come \
                 earlier, or be done while others work.",
                if_many(&group.ranks, "takes", "take"),
                if_many(&group.ranks, "begins", "begin"),
                if_many(&group.ranks, "it waits", "they wait"),
            ),
        ),
        None => (kind, certainty_of(facts, group), advice(run, kind, group, doing, &compared)),
    };
    Some(Finding {
        certainty,
        ranks: group.ranks.clone(),
        place: Some(place),
        waits_at,
        waiting_ranks,
        chain: chain(facts, group),
        ..Finding::new(kind, run.a_rank_ns(waiting_ns), sentence, advice)
    })
}

/// Returns whether those others that do the same as a group take as long, and there are enough of
/// them to say so: then it is when the group begins that makes others wait.
fn is_no_longer(run: &Run, group: &Group, compared: &Compared) -> bool {
    let others = (run.used() as u64).saturating_sub(group.ranks.len());
    others > 0
        && compared.elsewhere.visits > 0.0
        && compared.here.ns < LONGER_BY * compared.elsewhere.ns
        && compared.work_elsewhere_ns(run, &group.ranks).is_none()
}

/// Returns the region that takes most of the extra time of a computation before a call, if one
/// does.
fn region(run: &Run, group: &Group, doing: Doing) -> Option<Place> {
    let Doing::Before(_) = doing else { return None };
    let excess = |visits: &[Visits]| excess_ns(visits, &group.ranks);
    let wanted = excess(run.activities.of(doing)?);
    // The region of the whole program says nothing.
    let inner = run
        .regions
        .iter()
        .filter(|(region, _)| run.callpaths.get(region.callpath()).parent.is_some());
    let most = inner.map(|(region, visits)| (region, excess(visits)));
    let (region, found) = most.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (wanted > 0.0 && found >= 0.6 * wanted).then(|| Place::of(&run.callpaths, region.callpath()))
}

fn kind(facts: &Facts<'_>, group: &Group, doing: Doing) -> Kind {
    let run = facts.run;
    if matches!(doing, Doing::In(at) if run.calls.get(&at).is_some_and(Call::is_file)) {
        return Kind::SerialIo;
    }
    if let Some(kind) = masters::kind(run, group) {
        return kind;
    }
    if is_slow(run, group) {
        return Kind::SlowRank;
    }
    match group.blamed.longest().map(|(at, _)| at.pattern) {
        Some(Pattern::LateReceiver) => Kind::LateReceiver,
        Some(Pattern::LateBroadcast) => Kind::LateRoot,
        Some(Pattern::LateSender | Pattern::LateSenderWrongOrder) | None => Kind::LateSender,
        Some(
            Pattern::WaitAtFence | Pattern::LatePost | Pattern::EarlyWait | Pattern::LockContention,
        ) => Kind::LateToWindow,
        Some(_) => Kind::LateToCollective,
    }
}

/// Returns whether senders would gain by receives that are posted earlier. They do not where they
/// need data of the late ranks as well, for which they wait then; or where the late ranks have no
/// time to spare.
fn could_receive_earlier(run: &Run, group: &Group) -> bool {
    let waiting = waiting_ranks(run, group);
    let mut pairs = waiting.iter().flat_map(|to| group.ranks.iter().map(move |from| (to, from)));
    let of_late = run.waits.all.iter().filter(|wait| group.ranks.contains(wait.rank));
    let idle_ns: u128 = of_late.map(|wait| u128::from(wait.ns)).sum();
    !pairs.any(|pair| run.received.contains_key(&pair))
        && crate::ns(idle_ns) >= IDLE_PART * group.blamed.ns()
}

/// Returns whether most of the waiting for late receivers is for ranks that have posted their
/// receives in time, and get the messages in calls that only complete them.
fn is_posted(run: &Run, group: &Group) -> bool {
    let posts = |at: CallpathIndex| {
        let function = run.calls.get(&at).map_or("", |call| &call.function);
        function.to_ascii_lowercase().contains("recv") || function.starts_with("MPI_Start")
    };
    let of_group = run.waits.all.iter().filter(|wait| {
        wait.pattern == Pattern::LateReceiver && group.ranks.contains(wait.for_rank)
    });
    let (mut posted_ns, mut all_ns) = (0, 0);
    for wait in of_group {
        let ns = u128::from(wait.ns);
        all_ns += ns;
        posted_ns += if wait.from.is_some_and(|from| !posts(from)) { ns } else { 0 };
    }
    2 * posted_ns > all_ns
}

/// Returns whether a rank takes longer in nearly all of its activities that count.
fn is_slow(run: &Run, group: &Group) -> bool {
    if group.ranks.len() != 1 {
        return false;
    }
    let all = run.activities.iter().filter_map(|(doing, _)| Compared::of(run, doing, &group.ranks));
    let all: Vec<Compared> = all.collect();
    let excesses = all.iter().map(|one| (one.here.ns - one.elsewhere.ns).max(0.0));
    let (sum_ns, largest_ns) =
        excesses.fold((0.0, 0.0), |(sum, largest): (f64, f64), ns| (sum + ns, largest.max(ns)));
    if largest_ns > SLOW_BY_ONE * sum_ns {
        return false;
    }
    let most_ns = all.iter().map(|one| one.elsewhere.ns).fold(0.0, f64::max);
    let counts: Vec<&Compared> = all
        .iter()
        .filter(|one| one.elsewhere.ns >= 0.1 * most_ns && one.elsewhere.ns > 0.0)
        .collect();
    let slow = counts.iter().filter(|one| one.here.ns >= SLOWER_BY * one.elsewhere.ns).count();
    counts.len() >= SLOW_ACTIVITIES_MIN
        && crate::ns(slow as u128) >= SLOW_ACTIVITIES * crate::ns(counts.len() as u128)
}

pub(super) fn advice(
    run: &Run,
    kind: Kind,
    group: &Group,
    doing: Doing,
    compared: &Compared,
) -> String {
    let who = ranks(&group.ranks);
    let visits = run.activities.of(doing).unwrap_or_default();
    let split = Imbalance::of(visits);
    if let Some(between) = between_tests(run, &group.ranks, doing) {
        let each = ns(between.each_ns());
        return format!(
            "{} {} up to {each} late what has come: wait for it (MPI_Wait), or test more often.",
            capital(&who),
            if_many(&group.ranks, "notices", "notice")
        );
    }
    match kind {
        Kind::SerialIo => format!(
            "Let all ranks read or write their own part, as with MPI_File_write_at_all, or let the \
             others go on while {who} does it."
        ),
        Kind::SlowRank => format!(
            "{} is slower in nearly everything that it does: look at its host and at what else \
             runs there, then at its part of the input.",
            capital(&who)
        ),
        Kind::MasterSaturated => format!(
            "{} cannot serve the others fast enough: hand out larger pieces of work, do less there \
             for each, or divide the others among several masters.",
            capital(&who)
        ),
        Kind::LateReceiver if could_receive_earlier(run, group) && is_posted(run, group) => {
            format!(
                "Its receive is there in time, but MPI sends the message only while {who} {} in MPI: \
             call MPI_Test during that work, or let MPI have a thread for it \
             (MPICH_ASYNC_PROGRESS=1 for MPICH).",
                if_many(&group.ranks, "is", "are")
            )
        }
        Kind::LateReceiver if could_receive_earlier(run, group) => format!(
            "Post the receive before that work on {who} (MPI_Irecv), or send with MPI_Isend."
        ),
        _ if compared.work_elsewhere_ns(run, &group.ranks).is_some() => {
            format!("Give {who} less work there, or find out why that takes longer than elsewhere.")
        }
        _ if split.single.is_some() && visits.len() > 1 => format!(
            "No other rank does this: divide it among the ranks, or let the others go on while \
             {who} {} it.",
            if_many(&group.ranks, "does", "do")
        ),
        _ if compared.is_by_count(&split) && compared.elsewhere.visits < 1.0 => {
            format!("Give {who} less work there, or divide it among more ranks.")
        }
        _ if compared.is_by_count(&split) => format!(
            "Give {who} fewer of these {:.0} visits (the others have {:.0}).",
            compared.here.visits, compared.elsewhere.visits
        ),
        Kind::LateRoot => {
            let at = group.blamed.longest().and_then(|(at, _)| at.callpath);
            let function = at.and_then(|at| run.calls.get(&at)).map_or("", |call| &call.function);
            let earlier =
                if function.starts_with("MPI_Scatter") { "MPI_Iscatter" } else { "MPI_Ibcast" };
            format!("Let {who} do less before the data is sent, or send it earlier ({earlier}).")
        }
        _ => {
            let (here, elsewhere) = (compared.here, compared.elsewhere.per_visit_ns());
            let takes = match uneven_ns(run, &group.ranks, doing) {
                Some(longest_ns) => format!("one visit takes up to {}, and", ns(longest_ns)),
                None if here.visits <= 1.0 => format!("it takes {} and", ns(here.per_visit_ns())),
                None => format!("a visit takes {} and", ns(here.per_visit_ns())),
            };
            format!(
                "Give {who} less work there, or find out why {takes} {} elsewhere.",
                ns(elsewhere)
            )
        }
    }
}
