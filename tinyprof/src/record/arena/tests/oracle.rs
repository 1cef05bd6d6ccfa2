//! Any sequence of entries, exits, iterations and forgotten guards, compared with a map from paths
//! to values.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::super::clock::set_manual;
use super::*;

/// Sites by number, from the root inwards.
type Path = Vec<usize>;

/// A step of a program that holds guards. Guards are counted back from the newest, so 0 is in
/// order.
#[derive(Clone, Copy, Debug)]
enum Step {
    Enter(usize),
    Drop(usize),
    Forget(usize),
    /// The next iteration, as `LoopGuard::next_iteration` does it.
    NextIteration(usize),
}

/// The expected contents of a callpath's record.
#[derive(Clone, Debug, Default, PartialEq)]
struct Record {
    executions: Vec<PastExecution>,
    series: Vec<SeriesElement>,
    open: Option<OpenVisit>,
}

impl Record {
    fn in_execution(&mut self, execution: u32) -> &mut PastExecution {
        if self.executions.last().is_none_or(|last| last.execution != execution) {
            let (min, max) = (u64::MAX, 0);
            self.executions.push(PastExecution {
                execution,
                executions: 1,
                visits: 0,
                sum: 0,
                min,
                max,
                squares: 0,
                variance: 0.0,
            });
        }
        self.executions.last_mut().unwrap()
    }
}

/// The naive event map.
#[derive(Default)]
struct Oracle {
    records: BTreeMap<Path, Record>,
    /// The open visits, outermost first, with the ticks at which they began.
    open: Vec<(Path, u64)>,
    roots_completed: BTreeMap<usize, u32>,
    execution: u32,
    unbalanced: u64,
}

impl Oracle {
    /// Returns the path that a guard must close, or `None` for a region that calls itself.
    fn enter(&mut self, site: usize, now: u64) -> Option<Path> {
        let mut path = self.open.last().map(|(path, _)| path.clone()).unwrap_or_default();
        if path.last() == Some(&site) {
            self.records.get_mut(&path).unwrap().in_execution(self.execution).visits += 1;
            return None;
        }
        let times = path.iter().filter(|&&outer| outer == site).count();
        if times == TIMES_ON_PATH_MAX {
            let innermost = path.iter().rposition(|&outer| outer == site).unwrap();
            self.records
                .get_mut(&path[..=innermost])
                .unwrap()
                .in_execution(self.execution)
                .visits += 1;
            return None;
        }
        path.push(site);
        if path.len() == 1 {
            self.execution = self.roots_completed.get(&site).copied().unwrap_or(0);
        }
        self.records.entry(path.clone()).or_default();
        self.open.push((path.clone(), now));
        Some(path)
    }

    /// Ends the visit of `path` if it is open, and visits inside of it whose guards were not
    /// dropped first.
    fn exit(&mut self, path: &Path, now: u64) -> bool {
        let Some(at) = self.open.iter().position(|(open, _)| open == path) else { return false };
        self.unbalanced += (self.open.len() - at - 1) as u64;
        let ticks = now - self.open[at].1;
        self.open.truncate(at);
        let record = self.records.get_mut(path).unwrap();
        let live = record.in_execution(self.execution);
        live.visits += 1;
        live.sum += ticks;
        live.min = live.min.min(ticks);
        live.max = live.max.max(ticks);
        live.squares += u128::from(ticks) * u128::from(ticks);
        if SITES[*path.last().unwrap()].mode() == Mode::Each {
            let execution = self.execution;
            record.series.push(SeriesElement {
                execution,
                visits: 1,
                sum: ticks,
                min: ticks,
                max: ticks,
            });
        }
        if let [root] = path[..] {
            *self.roots_completed.entry(root).or_default() += 1;
        }
        true
    }

    fn next_iteration(&mut self, path: &Path, now: u64) {
        if self.exit(path, now) {
            self.enter(*path.last().unwrap(), now);
        }
    }

    fn expected(mut self) -> BTreeMap<Path, Record> {
        for (path, since) in &self.open {
            let root = self.roots_completed.get(&path[0]).copied().unwrap_or(0);
            self.records.get_mut(path).unwrap().open =
                Some(OpenVisit { since: *since, execution: root });
        }
        self.records
    }
}

static SITES: [&Site; 4] = [&A, &B, &C, &D];

/// Returns the records by path, which is found through the parents in the readings.
fn by_path(readings: &[Reading]) -> BTreeMap<Path, Record> {
    let by_id: BTreeMap<CallpathId, &Reading> = readings.iter().map(|r| (r.id, r)).collect();
    assert_eq!(by_id.len(), readings.len(), "every callpath has one record");
    let path_of = |reading: &Reading| {
        let up = std::iter::successors(Some(reading), |inner| inner.parent.map(|id| by_id[&id]));
        let sites = up.map(|r| SITES.iter().position(|site| std::ptr::eq(*site, r.site)).unwrap());
        let mut path: Path = sites.collect();
        path.reverse();
        path
    };
    let record = |reading: &Reading| Record {
        executions: reading.executions.clone(),
        series: reading.series.clone(),
        open: reading.open,
    };
    readings.iter().map(|reading| (path_of(reading), record(reading))).collect()
}

/// Runs the steps in both, `ticks` apart, and compares everything.
fn check(steps: &[(Step, u64)]) {
    let arena = Arena::new(Clock::Manual).unwrap();
    let mut oracle = Oracle::default();
    let mut guards: Vec<(usize, Entered, Option<Path>)> = Vec::new();
    let mut now = 1;
    for &(step, ticks) in steps {
        now += ticks;
        set_manual(now);
        match step {
            Step::Enter(site) => {
                guards.push((site, open(&arena, SITES[site]), oracle.enter(site, now)));
            }
            Step::Drop(back) | Step::Forget(back) if back < guards.len() => {
                let (_, visit, path) = guards.remove(guards.len() - 1 - back);
                if let Step::Drop(_) = step {
                    close(&arena, visit);
                    path.map(|path| oracle.exit(&path, now));
                }
            }
            Step::NextIteration(back) if back < guards.len() => {
                let at = guards.len() - 1 - back;
                let (site, visit, path) = &mut guards[at];
                match (*visit, &path) {
                    (Entered::Node(line), Some(path)) => {
                        arena.next_iteration(line);
                        oracle.next_iteration(path, now);
                    }
                    _ => (*visit, *path) = (open(&arena, SITES[*site]), oracle.enter(*site, now)),
                }
            }
            Step::Drop(_) | Step::Forget(_) | Step::NextIteration(_) => {}
        }
    }
    assert_eq!(arena.visits_unbalanced.load(Relaxed), oracle.unbalanced);
    for counter in [&arena.visits_lost, &arena.visits_in_other, &arena.clock_steps_back] {
        assert_eq!(counter.load(Relaxed), 0);
    }
    assert_eq!(by_path(&readings(&arena)), oracle.expected());
}

fn steps() -> impl Strategy<Value = Vec<(Step, u64)>> {
    let enter = || (0..SITES.len()).prop_map(Step::Enter);
    let step = prop_oneof![
        8 => enter(),
        7 => Just(Step::Drop(0)),
        3 => Just(Step::NextIteration(0)),
        1 => (0_usize..4).prop_map(Step::Drop),
        1 => (0_usize..4).prop_map(Step::NextIteration),
        1 => (0_usize..4).prop_map(Step::Forget),
    ];
    prop::collection::vec((step, 0_u64..1 << 34), 0..300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn any_sequence_is_what_a_map_of_paths_says(steps in steps()) {
        check(&steps);
    }
}

fn check_in_order(sites: &[usize]) {
    let enters = sites.iter().map(|&site| (Step::Enter(site), 3));
    check(&enters.chain(sites.iter().map(|_| (Step::Drop(0), 5))).collect::<Vec<_>>());
}

#[test]
fn recursion_through_another_region_is_a_callpath_for_each_of_the_first_depths() {
    check_in_order(&[0, 1, 0, 1, 0, 2, 1]);
}

#[test]
fn deeper_recursion_is_folded_onto_the_innermost_of_the_region() {
    check_in_order(&[0, 1].repeat(20));
    check_in_order(&[&[3][..], &[0, 1, 2].repeat(7), &[1, 1, 3, 0, 2]].concat());
}

#[test]
fn direct_recursion_is_one_callpath() {
    check_in_order(&[0, 0, 0, 1, 1, 0]);
}

#[test]
fn a_guard_that_is_dropped_late_ends_nothing_else() {
    use Step::{Drop, Enter};
    // The outer guard is dropped first; the region is entered again before the inner guard is
    // dropped.
    check(&[
        (Enter(0), 1),
        (Enter(1), 1),
        (Drop(1), 1),
        (Enter(0), 1),
        (Enter(2), 1),
        (Drop(2), 1),
    ]);
}

#[test]
fn a_forgotten_guard_is_closed_with_its_parent() {
    use Step::{Drop, Enter, Forget};
    check(&[
        (Enter(0), 1),
        (Enter(1), 1),
        (Enter(2), 1),
        (Forget(0), 1),
        (Forget(0), 1),
        (Drop(0), 1),
    ]);
}
