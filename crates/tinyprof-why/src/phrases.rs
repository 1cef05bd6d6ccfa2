//! Parts of the sentences of several findings.

use tinyprof_messages::graph::RankSet;
use tinyprof_report::cells::{time, whole};

use crate::facts::activities::Doing;
use crate::facts::apart::Between;
use crate::facts::run::Run;
use crate::place::Place;

/// The maximum width of a set of ranks in a sentence, in columns.
const RANKS_COLUMNS: usize = 24;

/// Returns `rank 3`, or `ranks 0-2`.
pub(crate) fn ranks(of: &RankSet) -> String {
    let noun = if of.len() == 1 { "rank" } else { "ranks" };
    format!("{noun} {}", of.within(RANKS_COLUMNS))
}

/// Returns a sentence with a capital letter.
pub(crate) fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// Returns a time for a sentence.
pub(crate) fn ns(of: f64) -> String {
    time(whole(of))
}

/// Returns `ending`, if there are several, and `single` if there is one.
pub(crate) fn if_many<'a>(of: &RankSet, single: &'a str, many: &'a str) -> &'a str {
    if is_one(of) { single } else { many }
}

fn is_one(of: &RankSet) -> bool {
    matches!(of.runs(), [(first, last)] if *first == *last)
}

/// Returns `computes 1.64 s before MPI_Irecv at exchange (halo.c:11)`.
pub(crate) fn does(run: &Run, of: &RankSet, doing: Doing, time_ns: f64) -> String {
    let table = &run.callpaths;
    let at = run.place(doing);
    let caller = Place::caller_of(table, doing.callpath());
    let place = match caller.filter(|caller| caller.function != at.function) {
        Some(caller) => format!("{}, called in {}", at.name(), caller.name()),
        None => at.name(),
    };
    let time = ns(time_ns);
    if let Some(between) = between_tests(run, of, doing) {
        let each = ns(between.each_ns());
        let spends = if_many(of, "spends", "spend");
        return format!("{spends} {time} between tests in {place}, {each} each time");
    }
    let is_first = of.iter().all(|rank| run.activities.is_first(doing, rank));
    match doing {
        Doing::Before(_) if is_first => format!(
            "{} {time} before {} first call, {place}",
            if_many(of, "computes", "compute"),
            if_many(of, "its", "their")
        ),
        Doing::Before(_) => format!("{} {time} before {place}", if_many(of, "computes", "compute")),
        Doing::In(_) => format!("{} {time} in {place}", if_many(of, "spends", "spend")),
    }
}

/// Returns what these ranks do between two tests of a loop, if an activity is mostly that.
pub(crate) fn between_tests(run: &Run, of: &RankSet, doing: Doing) -> Option<Between> {
    let Doing::Before(test) = doing else { return None };
    let visits = run.activities.of(doing)?;
    let of_rank = |rank: u32| {
        let gap_ns = visits.get(rank as usize).map_or(0, |visits| visits.ns);
        run.apart.of(test, rank).filter(|between| between.is_most_of(crate::ns(gap_ns.into())))
    };
    of.iter().map(of_rank).collect::<Option<Vec<Between>>>()?.into_iter().max_by_key(|one| one.ns)
}
