//! Level `messages`: what has made ranks wait is what the programs make late.

use tinyprof_format::model::{Activity, Cause, DelayCost, EdgeKey, EdgeKind, Profile, RankCauses};
use tinyprof_why::Why;

use crate::messages::{Way, edges, run, run_with};
use crate::support::compile;
use crate::why::ATTEMPTS;

/// The time of the rank that is late, and how often.
const LATE_US: u64 = 20_000;
const REPETITIONS: u64 = 20;
/// All of it.
const LATE_NS: u64 = LATE_US * 1_000 * REPETITIONS;

/// Runs a pattern of `late.c` on one host. A rank that loses its processor while it writes down its
/// causes cannot be read meanwhile: if that happens, it is run again.
fn late(pattern: &str, ranks: usize) -> Profile {
    let is_read =
        |profile: &Profile| (0..ranks).all(|rank| causes(profile, rank).facts.unread == 0);
    let mut profiles = (0..ATTEMPTS).map(|_| late_on(Way::Lanes, pattern, ranks));
    let profile = profiles.find(is_read).expect("causes can be read");
    check_sums(&profile);
    profile
}

/// Runs a pattern of `late.c`.
fn late_on(way: Way, pattern: &str, ranks: usize) -> Profile {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("late.c", directory.path());
    let [repetitions, late_us] = [REPETITIONS, LATE_US].map(|number| number.to_string());
    run(way, &program, &[pattern, &repetitions, &late_us], ranks, &directory)
}

fn causes(profile: &Profile, rank: usize) -> &RankCauses {
    profile.ranks[rank].causes.as_deref().expect("ranks that share memory know causes")
}

/// Checks that the costs are the waiting that is said, and that the critical path is as long as the
/// run.
fn check_sums(profile: &Profile) {
    for rank in 0..profile.ranks.len() {
        // Nothing is known before MPI has begun.
        let said = edges(profile).filter(|(name, at, key, _)| {
            *at == rank && key.kind.waits() && !name.starts_with("MPI_Init ")
        });
        let said_ns: u64 = said.map(|(.., edge)| edge.sum_ns).sum();
        let found = causes(profile, rank);
        let facts = &found.facts;
        assert_eq!((facts.unread, facts.late, facts.forgotten), (0, 0, 0), "rank {rank}");
        let known_ns = found.waited_ns() + facts.short_ns + facts.unfollowed_ns;
        let most_ns = said_ns / 50 + 1_000_000;
        assert!(
            known_ns.abs_diff(said_ns) <= most_ns,
            "rank {rank}: {known_ns} of {said_ns} ns: {found:#?}"
        );
    }
    // Time counts from the begin of the rank that is the first.
    let longer_ns = (0..profile.ranks.len()).map(|rank| {
        let found = causes(profile, rank);
        let sum_ns: u64 = found.path.iter().map(|part| part.ns).sum();
        assert_eq!(sum_ns, found.facts.ended_ns, "the path is whole");
        let (ended_ns, own_ns) = (found.facts.ended_ns, own_run_ns(profile, rank));
        let least_ns = own_ns - own_ns / 100 - 2_000_000;
        assert!(ended_ns >= least_ns, "rank {rank}: {ended_ns} of {own_ns} ns: {found:#?}");
        (ended_ns.saturating_sub(own_ns), own_ns)
    });
    let (least_ns, own_ns) = longer_ns.min().expect("there are ranks");
    // Nobody knows how long that rank took from its last call to the one that ends MPI.
    assert!(least_ns <= own_ns / 10 + 50_000_000, "{least_ns} of {own_ns} ns");
}

/// Returns the time of a rank between the calls that begin and end MPI, and up to when all had come
/// to the latter, in ns.
fn own_run_ns(profile: &Profile, rank: usize) -> u64 {
    let own = || edges(profile).filter(move |(_, at, ..)| *at == rank);
    let flows = own()
        .filter(|(name, _, key, _)| key.kind == EdgeKind::Flow && !name.starts_with("MPI_Init "));
    let calls = profile.callpaths.iter().filter(|(_, callpath)| {
        let name = callpath.region.name.as_str();
        // The profile is written in the latter.
        !["MPI_Init ", "MPI_Finalize "].iter().any(|end| name.starts_with(end))
            && name.starts_with("MPI_")
    });
    let calls = calls.map(|(index, _)| profile.values[index.row()][rank].inclusive_ns());
    let end = own().filter(|(name, ..)| name.starts_with("MPI_Finalize "));
    let end = end.map(|(.., edge)| edge.sum_ns + edge.transfer_ns);
    flows.map(|(.., edge)| edge.sum_ns).chain(calls).chain(end).sum()
}

/// Returns whether a callpath is of a call of a function.
fn is_at(name: &str, function: &str) -> bool {
    name.strip_prefix(function).is_some_and(|place| place.starts_with(" at "))
}

/// Returns the direct and the propagated waiting of a rank for what another one did in the gap
/// before a function, in ns.
fn costs_ns(profile: &Profile, rank: usize, of: u32, before: &str) -> (u64, u64) {
    let name = |activity| {
        let Some(Activity::Gap { to, .. }) = activity else { return None };
        let rows = profile.callpaths.rows();
        rows.iter().find(|row| row.id == to).map(|row| row.region.name.as_str())
    };
    let found = causes(profile, rank);
    let costs = found.costs.iter().filter(|cost| {
        cost.cause.rank() == Some(of)
            && name(found.activity(cost.cause)).is_some_and(|name| is_at(name, before))
    });
    costs.fold((0, 0), |sum, cost| (sum.0 + cost.direct.ns, sum.1 + cost.propagated.ns))
}

/// Returns the part of the critical path that a rank spent in the gap before a function, or any had
/// no processor, in ns.
fn on_path_ns(profile: &Profile, of: u32, before: &str) -> u64 {
    let all: Vec<_> = profile.ranks.iter().map(|rank| rank.causes.as_deref().cloned()).collect();
    let (_, last) = RankCauses::last(&all).expect("there are causes");
    let is_there = |cause: Cause| {
        if matches!(cause, Cause::Activity { number: Activity::NO_PROCESSOR, .. }) {
            return true;
        }
        let Some(Activity::Gap { to, .. }) = last.activity(cause) else { return false };
        let rows = profile.callpaths.rows();
        let is_before = rows.iter().any(|row| row.id == to && is_at(&row.region.name, before));
        is_before && cause.rank() == Some(of)
    };
    last.path.iter().filter(|part| is_there(part.cause)).map(|part| part.ns).sum()
}

/// Checks that another rank has waited for what a rank did in the gap before a function, directly
/// or not, and for no other computation longer. Ranks without a processor are late in calls, too.
fn check_cause(profile: &Profile, rank: usize, of: u32, before: &str) {
    let (direct, propagated) = costs_ns(profile, rank, of, before);
    let found = causes(profile, rank);
    let found_ns = direct + propagated;
    assert!(found_ns > LATE_NS / 10, "{direct} {propagated} {found:#?}");
    let gaps = found
        .costs
        .iter()
        .filter(|cost| matches!(found.activity(cost.cause), Some(Activity::Gap { .. })));
    let most_ns = gaps.map(DelayCost::total_ns).max().unwrap_or(0);
    assert!(found_ns >= most_ns, "{direct} {propagated} {found:#?}");
}

#[test]
fn a_late_sender_is_late_by_what_it_computes_before_it_sends() {
    let profile = late("sender", 2);
    check_cause(&profile, 1, 0, "MPI_Send");
    assert_eq!(costs_ns(&profile, 1, 0, "MPI_Send").1, 0, "nobody has delayed the first rank");
    assert!(on_path_ns(&profile, 0, "MPI_Send") > LATE_NS * 9 / 10);
}

#[test]
fn what_delays_the_first_of_a_chain_is_passed_on_to_the_last() {
    let profile = late("chain", 3);
    check_cause(&profile, 1, 0, "MPI_Send");
    let (_, propagated) = costs_ns(&profile, 2, 0, "MPI_Send");
    assert!(propagated > LATE_NS / 10, "{propagated} {:#?}", causes(&profile, 2));
    assert!(on_path_ns(&profile, 0, "MPI_Send") > LATE_NS * 3 / 4);
}

#[test]
fn ranks_of_other_hosts_tell_what_they_did_before_they_sent() {
    let profile = late_on(Way::Hosts, "sender", 2);
    check_cause(&profile, 1, 0, "MPI_Send");
    assert_eq!(costs_ns(&profile, 1, 0, "MPI_Send").1, 0, "nobody has delayed the first rank");
    assert!(on_path_ns(&profile, 0, "MPI_Send") > LATE_NS * 9 / 10);
    // The first rank is on the host of the last.
    let profile = late_on(Way::Hosts, "chain", 3);
    check_cause(&profile, 1, 0, "MPI_Send");
    let (_, propagated) = costs_ns(&profile, 2, 0, "MPI_Send");
    assert!(propagated > LATE_NS / 10, "{propagated} {:#?}", causes(&profile, 2));
}

#[test]
fn the_last_rank_of_an_operation_tells_those_of_other_hosts() {
    let profile = late_on(Way::Hosts, "barrier", 3);
    for rank in [0, 1] {
        check_cause(&profile, rank, 2, "MPI_Barrier");
        assert_eq!(causes(&profile, rank).facts.unread, 0, "rank {rank}");
    }
    assert!(on_path_ns(&profile, 2, "MPI_Barrier") > LATE_NS / 2);
    let profile = late_on(Way::Hosts, "root", 3);
    for rank in [1, 2] {
        check_cause(&profile, rank, 0, "MPI_Bcast");
        assert_eq!(causes(&profile, rank).facts.unread, 0, "rank {rank}");
    }
}

/// More is waited for start-up than for anything else.
#[test]
fn a_host_that_begins_late_hides_no_cause() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("late.c", directory.path());
    let [repetitions, late_us] = [REPETITIONS, LATE_US].map(|number| number.to_string());
    let slow = vec![("HOSTS_SLOW_START_MS", "1500".into())];
    let arguments = ["barrier", &repetitions, &late_us];
    let profile = run_with(slow, Way::Hosts, &program, &arguments, 2, &directory);
    let (direct, _) = costs_ns(&profile, 0, 1, "MPI_Barrier");
    let found = causes(&profile, 0);
    assert!(direct > LATE_NS / 4, "{direct} {found:#?}");
    let is_startup = |activity: Option<Activity>| matches!(activity, Some(Activity::Gap { from, .. }) if from == EdgeKey::UNKNOWN);
    let startup = found.costs.iter().filter(|cost| is_startup(found.activity(cost.cause)));
    let startup_ns: u64 = startup.map(DelayCost::total_ns).sum();
    assert!(startup_ns > 1_000_000_000, "{startup_ns} {found:#?}");
    let said = Why::of_profile(&profile).to_json();
    let certainties = said["findings"].as_array().into_iter().flatten();
    let certainties: Vec<_> = certainties.map(|finding| &finding["certainty"]).collect();
    assert!(certainties.iter().any(|certainty| *certainty == "measured"), "{said:#}");
}

#[test]
fn a_rank_that_comes_late_to_a_barrier_is_late_by_what_it_computes() {
    let profile = late("barrier", 3);
    for rank in [0, 1] {
        check_cause(&profile, rank, 2, "MPI_Barrier");
    }
    assert!(on_path_ns(&profile, 2, "MPI_Barrier") > LATE_NS / 2);
}

#[test]
fn a_late_root_is_late_by_what_it_computes_before_it_broadcasts() {
    let profile = late("root", 3);
    for rank in [1, 2] {
        check_cause(&profile, rank, 0, "MPI_Bcast");
    }
}

#[test]
fn a_late_receiver_is_late_by_what_it_computes_before_it_receives() {
    check_cause(&late("receiver", 2), 0, 1, "MPI_Recv");
}

#[test]
fn what_a_late_receiver_did_is_passed_on_before_its_sender_hears_of_it() {
    let profile = late("behind", 3);
    check_cause(&profile, 0, 1, "MPI_Irecv");
    let (direct, _) = costs_ns(&profile, 0, 1, "MPI_Irecv");
    assert!(direct > LATE_NS / 2, "{direct} {:#?}", causes(&profile, 0));
    let (_, propagated) = costs_ns(&profile, 2, 1, "MPI_Irecv");
    assert!(propagated > LATE_NS / 2, "{propagated} {:#?}", causes(&profile, 2));
    // The sender hears of it in its next call, and its path goes through the receiver all the same.
    assert!(on_path_ns(&profile, 1, "MPI_Irecv") > LATE_NS * 7 / 10);
}
