//! Random programs, recorded in small buffers, against the list of all their visits.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicU64;

use proptest::prelude::*;
use tinyprof_events::buffer::Times;
use tinyprof_events::cell::DEPTHS;
use tinyprof_events::layout::BYTES_MIN;
use tinyprof_events::{
    Buffer, Cell, EventClass, EventPolicy, RecordedVisit, Recording, Visit, read,
};

/// A program: loops in loops, whose bodies take random times.
#[derive(Clone, Debug)]
struct Program {
    /// The iterations of the loop at each depth, and whether its body makes a call.
    loops: Vec<(u32, bool)>,
    leaf_ticks: u64,
    seed: u64,
    executions: u32,
}

fn programs() -> impl Strategy<Value = Program> {
    let loops = prop::collection::vec((1_u32..12, any::<bool>()), 1..20);
    (loops, 1_u64..100_000, any::<u64>(), 1_u32..4).prop_map(
        |(loops, leaf_ticks, seed, executions)| Program { loops, leaf_ticks, seed, executions },
    )
}

/// Runs a program, up to this number of visits.
struct Run<'a> {
    program: &'a Program,
    now: u64,
    random: u64,
    made: Vec<Visit>,
    visits_max: usize,
    last_call: u64,
}

impl Run<'_> {
    fn pass(&mut self, ticks_max: u64) {
        self.random = self.random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        self.now += (self.random >> 33) % ticks_max.max(1);
    }

    fn visit(&mut self, depth: u32, record: &mut dyn FnMut(Visit)) {
        let begin = self.now;
        let level = depth as usize - 1;
        self.pass(9);
        match self.program.loops.get(level) {
            Some(&(iterations, calls)) => {
                for _ in 0..iterations {
                    if self.made.len() >= self.visits_max {
                        break;
                    }
                    self.visit(depth + 1, record);
                    if calls {
                        self.leaf(depth + 1, EventClass::Call, record);
                    }
                    self.pass(30);
                }
            }
            None => self.pass(self.program.leaf_ticks),
        }
        let class = match depth {
            1 => EventClass::Root,
            _ if self.last_call >= begin => EventClass::AroundCalls,
            _ => EventClass::Computation,
        };
        self.end(depth, class, begin, record);
    }

    fn leaf(&mut self, depth: u32, class: EventClass, record: &mut dyn FnMut(Visit)) {
        let begin = self.now;
        self.last_call = begin;
        self.pass(self.program.leaf_ticks / 4);
        self.end(depth, class, begin, record);
    }

    fn end(&mut self, depth: u32, class: EventClass, begin: u64, record: &mut dyn FnMut(Visit)) {
        let callpath = depth * 8 + class as u32 + (self.random >> 60) as u32 * 1000;
        let visit = Visit { callpath, class, depth, begin, end: self.now };
        self.made.push(visit);
        record(visit);
        self.pass(3);
    }
}

fn run(program: &Program, visits_max: usize, record: &mut dyn FnMut(Visit)) -> Vec<Visit> {
    let (made, random) = (Vec::new(), program.seed);
    let mut run = Run { program, now: 1_000, random, made, visits_max, last_call: 0 };
    while run.made.len() < visits_max {
        for _ in 0..program.executions {
            run.visit(1, record);
        }
    }
    run.made
}

fn words(bytes: usize) -> Vec<AtomicU64> {
    (0..bytes / 8).map(|_| AtomicU64::new(0)).collect()
}

/// Records a program, and returns its visits and what is left of them.
fn recorded(
    program: &Program,
    visits: usize,
    policy: EventPolicy,
    times: Times,
) -> (Vec<Visit>, Recording) {
    let words = words(BYTES_MIN);
    let buffer = Buffer::prepare(&words, policy, times).expect("the words suffice");
    let made = run(program, visits, &mut |visit| _ = buffer.record(visit));
    (made, read(&words).expect("it is a buffer"))
}

/// Checks that what is kept was made, that the rest is counted, and that visits are nested.
fn check_sound(made: &[Visit], recording: &Recording) -> Result<(), TestCaseError> {
    let shift = recording.times.shift;
    let cut = |ticks: u64| ticks >> shift << shift;
    let mut left: HashMap<(u32, Cell, u64, u64), u32> = HashMap::new();
    let mut by_cell: BTreeMap<Cell, u64> = BTreeMap::new();
    for visit in made {
        let cell = Cell::new(visit.class, visit.depth);
        *left.entry((visit.callpath, cell, cut(visit.begin), cut(visit.end))).or_default() += 1;
        *by_cell.entry(cell).or_default() += 1;
    }
    for kept in &recording.visits {
        let key = (kept.callpath, kept.cell, kept.begin, kept.end);
        let count = left.get_mut(&key).filter(|count| **count > 0);
        let Some(count) = count else {
            return Err(TestCaseError::fail(format!("{kept:?} was not made so often")));
        };
        *count -= 1;
    }
    let found = recording.cells.iter().map(|cell| (cell.cell, cell.kept + cell.lost));
    prop_assert_eq!(found.collect::<BTreeMap<_, _>>(), by_cell);
    prop_assert_eq!(recording.totals().kept, recording.visits.len() as u64);
    prop_assert_eq!(recording.bins_unreadable, 0);
    check_nesting(&recording.visits)
}

fn check_nesting(visits: &[RecordedVisit]) -> Result<(), TestCaseError> {
    let mut open: Vec<&RecordedVisit> = Vec::new();
    for visit in visits {
        while open.last().is_some_and(|outer| {
            outer.end < visit.end || outer.end == visit.begin && outer.begin < outer.end
        }) {
            prop_assert!(
                open.pop().is_none_or(|outer| outer.end <= visit.begin),
                "{visit:?} overlaps"
            );
        }
        open.push(visit);
    }
    Ok(())
}

/// Returns the visits that are missing among those that fulfil a condition.
fn missing(made: &[Visit], recording: &Recording, of: impl Fn(&Visit) -> bool) -> usize {
    let expected = made.iter().filter(|visit| of(visit)).count();
    let as_made = |kept: &RecordedVisit| Visit {
        callpath: kept.callpath,
        class: kept.cell.class(),
        depth: kept.cell.depth(),
        begin: kept.begin,
        end: kept.end,
    };
    expected - recording.visits.iter().map(as_made).filter(|visit| of(visit)).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_invented_or_lost_in_silence(
        program in programs(), visits in 1_usize..150_000, policy in 0_u64..3, shift in 0_u32..5
    ) {
        let policy = EventPolicy::from_number(policy).unwrap();
        let times = Times { shift, ..Times::default() };
        let (made, recording) = recorded(&program, visits, policy, times);
        check_sound(&made, &recording)?;
    }

    #[test]
    fn a_ring_has_all_visits_since_the_last_that_it_lost(program in programs()) {
        let (made, recording) = recorded(&program, 150_000, EventPolicy::Ring, Times::default());
        check_sound(&made, &recording)?;
        let since = recording.cells.iter().map(|cell| cell.lost_last).max().unwrap();
        prop_assert_eq!(missing(&made, &recording, |visit| visit.begin > since), 0);
        let newest = made.last().unwrap().end;
        prop_assert!(since < newest, "the newest are there");
    }

    #[test]
    fn a_window_has_all_visits_that_began_before_it_was_full(program in programs()) {
        let (made, recording) = recorded(&program, 150_000, EventPolicy::Window, Times::default());
        check_sound(&made, &recording)?;
        let stopped = recording.stopped.unwrap_or(u64::MAX);
        prop_assert_eq!(missing(&made, &recording, |visit| visit.begin < stopped), 0);
        let first = recording.cells.iter().filter(|cell| cell.lost > 0).map(|cell| cell.lost_first);
        prop_assert!(first.min().unwrap_or(u64::MAX) >= stopped);
    }

    #[test]
    fn a_thinned_run_has_its_begin_its_end_and_its_roots(program in programs()) {
        let (made, recording) = recorded(&program, 150_000, EventPolicy::Thin, Times::default());
        check_sound(&made, &recording)?;
        let is_root = |visit: &Visit| visit.class == EventClass::Root;
        let lost = missing(&made, &recording, is_root);
        // Half of the buffer, at no more bytes than any visit takes.
        let roots_that_fit = BYTES_MIN / 2 / 16;
        let roots = made.iter().filter(|visit| is_root(visit)).count();
        prop_assert!(lost <= roots.saturating_sub(roots_that_fit), "{lost} of {roots} roots");
        let (first, last) = (made[0].begin, made.last().unwrap().end);
        let tenth = (last - first) / 10;
        for part in 0..10 {
            let during = first + part * tenth..first + (part + 1) * tenth;
            let is_there = recording.visits.iter().any(|visit| during.contains(&visit.end));
            let was_there = made.iter().any(|visit| during.contains(&visit.end));
            prop_assert!(is_there || !was_there, "part {part} of 10 is there");
        }
    }
}

#[test]
fn a_visit_takes_six_bytes() {
    // Four callpaths: steps of a millisecond with calls of 20 us and kernels of 3 us, in ticks of
    // 0.4 ns.
    let loops = vec![(100, true), (20, false)];
    let program = Program { loops, leaf_ticks: 20_000, seed: 1, executions: 1 };
    let words = words(4 << 20);
    let times = Times { shift: 3, ..Times::default() };
    let buffer = Buffer::prepare(&words, EventPolicy::Window, times).unwrap();
    let made = run(&program, 2_000_000, &mut |visit| _ = buffer.record(visit)).len();
    let recording = read(&words).unwrap();
    let kept = recording.totals().kept;
    let hundredths = (400 << 20) / kept;
    assert!(hundredths <= 600, "{hundredths} bytes for each hundred of {kept} visits, of {made}");
    println!("{hundredths} bytes for each hundred of {kept} visits");
}

#[test]
fn short_computation_is_refused_and_counted() {
    let program = Program { loops: vec![(9, true)], leaf_ticks: 100, seed: 5, executions: 1 };
    let times = Times { shortest: 50, ..Times::default() };
    let (made, recording) = recorded(&program, 1_000, EventPolicy::Thin, times);
    let is_short =
        |visit: &&Visit| visit.class == EventClass::Computation && visit.end - visit.begin < 50;
    let short = made.iter().filter(is_short).count();
    assert!(short > 100);
    assert_eq!(recording.totals().lost, short as u64);
}

#[test]
fn depths_beyond_the_last_cell_share_it() {
    let program = Program { loops: vec![(2, false); 24], leaf_ticks: 9, seed: 3, executions: 1 };
    let (made, recording) = recorded(&program, 5_000, EventPolicy::Window, Times::default());
    assert_eq!(recording.totals().lost, 0);
    assert_eq!(recording.visits.len(), made.len());
    let deepest = recording.visits.iter().map(|visit| visit.cell.depth()).max();
    assert_eq!(deepest, Some(DEPTHS));
}

#[test]
fn a_clock_that_goes_back_loses_the_visit() {
    let words = words(BYTES_MIN);
    let buffer = Buffer::prepare(&words, EventPolicy::Ring, Times::default()).unwrap();
    let visit = |begin, end| Visit { callpath: 1, class: EventClass::Root, depth: 1, begin, end };
    for (begin, end) in [(10, 20), (15, 30), (40, 35), (50, 60)] {
        buffer.record(visit(begin, end));
    }
    let recording = read(&words).unwrap();
    let kept: Vec<_> = recording.visits.iter().map(|visit| visit.begin).collect();
    assert_eq!((kept, recording.totals().lost), (vec![10, 50], 2));
}
