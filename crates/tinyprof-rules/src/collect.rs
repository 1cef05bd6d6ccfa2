//! The facts of a run: of itself, its ranks, regions and calls, and of the findings in it.

use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathIndex, MessageKind};
use tinyprof_report::cells::ratio;
use tinyprof_report::{Activity, HintScope, HintSubjects, MpiCall, Report, Totals, Values};
use tinyprof_why::{Finding, Place, Why};

use crate::facts::Scope;
use crate::host_work::differences;

/// What rules are asked of: the run, and each subject by scope.
pub(crate) struct Subjects {
    pub(crate) run: Values,
    pub(crate) all: Vec<Subject>,
}

/// A subject, and where it is.
pub(crate) struct Subject {
    pub(crate) scope: Scope,
    pub(crate) values: Values,
    pub(crate) place: Option<Place>,
    pub(crate) rank: Option<u32>,
}

impl Subjects {
    /// Returns the subjects; with `with_hints` also those and the facts of hints, which are made
    /// for rules of users.
    pub(crate) fn of(totals: &Totals, report: &Report, why: &Why, with_hints: bool) -> Self {
        let ranks = of_ranks(totals);
        let hints = with_hints.then(|| report.hint_subjects(totals));
        let mut run = hints.as_ref().map_or_else(Values::default, |hints| hints.run.clone());
        run.extend(of_run(report, &ranks, why));
        let mut all =
            vec![Subject { scope: Scope::Run, values: run.clone(), place: None, rank: None }];
        all.extend(rank_subjects(&ranks, &differences(totals)));
        all.extend(callpath_subjects(report));
        if let Some(hints) = hints {
            add_hints(&mut all, hints, report);
        }
        Self { run, all }
    }
}

/// Adds the subjects of hints: their facts of ranks to these, the others as subjects of their own.
fn add_hints(all: &mut Vec<Subject>, hints: HintSubjects, report: &Report) {
    for hint in hints.all {
        let rank = hint.ranks.first().filter(|_| hint.scope == HintScope::Rank);
        match Scope::of_hint(hint.scope) {
            Some(Scope::Rank) => {
                let known = all.iter_mut().find(|of| of.scope == Scope::Rank && of.rank == rank);
                if let Some(known) = known {
                    known.values.extend(hint.values);
                }
            }
            Some(scope @ (Scope::Callpath | Scope::Wait)) => {
                let place = hint.place.map(|index| Place::of(&report.callpaths, index));
                all.push(Subject { scope, values: hint.values, place, rank: None });
            }
            _ => {}
        }
    }
}

/// The times of a rank, in ns.
struct RankTimes {
    host: String,
    all_ns: u64,
    mpi_ns: u64,
}

impl RankTimes {
    fn busy_s(&self) -> f64 {
        seconds(self.all_ns.saturating_sub(self.mpi_ns).into())
    }
}

fn seconds(ns: u128) -> f64 {
    ratio(ns, 1_000_000_000)
}

fn of_ranks(totals: &Totals) -> Vec<RankTimes> {
    let callpaths = totals.callpaths();
    let kinds = Activity::of_callpaths(callpaths);
    let time = |facts: &tinyprof_format::model::RankFacts| RankTimes {
        host: facts.host.clone(),
        all_ns: 0,
        mpi_ns: 0,
    };
    let mut ranks: Vec<RankTimes> = totals.ranks().iter().map(time).collect();
    for ((index, callpath), of_ranks) in callpaths.iter().zip(totals.exclusive_ns()) {
        if kinds[index.row()] == Some(Activity::Setup) {
            continue;
        }
        let is_mpi = MpiCall::of_region(&callpath.region).is_some();
        for (rank, ns) in ranks.iter_mut().zip(of_ranks) {
            rank.all_ns = rank.all_ns.saturating_add(ns);
            rank.mpi_ns = rank.mpi_ns.saturating_add(if is_mpi { ns } else { 0 });
        }
    }
    ranks
}

fn of_run(report: &Report, ranks: &[RankTimes], why: &Why) -> Values {
    let mut run = Values::default();
    let sum = |of: fn(&RankTimes) -> u64| ranks.iter().map(|rank| u128::from(of(rank))).sum();
    let (all_ns, mpi_ns): (u128, u128) = (sum(|rank| rank.all_ns), sum(|rank| rank.mpi_ns));
    let used = ranks.iter().filter(|rank| rank.all_ns > 0).count().max(1) as u128;
    run.number("ranks", ratio(used, 1));
    run.number("hosts", ratio(report.hosts.into(), 1));
    run.number("seconds", seconds(all_ns / used));
    run.number("mpi_share", ratio(mpi_ns, all_ns.max(1)));
    run.number_if("waiting_share", why.waiting_share());
    run.number_if("no_processor_share", report.statistics.times().delay_share());
    if let Some(efficiency) = report.efficiency() {
        run.number("load_balance", efficiency.load_balance);
        run.number_if("communication_efficiency", efficiency.communication);
        run.number("io_share", efficiency.io_share);
    }
    run
}

fn rank_subjects(ranks: &[RankTimes], differences: &BTreeMap<String, f64>) -> Vec<Subject> {
    let used: Vec<(u32, &RankTimes)> =
        (0..).zip(ranks).filter(|(_, rank)| rank.all_ns > 0).collect();
    let mean = |is_in: &dyn Fn(&RankTimes) -> bool| {
        let all: Vec<f64> =
            used.iter().filter(|(_, r)| is_in(r)).map(|(_, rank)| rank.busy_s()).collect();
        let count = ratio(all.len() as u128, 1);
        (count > 0.0).then(|| all.iter().sum::<f64>() / count).filter(|mean| *mean > 0.0)
    };
    let whole = mean(&|_| true);
    let mut hosts: BTreeMap<&str, Option<f64>> = BTreeMap::new();
    for (_, rank) in &used {
        hosts.entry(&rank.host).or_insert_with(|| {
            let here = mean(&|other| other.host == rank.host)?;
            Some(here / mean(&|other| other.host != rank.host)?)
        });
    }
    let subject = |(number, rank): &(u32, &RankTimes)| {
        let mut values = Values::default();
        values.number("number", f64::from(*number));
        values.text("host", rank.host.as_str());
        values.number("seconds", seconds(rank.all_ns.into()));
        values.number("busy_seconds", rank.busy_s());
        values.number_if("busy_ratio", whole.map(|whole| rank.busy_s() / whole));
        values.number("mpi_share", ratio(rank.mpi_ns.into(), rank.all_ns.into()));
        values.number_if("host_busy_ratio", hosts.get(rank.host.as_str()).copied().flatten());
        values.number_if("host_work_difference", differences.get(&rank.host).copied());
        Subject { scope: Scope::Rank, values, place: None, rank: Some(*number) }
    };
    used.iter().map(subject).collect()
}

fn callpath_subjects(report: &Report) -> Vec<Subject> {
    let kinds = Activity::of_callpaths(&report.callpaths);
    let used = report.callpaths.iter().filter(|(index, _)| {
        kinds[index.row()] != Some(Activity::Setup) && report.statistics.row(index.row()).ranks > 0
    });
    used.map(|(index, _)| callpath_subject(report, index)).collect()
}

fn callpath_subject(report: &Report, index: CallpathIndex) -> Subject {
    let place = Place::of(&report.callpaths, index);
    let row = report.statistics.row(index.row());
    let times = report.statistics.times();
    let (sum_ns, ranks) = (row.exclusive.sum_ns, u128::from(row.ranks));
    let mut values = Values::default();
    values.text("name", place.name());
    values.number("seconds", seconds(sum_ns));
    values.number("share", ratio(sum_ns, times.total_ns.max(1)));
    values.number("visits", ratio(row.visits.into(), 1));
    values.number("ranks", ratio(ranks, 1));
    values
        .number("seconds_per_visit", ratio(sum_ns, u128::from(row.visits.max(1)) * 1_000_000_000));
    values.number("mean_seconds", ratio(sum_ns, ranks * 1_000_000_000));
    values.number("max_seconds", seconds(row.exclusive.max_ns.into()));
    values.number("slowest_rank", f64::from(row.exclusive.max_rank));
    if let Some(file) = &place.file {
        values.text("file", file);
    }
    values.number_if("line", place.line.map(f64::from));
    let Some(function) = &place.call else {
        values.text("function", place.function.as_str());
        return Subject { scope: Scope::Region, values, place: Some(place), rank: None };
    };
    values.text("function", function);
    let run_s = seconds(times.total_ns / u128::from(times.ranks.max(1)));
    let per_rank = ratio(row.visits.into(), ranks);
    values.number_if("visits_per_second", (run_s > 0.0).then(|| per_rank / run_s));
    let transfers = report.transfers.get(&index).cloned().unwrap_or_default();
    let is_file = |kind: MessageKind| matches!(kind, MessageKind::FileIn | MessageKind::FileOut);
    let (files, messages) = (transfers.sum(is_file), transfers.sum(|kind| !is_file(kind)));
    values.number("messages", ratio(messages.count.into(), 1));
    values.number("bytes", ratio(messages.bytes.into(), 1));
    let mean = |of: tinyprof_format::model::Traffic| {
        (of.count > 0).then(|| ratio(of.bytes.into(), of.count.into()))
    };
    values.number_if("bytes_per_message", mean(messages));
    values.number("accesses", ratio(files.count.into(), 1));
    values.number_if("bytes_per_access", mean(files));
    Subject { scope: Scope::Call, values, place: Some(place), rank: None }
}

/// Returns the facts of a finding.
pub(crate) fn of_finding(why: &Why, finding: &Finding) -> Values {
    let mut values = Values::default();
    values.text("kind", finding.word());
    values.number("seconds", finding.seconds());
    values.number("share", why.share_of(finding));
    values.text("ranks", finding.ranks.to_string());
    values.number("ranks_count", ratio(finding.ranks.len().into(), 1));
    if let Some(place) = &finding.place {
        values.text("function", place.function.as_str());
        values.number_if("line", place.line.map(f64::from));
        if let Some(file) = &place.file {
            values.text("file", file);
        }
    }
    if let Some(call) = finding.waits_at.as_ref().and_then(|place| place.call.as_ref()) {
        values.text("waits_in", call);
    }
    values
}
