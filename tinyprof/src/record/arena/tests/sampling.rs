//! Callpaths under a budget: counts are exact, estimates are as accurate as they claim, and the
//! budget is kept.

use tinyprof_segment::layout::skipped;

use super::super::super::budget::Budget;
use super::super::super::clock::set_manual;
use super::super::super::node::START;
use super::*;

/// A program on a clock of its own, in which a timed visit costs an extra 20 ticks.
struct Program {
    arena: Arena,
    now: u64,
    timed: u64,
}

const COST: u32 = 20;

impl Program {
    fn with_budget(share: f64) -> Self {
        let arena = Arena::new(Clock::Manual).unwrap();
        arena.set_budget(Budget::new(share, f64::from(COST)));
        set_manual(1);
        Self { arena, now: 1, timed: 0 }
    }

    fn enter(&mut self, site: &'static Site) -> Line {
        set_manual(self.now);
        let Entered::Node(line) = self.arena.enter(site).entered() else { panic!("there is room") };
        self.pay(line);
        line
    }

    fn pay(&mut self, line: Line) {
        if self.arena.node(line).get(START) & skipped::MARK == 0 {
            self.timed += 1;
            // Added before and after the measured part, as with a real clock.
            self.now += u64::from(COST);
            self.arena.node(line).set(START, self.now);
        }
    }

    fn exit(&mut self, line: Line) {
        set_manual(self.now);
        self.arena.exit(line);
    }

    fn next_iteration(&mut self, line: Line) {
        set_manual(self.now);
        self.arena.next_iteration(line);
        self.pay(line);
    }

    fn visit(&mut self, site: &'static Site, ticks: u64) {
        let line = self.enter(site);
        self.now += ticks;
        self.exit(line);
    }

    fn reading(&self, site: &'static Site) -> Reading {
        readings(&self.arena).into_iter().find(|r| std::ptr::eq(r.site, site)).unwrap()
    }

    fn not_timed(&self) -> u64 {
        let waiting: u64 = readings(&self.arena).iter().map(|r| r.visits_not_timed).sum();
        self.arena.visits_not_timed.load(Relaxed) + waiting
    }
}

/// Numbers that look random, and differ from those that the arena draws.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

fn sum(reading: &Reading) -> u64 {
    reading.executions.iter().map(|e| e.sum).sum()
}

#[test]
fn within_the_budget_nothing_is_estimated() {
    let mut program = Program::with_budget(0.05);
    let root = program.enter(&A);
    (0..5_000).for_each(|i| program.visit(&B, 1_000 + i));
    program.exit(root);
    let reading = program.reading(&B);
    assert_eq!(visits(&reading), 5_000);
    assert_eq!(sum(&reading), (0..5_000).map(|i| 1_000 + i).sum::<u64>());
    assert!(reading.executions.iter().all(|e| e.variance == 0.0));
    assert_eq!((program.not_timed(), program.timed), (0, 5_001));
}

#[test]
fn the_budget_holds_for_functions_of_ten_ticks_and_counts_are_exact() {
    for (share, visits_made) in [(0.1, 400_000), (0.01, 800_000), (0.001, 4_000_000)] {
        let mut program = Program::with_budget(share);
        let root = program.enter(&A);
        for _ in 0..visits_made / 4 {
            program.visit(&B, 10);
            let outer = program.enter(&C);
            program.visit(&B, 10);
            program.visit(&D, 10);
            program.exit(outer);
        }
        program.exit(root);
        assert_eq!(readings(&program.arena).iter().map(visits).sum::<u64>(), visits_made + 1);
        assert_eq!(program.timed + program.not_timed(), visits_made + 1);
        let spent = program.timed * u64::from(COST);
        #[expect(clippy::cast_precision_loss, reason = "a few million")]
        let found = spent as f64 / program.now as f64;
        // At the beginning, and until a change is noticed, a quantum of visits is timed.
        assert!(found < share * 1.1 + 0.001, "{found} of {share}");
        assert!(found > share / 8.0, "{found}: so much could be timed");
        let reading = program.reading(&D);
        assert_eq!(
            reading.executions.iter().map(|e| (e.min, e.max)).collect::<Vec<_>>(),
            [(10, 10)]
        );
        assert_eq!((sum(&reading), reading.executions[0].variance), (visits(&reading) * 10, 0.0));
    }
}

/// Returns the errors of estimates, and their standard errors, for many programs.
fn errors(ticks: impl Fn(u64, &mut Random) -> u64) -> Vec<(f64, f64)> {
    let one = |seed: u64| {
        let mut program = Program::with_budget(0.02);
        program.arena.sampler.seed(seed);
        let mut random = Random(seed);
        let root = program.enter(&A);
        let mut exact = 0;
        for visit in 0..8_000 {
            let ticks = ticks(visit, &mut random);
            exact += ticks;
            program.visit(&C, ticks);
        }
        program.exit(root);
        let reading = program.reading(&C);
        assert_eq!(visits(&reading), 8_000);
        assert!(program.not_timed() > 4_000, "most visits are not timed");
        let variance: f64 = reading.executions.iter().map(|e| e.variance).sum();
        #[expect(clippy::cast_precision_loss, reason = "a few million")]
        let error = sum(&reading) as f64 - exact as f64;
        (error, variance.sqrt())
    };
    (1..=PROGRAMS).map(|seed| one(u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
}

const PROGRAMS: u32 = 400;

/// Returns the share of the estimates within one standard error, and within 1.96.
fn coverage(errors: &[(f64, f64)]) -> (f64, f64) {
    let share = |limit: f64| {
        let within =
            errors.iter().filter(|(error, deviation)| error.abs() <= limit * deviation).count();
        f64::from(u32::try_from(within).unwrap()) / f64::from(PROGRAMS)
    };
    (share(1.0), share(1.96))
}

/// Returns the mean of the errors, in standard errors of that mean.
fn bias(errors: &[(f64, f64)]) -> f64 {
    let mean = errors.iter().map(|e| e.0).sum::<f64>() / f64::from(PROGRAMS);
    let variance = errors.iter().map(|e| (e.0 - mean).powi(2)).sum::<f64>() / f64::from(PROGRAMS);
    mean / (variance / f64::from(PROGRAMS)).sqrt()
}

#[test]
fn an_estimate_is_within_its_standard_error_as_often_as_it_should_be() {
    let errors = errors(|_, random| 20 + random.next() % 100);
    let (one, two) = coverage(&errors);
    // 68.3 % and 95 %; of 400 trials the standard deviations are 2.3 % and 1.1 %.
    assert!((0.61..0.76).contains(&one) && (0.91..0.985).contains(&two), "{one} {two}");
    assert!(bias(&errors).abs() < 3.0, "{}", bias(&errors));
}

#[test]
fn a_program_with_a_period_does_not_fool_the_samples() {
    // Every 16th visit is long: timing at regular distances would hit all of these, or none.
    let errors = errors(|visit, _| if visit % 16 == 0 { 700 } else { 20 });
    let (one, two) = coverage(&errors);
    assert!((0.61..0.76).contains(&one) && (0.90..0.985).contains(&two), "{one} {two}");
    assert!(bias(&errors).abs() < 3.0, "{}", bias(&errors));
}

#[test]
fn loops_and_their_series_count_every_iteration() {
    let mut program = Program::with_budget(0.01);
    let root = program.enter(&A);
    let line = program.enter(&B);
    for _ in 1..1_000_000 {
        program.now += 10;
        program.next_iteration(line);
    }
    program.now += 10;
    program.exit(line);
    program.exit(root);
    let reading = program.reading(&B);
    assert_eq!(visits(&reading), 1_000_000);
    assert!(program.timed < 10_000);
    let in_series: u64 = reading.series.iter().map(|s| u64::from(s.visits)).sum();
    assert!(in_series <= 1_000_000 && in_series + 2 * (1 << 16) >= 1_000_000, "{in_series}");
    assert!(reading.series.iter().all(|s| s.sum == u64::from(s.visits) * 10));
}

#[test]
fn executions_that_were_not_timed_are_covered_by_their_neighbours() {
    const EXECUTIONS: u32 = 100_000;
    let mut program = Program::with_budget(0.01);
    for _ in 0..EXECUTIONS {
        let root = program.enter(&A);
        (0..3).for_each(|_| program.visit(&C, 10));
        program.exit(root);
    }
    let inner = program.reading(&C);
    assert_eq!(visits(&inner), 3 * u64::from(EXECUTIONS));
    assert_eq!(visits(&program.reading(&A)), u64::from(EXECUTIONS));
    let mut next = 0;
    for e in &inner.executions {
        assert!(e.execution >= next && e.visits > 0, "{e:?}");
        next = e.execution + e.executions;
    }
    assert!(next <= EXECUTIONS);
}

#[test]
fn recursion_and_forgotten_guards_under_a_budget_stay_exact() {
    let mut program = Program::with_budget(0.01);
    let root = program.enter(&A);
    for i in 0..200_000 {
        let outer = program.enter(&C);
        program.now += 10;
        // The region calls itself.
        assert_eq!(program.arena.enter(&C).entered(), Entered::Recursion(outer));
        let inner = program.enter(&D);
        if i % 2 == 0 {
            program.exit(inner);
        }
        program.exit(outer);
    }
    program.exit(root);
    assert_eq!(visits(&program.reading(&C)), 400_000);
    assert!(program.arena.place().is_none());
    // Forgotten visits that were to be timed are not counted as visits: their time is unknown.
    let unbalanced = program.arena.visits_unbalanced.load(Relaxed);
    assert_eq!(unbalanced, 100_000);
    let counted = visits(&program.reading(&D));
    assert!((100_000..=200_000).contains(&counted), "{counted}");
}
