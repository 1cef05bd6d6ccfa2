//! The facts of the run as a whole.

use super::super::hint::HintScope;
use super::super::phrases::{mostly, name, on_host};
use super::super::run::Run;
use super::super::values::Values;
use super::Subject;
use crate::facts::numbers::{float, ratio, whole};
use crate::facts::statistics::regions::Region;
use crate::facts::usage::Activity;
use crate::words::units::time;

/// The minimum difference between the slowest and the fastest rank in a communicating region, as a
/// part of the slowest rank's time, that is called waiting.
const WAITING_PART: f64 = 0.25;

pub(super) fn subject(run: &Run<'_>) -> Subject {
    let mut values = Values::default();
    let times = run.statistics.times();
    values.number("ranks", f64::from(run.count()));
    values.number("seconds", run.a_rank_ns(times.total_ns) * 1e-9);
    if let Some(cost) = run.overhead {
        values.number("writing_seconds", float(cost.writing_ns) * 1e-9);
    }
    efficiency(run, &mut values);
    processors(run, &mut values);
    let ranks = run.busiest().map(|(rank, _)| rank).into_iter().collect();
    let first = |activity| run.regions_of(activity).first().map(|region| region.callpath);
    let costliest = [first(Activity::Communication), first(Activity::InputOutput)];
    Subject { ranks, costliest, ..Subject::new(HintScope::Run, values) }
}

fn efficiency(run: &Run<'_>, values: &mut Values) {
    let Some(found) = run.efficiency else { return };
    let times = run.statistics.times();
    let others_ns = times.total_ns.saturating_sub(times.useful_ns).saturating_sub(times.io_ns);
    values.number("load_balance", found.load_balance);
    values.number_if("parallel_efficiency", found.parallel);
    values.number_if("communication_efficiency", found.communication);
    values.number("longest_seconds", float(times.total_max_ns) * 1e-9);
    values.number("communication_share", ratio(others_ns, times.total_ns));
    values.number("communication_seconds", run.a_rank_ns(others_ns) * 1e-9);
    values.number("io_share", found.io_share);
    values.number("io_seconds", run.a_rank_ns(times.io_ns) * 1e-9);
    let (max_ns, mean_ns) = (float(times.useful_max_ns), run.a_rank_ns(times.useful_ns));
    values.number("busiest_seconds", max_ns * 1e-9);
    values.number("useful_seconds", mean_ns * 1e-9);
    let busiest = run.busiest().map_or_else(
        || "one rank".to_owned(),
        |(rank, host)| format!("rank {rank}{}", on_host(run, host)),
    );
    values.text("busiest", busiest);
    let communication = run.regions_of(Activity::Communication);
    values.text("communication_mostly", mostly(run, &communication));
    values.text(
        "communication_waiting",
        communication.first().map_or_else(String::new, |first| waiting(run, first)),
    );
    values.text("io_mostly", mostly(run, &run.regions_of(Activity::InputOutput)));
}

/// Returns a sentence on ranks that wait for each other in a region, if the times of ranks differ
/// by so much.
fn waiting(run: &Run<'_>, region: &Region<'_>) -> String {
    let spread = run.row(region.callpath).exclusive;
    let (min, max) = (float(spread.min_ns), float(spread.max_ns));
    if max - min < WAITING_PART * max {
        return String::new();
    }
    format!(
        " In {} it takes {} on one rank and {} on rank {}: the difference is waiting.",
        name(run, region.callpath),
        time(whole(min)),
        time(whole(max)),
        spread.max_rank,
    )
}

/// Adds what is known of time without a processor. How many ranks and processors there are proves
/// nothing, as ranks may sleep, or be kept to some of the processors.
fn processors(run: &Run<'_>, values: &mut Values) {
    let times = run.statistics.times();
    let Some(share) = times.delay_share() else { return };
    let a_rank_s = |sum_ns: u128| ratio(sum_ns, times.followed_ranks.max(1).into()) * 1e-9;
    values.number("no_processor_share", share);
    values.number("no_processor_seconds", a_rank_s(times.delay_ns));
    values.number("threads_seconds", a_rank_s(times.threads_ns));
    let useful = match times.useful_delay_ns {
        0 => String::new(),
        ns => format!(" At least {} of it was computation.", time(whole(a_rank_s(ns) * 1e9))),
    };
    values.text("no_processor_useful", useful);
    let crowded = run.occupancy.filter(|of| of.is_crowded());
    values.text(
        "crowded",
        crowded.map_or_else(String::new, |of| {
            format!(": {} share the {} CPUs of a host", of.ranks, of.cpus)
        }),
    );
    values.text(
        "crowded_advice",
        crowded.map_or_else(
            || "Look which CPUs the ranks are bound to, and what else runs there.".to_owned(),
            |of| format!("Start at most {} ranks a host, and nothing beside them.", of.cpus),
        ),
    );
}
