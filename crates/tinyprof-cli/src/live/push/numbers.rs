//! The metrics of a picture of a job.

use std::collections::{BTreeMap, BTreeSet};

use tinyprof_format::model::{CallpathIndex, RegionKind};
use tinyprof_report::{Activity, escaped};

use super::super::frame::Frame;
use super::metric::{self, ALL, Metric, Number, Numbers, Point};
use super::sums::Sums;
use crate::sys;

/// The longest label for a callpath, in characters: a monitor keeps it in each of its points.
const LABEL_MAX: usize = 200;

/// Makes numbers of pictures, one after the other.
#[derive(Debug)]
pub(super) struct Counter {
    /// The id of the job, if it was asked for.
    job: Option<String>,
    /// The most callpaths of a push.
    callpaths_max: usize,
    sums: Sums,
    /// The start of the run in ns since 1970, and how long it had run at the last picture.
    start_ns: Option<u64>,
    elapsed_ns: Option<u64>,
}

/// Points, by metric.
#[derive(Default)]
struct Points(BTreeMap<&'static str, Vec<Point>>);

impl Points {
    fn add(&mut self, metric: &'static Metric, labels: Vec<String>, number: Number) {
        self.0.entry(metric.name).or_default().push(Point { labels, number });
    }

    fn count(&mut self, metric: &'static Metric, label: &str, count: u64) {
        self.add(metric, vec![label.to_owned()], Number::Whole(count));
    }

    fn time(&mut self, metric: &'static Metric, ns: u64) {
        self.add(metric, Vec::new(), Number::Time(ns.into()));
    }
}

/// A callpath, or several of one name.
#[derive(Clone, Copy, Debug, Default)]
struct Callpath {
    exclusive_ns: u128,
    inclusive_ns: u128,
    visits: u64,
    /// The visits of a rank, on average, if it is a loop.
    iterations: u64,
}

impl Counter {
    pub(super) fn new(job: Option<String>, callpaths_max: u16) -> Self {
        let (sums, callpaths_max) = (Sums::default(), callpaths_max.into());
        Self { job, callpaths_max, sums, start_ns: None, elapsed_ns: None }
    }

    /// Returns the numbers of a picture. `watched` is the id of the job, if it has one.
    pub(super) fn numbers(
        &mut self,
        frame: &Frame,
        has_ended: bool,
        watched: Option<&str>,
        dropped: &[(String, u64)],
    ) -> Numbers {
        let picture = &frame.sample.picture;
        let moment_ns = sys::date_ns();
        let start_ns = self.start(picture.elapsed_ns, moment_ns);
        self.sums.look(&picture.ranks);
        let mut points = Points::default();
        points.time(metric::START, start_ns);
        job(&mut points, frame, has_ended, self.sums.ranks_ever());
        efficiency(&mut points, frame);
        self.activities(&mut points, frame);
        self.waiting(&mut points, frame);
        self.callpaths(&mut points, frame);
        findings(&mut points, frame);
        for (kind, count) in picture.losses.named().into_iter().filter(|(_, count)| *count > 0) {
            points.count(metric::LOSSES, kind, count);
        }
        for (target, count) in dropped {
            points.count(metric::DROPPED, target, *count);
        }
        let own_ns = sys::processor_time().as_nanos();
        points.add(metric::PROCESSOR, Vec::new(), Number::Time(own_ns));
        let name = picture.name.strip_suffix(".tprof").unwrap_or(&picture.name);
        let id = self.job.get_or_insert_with(|| watched.unwrap_or(name).to_owned());
        let points = ALL.map(|metric| points.0.remove(metric.name).unwrap_or_default()).into();
        Numbers { job: [label(id), label(name)], start_ns, moment_ns, points }
    }

    /// Returns the start of the run. If another run has taken its place, sums begin again. Hosts
    /// have slightly different times, so that a little less is no other run.
    fn start(&mut self, elapsed_ns: Option<u64>, moment_ns: u64) -> u64 {
        let is_new = |(now, before): (u64, u64)| now < before / 2;
        if elapsed_ns.zip(self.elapsed_ns).is_some_and(is_new) {
            (self.start_ns, self.sums) = (None, Sums::default());
        }
        self.elapsed_ns = elapsed_ns.or(self.elapsed_ns);
        let start_ns = moment_ns.saturating_sub(elapsed_ns.unwrap_or(0));
        *self.start_ns.get_or_insert(start_ns)
    }

    fn time(&mut self, points: &mut Points, metric: &'static Metric, label: String, ns: u128) {
        let told_ns = self.sums.add(metric.name, label.clone(), ns);
        points.add(metric, vec![label], Number::Time(told_ns));
    }

    fn count(&mut self, points: &mut Points, metric: &'static Metric, label: String, seen: u64) {
        let told = self.sums.add(metric.name, label.clone(), seen.into());
        let told = u64::try_from(told).unwrap_or(u64::MAX);
        points.add(metric, vec![label], Number::Whole(told));
    }

    /// Adds the time by activity. It is not known where no region has a tag.
    fn activities(&mut self, points: &mut Points, frame: &Frame) {
        let activities = Activity::of_callpaths(&frame.sample.picture.callpaths);
        let is_known = |of: &Option<Activity>| {
            matches!(of, Some(Activity::Communication | Activity::InputOutput))
        };
        if !activities.iter().any(is_known) {
            return;
        }
        let mut sums = [("computing", 0_u128), ("mpi", 0), ("io", 0), ("setup", 0)];
        for (activity, row) in activities.iter().zip(&frame.rows) {
            let at = match activity {
                Some(Activity::Communication) => 1,
                Some(Activity::InputOutput) => 2,
                Some(Activity::Setup) => 3,
                _ => 0,
            };
            sums[at].1 = sums[at].1.saturating_add(row.exclusive.sum_ns);
        }
        for (activity, ns) in sums {
            self.time(points, metric::TIME, activity.to_owned(), ns);
        }
    }

    /// Adds the waiting by cause. It is not known with agents, nor where messages are not followed.
    fn waiting(&mut self, points: &mut Points, frame: &Frame) {
        let why = frame.sample.why.as_ref();
        for (pattern, ns) in why.and_then(|why| why.waiting_by_pattern()).into_iter().flatten() {
            self.time(points, metric::WAITING, pattern.name().to_owned(), (*ns).into());
        }
    }

    fn callpaths(&mut self, points: &mut Points, frame: &Frame) {
        let all = by_label(frame);
        let mut costly: Vec<(&String, &Callpath)> = all.iter().collect();
        costly.sort_by(|a, b| (b.1.exclusive_ns, a.0).cmp(&(a.1.exclusive_ns, b.0)));
        costly.truncate(self.callpaths_max);
        let left_out = (all.len() - costly.len()) as u64;
        points.count(metric::CALLPATHS, "pushed", costly.len() as u64);
        points.count(metric::CALLPATHS, "left_out", left_out);
        let pushed: BTreeSet<&String> = costly.into_iter().map(|(label, _)| label).collect();
        // Sums of all are kept: one that is left out now may be pushed later.
        let mut unused = Points::default();
        for (label, of) in &all {
            let points = if pushed.contains(label) { &mut *points } else { &mut unused };
            self.time(points, metric::EXCLUSIVE, label.clone(), of.exclusive_ns);
            self.time(points, metric::INCLUSIVE, label.clone(), of.inclusive_ns);
            self.count(points, metric::VISITS, label.clone(), of.visits);
            if of.iterations > 0 {
                self.count(points, metric::ITERATIONS, label.clone(), of.iterations);
            }
        }
    }
}

/// Adds what is known of the job as a whole.
fn job(points: &mut Points, frame: &Frame, has_ended: bool, ranks_ever: u64) {
    let picture = &frame.sample.picture;
    let seen = picture.ranks.len();
    let still = picture.still.count.min(seen);
    let (running, still, ended) = if has_ended { (0, 0, seen) } else { (seen - still, still, 0) };
    let (lost, unseen) =
        (ranks_ever.saturating_sub(seen), u64::from(picture.size).saturating_sub(ranks_ever));
    let by_state = [
        ("running", running),
        ("still", still),
        ("lost", lost),
        ("unseen", unseen),
        ("ended", ended),
    ];
    for (state, ranks) in by_state {
        points.count(metric::RANKS, state, ranks);
    }
    let longest_ns = picture.still.worst.iter().map(|one| one.since_ns).max();
    points.time(metric::LONGEST_STILL, longest_ns.filter(|_| !has_ended).unwrap_or(0));
    points.count(metric::HOSTS, "seen", picture.hosts.into());
    points.count(metric::HOSTS, "missing", picture.missing.count);
    for host in picture.missing.worst.iter().map(|one| &one.host).collect::<BTreeSet<_>>() {
        points.count(metric::MISSING_HOST, &label(host), 1);
    }
    picture.elapsed_ns.into_iter().for_each(|ns| points.time(metric::ELAPSED, ns));
    points.time(metric::AGE, picture.age_ns);
}

fn efficiency(points: &mut Points, frame: &Frame) {
    let Some(of) = frame.efficiency() else { return };
    let factors = [
        ("parallel", of.parallel),
        ("load_balance", Some(of.load_balance)),
        ("communication", of.communication),
    ];
    for (factor, ratio) in factors {
        let ratio = ratio.filter(|ratio| ratio.is_finite());
        let add =
            |ratio| points.add(metric::EFFICIENCY, vec![factor.to_owned()], Number::Real(ratio));
        ratio.into_iter().for_each(add);
    }
}

/// Adds the findings, at most five.
fn findings(points: &mut Points, frame: &Frame) {
    let found = frame.sample.why.iter().flat_map(|why| why.findings());
    let mut by_place: BTreeMap<[String; 2], f64> = BTreeMap::new();
    for one in found {
        let at = one.place.as_ref().or(one.waits_at.as_ref());
        let place = label(at.map_or("", |place| &place.callpath));
        let most = by_place.entry([label(one.word()), place]).or_default();
        *most = most.max(one.seconds());
    }
    for (labels, seconds) in by_place.into_iter().filter(|(_, seconds)| seconds.is_finite()) {
        points.add(metric::FINDING, labels.into(), Number::Real(seconds));
    }
}

/// Returns the callpaths by their label: those of one name together.
fn by_label(frame: &Frame) -> BTreeMap<String, Callpath> {
    let table = &frame.sample.picture.callpaths;
    let mut all: BTreeMap<String, Callpath> = BTreeMap::new();
    let is_loop = |index: CallpathIndex| table.get(index).region.kind == RegionKind::Loop;
    for ((index, _), row) in table.iter().zip(&frame.rows) {
        let of = all.entry(label(&table.path(index))).or_default();
        of.exclusive_ns = of.exclusive_ns.saturating_add(row.exclusive.sum_ns);
        of.inclusive_ns = of.inclusive_ns.saturating_add(row.inclusive.sum_ns);
        of.visits = of.visits.saturating_add(row.visits);
        if is_loop(index) {
            of.iterations = of.iterations.max(row.visits / u64::from(row.ranks.max(1)));
        }
    }
    all
}

/// Returns a name as a label: no character of it controls a terminal. Of a long one, its end.
fn label(name: &str) -> String {
    let name = escaped(name);
    let count = name.chars().count();
    if count <= LABEL_MAX {
        return name;
    }
    let end = name.chars().skip(count - LABEL_MAX + 3);
    "...".chars().chain(end).collect()
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::EventMap;

    use super::super::super::example::sample;
    use super::super::super::sample::Sample;
    use super::super::metric::{CALLPATHS, EXCLUSIVE, RANKS, VISITS};
    use super::*;

    fn told(counter: &mut Counter, sample: Sample) -> Numbers {
        counter.numbers(&Frame::new(sample, None), false, Some("4711"), &[])
    }

    /// Returns the points of a metric: the first label, and the number.
    fn points(numbers: &Numbers, of: &Metric) -> Vec<(String, Number)> {
        let (_, points) = numbers.metrics().find(|(metric, _)| *metric == of).expect("points");
        points.iter().map(|point| (point.labels[0].clone(), point.number)).collect()
    }

    fn count(numbers: &Numbers, of: &Metric, label: &str) -> Number {
        let found = points(numbers, of).into_iter().find(|(name, _)| name == label);
        found.expect("a point").1
    }

    #[test]
    fn the_costliest_callpaths_are_pushed_and_the_others_are_counted() {
        let numbers = told(&mut Counter::new(None, 2), sample(4, 1));
        let names: Vec<String> =
            points(&numbers, EXCLUSIVE).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["main", "main<exchange"]);
        assert_eq!(count(&numbers, CALLPATHS, "left_out"), Number::Whole(2));
        assert_eq!(numbers.job, ["4711", "heat"]);
        assert_eq!(points(&told(&mut Counter::new(None, 9), sample(4, 1)), EXCLUSIVE).len(), 4);
    }

    #[test]
    fn a_lost_rank_is_counted_and_its_visits_stay() {
        let mut counter = Counter::new(None, 9);
        assert_eq!(count(&told(&mut counter, sample(4, 10)), VISITS, "main"), Number::Whole(40));
        let mut less = sample(4, 10);
        let moment = less.picture.elapsed_ns;
        less.picture = tinyprof_picture::Picture::default();
        let of_two = sample(2, 12).picture;
        less.picture.merge(&of_two).expect("other ranks");
        (less.picture.size, less.picture.elapsed_ns) = (4, moment);
        let numbers = told(&mut counter, less);
        assert_eq!(count(&numbers, RANKS, "lost"), Number::Whole(2));
        assert_eq!(count(&numbers, RANKS, "running"), Number::Whole(2));
        assert_eq!(count(&numbers, VISITS, "main"), Number::Whole(40));
    }

    #[test]
    fn another_run_in_the_place_of_one_begins_again() {
        let mut counter = Counter::new(None, 9);
        let first = told(&mut counter, sample(2, 10));
        let mut other = sample(2, 1);
        other.picture.elapsed_ns = Some(1_000_000_000);
        let second = told(&mut counter, other);
        assert_eq!(count(&second, VISITS, "main"), Number::Whole(2));
        assert!(second.start_ns > first.start_ns + 80_000_000_000);
        // Nobody knows more of a job without ranks.
        let none = Sample::of_ranks(&[EventMap::default()]);
        assert!(told(&mut counter, none).metrics().all(|(metric, _)| metric != VISITS));
    }

    #[test]
    fn labels_are_short_and_harmless() {
        assert_eq!(label("pa\u{1b}ck"), r"pa\u{1b}ck");
        let long = label(&"main<".repeat(100));
        assert_eq!((long.chars().count(), long.starts_with("...")), (LABEL_MAX, true));
        assert!(long.ends_with("main<"));
    }
}
