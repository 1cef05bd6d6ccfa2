//! The advice about ranks that others wait for.

use tinyprof_format::model::CallpathIndex;
use tinyprof_messages::delay::Imbalance;
use tinyprof_messages::waiting::Pattern;

use super::evidence::{Compared, uneven_ns, waiting_ranks};
use super::groups::Group;
use crate::facts::activities::Doing;
use crate::facts::run::Run;
use crate::finding::Kind;
use crate::phrases::{between_tests, capital, if_many, ns, ranks};

/// The part of the waiting for late receivers that these have to wait themselves: otherwise they
/// have no time in which they could receive earlier.
const IDLE_PART: f64 = 0.3;

/// Returns what to do about the ranks of a group, which others wait for because of what they do.
pub(super) fn advice(
    run: &Run,
    kind: Kind,
    group: &Group,
    doing: Doing,
    compared: &Compared,
) -> String {
    let who = ranks(&group.ranks);
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
        _ => less_work(run, kind, group, (doing, compared)),
    }
}

/// Returns how late ranks could do less, or what they do be earlier.
fn less_work(
    run: &Run,
    kind: Kind,
    group: &Group,
    (doing, compared): (Doing, &Compared),
) -> String {
    let who = ranks(&group.ranks);
    let visits = run.activities.of(doing).unwrap_or_default();
    let split = Imbalance::of(visits);
    match kind {
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
        Kind::LateRoot => format!(
            "Let {who} do less before the data is sent, or send it earlier ({}).",
            sent_earlier(run, group)
        ),
        _ => format!(
            "Give {who} less work there, or find out why {} {} elsewhere.",
            takes(run, group, (doing, compared)),
            ns(compared.elsewhere.per_visit_ns())
        ),
    }
}

/// Returns the function by which a late root would send its data without waiting.
fn sent_earlier(run: &Run, group: &Group) -> &'static str {
    let at = group.blamed.longest().and_then(|(at, _)| at.callpath);
    let function = at.and_then(|at| run.calls.get(&at)).map_or("", |call| &call.function);
    if function.starts_with("MPI_Scatter") { "MPI_Iscatter" } else { "MPI_Ibcast" }
}

/// Returns `a visit takes 14 ms and`.
fn takes(run: &Run, group: &Group, (doing, compared): (Doing, &Compared)) -> String {
    let here = compared.here;
    match uneven_ns(run, &group.ranks, doing) {
        Some(longest_ns) => format!("one visit takes up to {}, and", ns(longest_ns)),
        None if here.visits <= 1.0 => format!("it takes {} and", ns(here.per_visit_ns())),
        None => format!("a visit takes {} and", ns(here.per_visit_ns())),
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
