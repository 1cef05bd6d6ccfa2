//! Ranks with more work than others, in profiles that do not say who waits for whom.

use tinyprof_messages::delay::Visits;
use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;

use super::Facts;
use super::busy::{OfRanks, is_test};
use super::oversubscribed::ADVICE;
use super::processor::mean_lost_ns;
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
    let balance = Balance::of(run).filter(|balance| facts.is_large(balance.waiting_ns))?;
    let late = &balance.late;
    let (place, doing) = place(run, late);
    let waits_at = waits_at(run, &balance.early, late);
    let call = match doing {
        Some(Doing::In(at)) => run.calls.get(&at),
        _ => None,
    };
    let is_file = call.is_some_and(Call::is_file);
    let lost_ns = if is_file { None } else { lost_ns(run, &balance) };
    let kind = match lost_ns {
        Some(_) => Kind::Oversubscription,
        None if is_file => Kind::SerialIo,
        None => Kind::Imbalance,
    };
    let sentence = sentence(run, &balance, (&place, doing), lost_ns, waits_at.as_ref());
    let why = format!(
        "{} in calls of MPI for a shorter time than the others",
        if_many(late, "is", "are")
    );
    let link = Link { ranks: late.clone(), place: place.clone(), ns: balance.waiting_ns, why };
    let advice = advice(run, kind, late, call.is_some());
    Some(Finding {
        certainty: Certainty::AtMost,
        ranks: balance.late,
        place,
        waits_at,
        waiting_ranks: balance.early,
        chain: vec![link],
        ..Finding::new(kind, run.a_rank_ns(balance.waiting_ns), sentence, advice)
    })
}

/// How long ranks are busy, and which of them others may wait for.
struct Balance {
    late: RankSet,
    early: RankSet,
    /// The mean time that late ranks are busy, and the others, in ns.
    late_ns: f64,
    others_ns: f64,
    /// The time of all ranks for which they may wait for the late ones, in ns.
    waiting_ns: f64,
}

impl Balance {
    /// Returns none of a run in which no rank can be busier than others.
    fn of(run: &Run) -> Option<Self> {
        let of_ranks = OfRanks::of(run);
        let busy_ns = &of_ranks.busy_ns;
        let least_ns: Vec<f64> =
            (0..run.ranks).map(|rank| of_ranks.certainly_busy_ns(run, rank)).collect();
        let used = run.used();
        let most_ns = least_ns.iter().copied().fold(0.0, f64::max);
        if used < 2 || most_ns <= 0.0 {
            return None;
        }
        let mean_ns = busy_ns.iter().sum::<f64>() / crate::ns(used as u128);
        // Only as long as a rank is in calls that may wait.
        let waiting = busy_ns.iter().zip(&of_ranks.may_wait_ns);
        let waiting: Vec<f64> = waiting
            .map(|(busy_ns, may_wait_ns)| (most_ns - busy_ns).max(0.0).min(*may_wait_ns))
            .collect();
        let most_waiting_ns = if run.has_messages() { run.not_followed_ns } else { f64::INFINITY };
        let is_used = |rank: &usize| run.rank_ns[*rank] > 0;
        let used_ns = (0..run.ranks).filter(is_used).map(|rank| busy_ns[rank]);
        let halfway = f64::midpoint(most_ns, used_ns.fold(most_ns, f64::min));
        let of = |is_in: &dyn Fn(usize) -> bool| -> RankSet {
            let all = (0_u32..).zip(0..run.ranks);
            all.filter(|(_, rank)| is_in(*rank)).map(|(number, _)| number).collect()
        };
        let late = of(&|rank| least_ns[rank] >= halfway);
        let is_early = |rank: usize| {
            waiting[rank] > 0.0
                && waiting[rank] >= 0.1 * (most_ns - mean_ns)
                && busy_ns[rank] < halfway
        };
        Some(Self {
            early: of(&is_early),
            late_ns: mean(busy_ns, |rank| late.contains(rank)),
            others_ns: mean(busy_ns, |rank| !late.contains(rank)),
            waiting_ns: waiting.iter().sum::<f64>().min(most_waiting_ns),
            late,
        })
    }
}

/// Returns how long late ranks may have been without a processor on average, in ns, if that may be
/// all that they are busy for longer: it cannot be longer than they are busy.
fn lost_ns(run: &Run, balance: &Balance) -> Option<f64> {
    let lost_ns = mean_lost_ns(run, &balance.late).min(balance.late_ns);
    (lost_ns >= balance.late_ns - balance.others_ns).then_some(lost_ns)
}

/// Returns `Rank 1 spends 145 ms in copy (a.c:8), the others 9 ms; ranks 0,2-3 may wait ...`.
fn sentence(
    run: &Run,
    balance: &Balance,
    (place, doing): (&Option<Place>, Option<Doing>),
    lost_ns: Option<f64>,
    waits_at: Option<&Place>,
) -> String {
    let late = &balance.late;
    let where_ = if matches!(doing, Some(Doing::Before(_))) { "before" } else { "in" };
    let at = place
        .as_ref()
        .map_or_else(|| "outside of MPI".to_owned(), |place| format!("{where_} {}", place.name()));
    let (late_shown, others_shown) = match doing.and_then(|doing| run.activities.of(doing)) {
        Some(visits) => (mean_of(visits, late, true), mean_of(visits, late, false)),
        None => (balance.late_ns, balance.others_ns),
    };
    let lost = lost_ns.map_or_else(String::new, |lost_ns| {
        let had = if_many(late, "was", "were");
        format!(", but {had} ready to run without a processor for up to {}", ns(lost_ns))
    });
    format!(
        "{} {} {} {at}, the others {}{lost}; {} may wait {} for {}{}",
        capital(&ranks(late)),
        if_many(late, "spends", "spend"),
        ns(late_shown),
        ns(others_shown),
        ranks(&balance.early),
        ns(balance.waiting_ns),
        if_many(late, "it", "them"),
        waits_at.map_or_else(String::new, |place| format!(", mostly in {}", place.name())),
    )
}

/// Returns what to do about late ranks; `is_call` if what they do longer is a call of MPI.
fn advice(run: &Run, kind: Kind, late: &RankSet, is_call: bool) -> String {
    let more = if run.has_messages() { NOT_FOLLOWED } else { MORE };
    match kind {
        Kind::Oversubscription => format!("{ADVICE} {more}"),
        Kind::SerialIo => {
            "Let all ranks read or write their own part, as with MPI_File_write_at_all, or let the \
             others go on meanwhile."
                .to_owned()
        }
        _ if is_call => {
            format!("Look at what that call moves on {}, and when it is made. {more}", ranks(late))
        }
        _ => format!("Give {} less work. {more}", ranks(late)),
    }
}

/// Returns the tests of all ranks.
fn tests_of(run: &Run) -> impl Iterator<Item = (Doing, &[Visits])> {
    run.activities.iter().filter(|(doing, _)| is_test(run, *doing))
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
        .filter(|(doing, _)| !is_test(run, *doing))
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
    let tests = tests_of(run);
    let calls = run.may_wait.iter().chain(tests);
    let longest = calls.max_by(|a, b| longer(a.1).total_cmp(&longer(b.1)));
    longest.map(|(doing, _)| Place::of(&run.callpaths, doing.callpath()))
}

#[cfg(test)]
mod tests {
    use tinyprof_format::text::read_text;
    use tinyprof_report::Totals;

    use super::*;
    use crate::blame::Blame;
    use crate::facts::run::RunBuilder;

    const MS: u64 = 1_000_000;

    /// Returns a run of 1 s at level `calls`. Each rank has these ms outside of MPI, in `MPI_Test`,
    /// and asleep; it is in `MPI_Barrier` for the rest.
    fn run(of_ranks: &[[u64; 3]]) -> Run {
        let times = vec!["0"; of_ranks.len()].join("|");
        let text = format!(
            "id,parent,tag,is_loop,times\nmain,null,null,0,{times}\nMPI_Test,main,COMM,0,{times}\n\
             MPI_Barrier,main,COMM,0,{times}\n"
        );
        let profile = read_text(text.as_bytes()).expect("it is right").profile;
        let totals = Totals::of_profile(&profile);
        let mut run = RunBuilder::new(&profile.callpaths, of_ranks.len()).finish(&totals);
        let [main, test, barrier] = ["main", "MPI_Test", "MPI_Barrier"].map(|name| {
            let mut rows = profile.callpaths.iter();
            let is_it = |index| crate::place::Place::of(&profile.callpaths, index).name() == name;
            rows.find(|(index, _)| is_it(*index)).expect("it is there").0
        });
        run.rank_ns = vec![1_000 * MS; of_ranks.len()];
        run.asleep_ns = of_ranks.iter().map(|[_, _, asleep_ms]| asleep_ms * MS).collect();
        run.calls.entry(test).or_default().function = "MPI_Test".to_owned();
        run.calls.entry(barrier).or_default().function = "MPI_Barrier".to_owned();
        for (rank, [busy_ms, test_ms, _]) in of_ranks.iter().enumerate() {
            let visits = |count, ms: u64| Visits { count, ns: ms * MS };
            run.activities.add(Doing::In(main), rank, visits(1, *busy_ms), 0);
            let count = if *test_ms > 0 { 1_000 } else { 0 };
            run.activities.add(Doing::In(test), rank, visits(count, *test_ms), 0);
            let rest_ms = 1_000 - busy_ms - test_ms;
            run.may_wait.add(Doing::In(barrier), rank, visits(10, rest_ms), 0);
        }
        run
    }

    /// Returns the late ranks that are found in such a run, and who waits for them, and where.
    fn found(of_ranks: &[[u64; 3]]) -> Option<(String, String)> {
        let run = run(of_ranks);
        let found = imbalance(&Facts { run: &run, blame: &Blame::default() }, &[])?;
        let at = found.waits_at.map_or_else(String::new, |place| place.name());
        Some((found.ranks.to_string(), format!("{} in {at}", found.waiting_ranks)))
    }

    fn words(ranks: &str, waiting: &str) -> Option<(String, String)> {
        Some((ranks.to_owned(), waiting.to_owned()))
    }

    #[test]
    fn tests_are_no_work() {
        assert_eq!(found(&[[100, 700, 0], [800, 0, 0]]), words("1", "0 in MPI_Test"));
        assert_eq!(found(&[[100, 0, 0], [800, 0, 0]]), words("1", "0 in MPI_Barrier"));
    }

    #[test]
    fn a_rank_that_may_sleep_between_tests_is_not_blamed() {
        assert_eq!(found(&[[800, 50, 0], [100, 0, 0]]), words("0", "1 in MPI_Barrier"));
        assert_eq!(found(&[[800, 50, 780], [100, 0, 0]]), None);
        assert_eq!(found(&[[800, 50, 300], [100, 0, 0]]), words("0", "1 in MPI_Barrier"));
        let beside = found(&[[800, 50, 780], [700, 0, 0], [100, 0, 0]]);
        assert_eq!(beside, words("1", "2 in MPI_Barrier"));
    }
    #[test]
    fn no_rank_has_lost_its_processor_for_longer_than_it_is_busy() {
        let mut run = run(&[[100, 0, 0], [800, 0, 0]]);
        let said = |run: &Run| {
            let found = imbalance(&Facts { run, blame: &Blame::default() }, &[]);
            found.map_or_else(String::new, |one| one.sentence)
        };
        run.no_processor_ns = vec![[0; 2], [0, 950 * MS]];
        let lost = "but was ready to run without a processor for up to 800 ms";
        assert!(said(&run).contains(lost), "{}", said(&run));
        run.no_processor_ns[1] = [0, 690 * MS];
        assert!(!said(&run).contains("processor"), "{}", said(&run));
    }
}
