//! Tests of the agreement on virtual ranks: programs with random steps and messages, at random
//! speeds, whose ranks do not have the same number of flush points.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use proptest::prelude::*;

use super::{Agreement, Maxima, Step};

/// An xorshift64* generator: equal seeds give equal runs.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % bound
    }
}

/// The values that every rank passed in each reduction.
type Reductions = Rc<RefCell<Vec<Vec<Option<u64>>>>>;

#[derive(Debug)]
struct VirtualMaxima {
    all: Reductions,
    rank: usize,
    ranks: usize,
    begun: usize,
    given: usize,
    random: Random,
}

impl Maxima for VirtualMaxima {
    fn begin(&mut self, value: u64) {
        let mut all = self.all.borrow_mut();
        if all.len() == self.begun {
            all.push(vec![None; self.ranks]);
        }
        all[self.begun][self.rank] = Some(value);
        self.begun += 1;
        assert!(self.begun - self.given <= 2, "at most two are pending");
    }

    fn complete(&mut self) -> Option<u64> {
        assert!(self.given < self.begun, "nobody asks for what was not begun");
        // Sometimes MPI is slow, on this rank alone.
        if self.random.below(3) == 0 {
            return None;
        }
        let passed: Option<Vec<u64>> = self.all.borrow()[self.given].iter().copied().collect();
        let maximum = passed?.into_iter().max();
        self.given += 1;
        maximum
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    FlushPoint,
    Send(usize),
    Receive(usize),
    ByHand,
    Flush,
}

/// A collective write: at an agreed flush point, or in the `n`-th operation that all ranks do
/// together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Write {
    AgreedWriting,
    ByHand,
    Flush,
}

#[derive(Debug)]
struct Rank {
    program: Vec<Operation>,
    at: usize,
    agreement: Agreement<VirtualMaxima>,
    flush_point: u64,
    /// True if the flush point has been counted, and the rank is to ask again.
    standing: bool,
    /// The collective write that the rank is in, with its number, until all ranks are in it.
    writing: Option<Write>,
    writes: Vec<(Write, u64, bool)>,
    last_write: usize,
    interval: usize,
}

struct Run {
    ranks: Vec<Rank>,
    mail: HashMap<(usize, usize), usize>,
    now: usize,
}

impl Run {
    /// Does one small step of a rank, if possible.
    fn step(&mut self, number: usize) {
        let all_came = |ranks: &[Rank], n: usize| ranks.iter().all(|rank| rank.writes.len() >= n);
        let came = all_came(&self.ranks, self.ranks[number].writes.len());
        let (now, rank) = (self.now, &mut self.ranks[number]);
        if let Some(write) = rank.writing {
            if !came {
                return;
            }
            rank.writing = None;
            rank.last_write = now;
            if write == Write::AgreedWriting {
                rank.standing = false;
                // The rank wrote while it settled, and continues to settle.
                if rank.program[rank.at] != Operation::FlushPoint {
                    return;
                }
            }
            rank.at += 1;
            return;
        }
        let Some(&operation) = rank.program.get(rank.at) else { return };
        match operation {
            Operation::FlushPoint => {
                rank.flush_point += u64::from(!rank.standing);
                let is_due = !rank.standing && now >= rank.last_write + rank.interval;
                match rank.agreement.at_flush_point(rank.flush_point, is_due, 2) {
                    Step::Go => (rank.standing, rank.at) = (false, rank.at + 1),
                    Step::Wait => rank.standing = true,
                    Step::Write => rank.begin(Write::AgreedWriting, false),
                }
            }
            Operation::ByHand | Operation::Flush => match rank.agreement.settle() {
                Step::Go if operation == Operation::Flush => rank.begin(Write::Flush, true),
                Step::Go => rank.begin(Write::ByHand, true),
                Step::Wait => {}
                Step::Write => rank.begin(Write::AgreedWriting, true),
            },
            Operation::Send(to) => {
                *self.mail.entry((number, to)).or_default() += 1;
                rank.at += 1;
            }
            Operation::Receive(from) => {
                let mail = self.mail.entry((from, number)).or_default();
                if *mail > 0 {
                    *mail -= 1;
                    rank.at += 1;
                }
            }
        }
    }
}

impl Rank {
    fn begin(&mut self, write: Write, settling: bool) {
        self.writing = Some(write);
        self.writes.push((write, self.flush_point, settling));
    }
}

/// Generates a program whose ranks are in step `n` together, as far as messages force them, and end
/// after `flush_points` each.
fn programs(
    flush_points: &[usize],
    by_hand: Option<usize>,
    random: &mut Random,
) -> Vec<Vec<Operation>> {
    let mut programs = vec![Vec::new(); flush_points.len()];
    for step in 0..*flush_points.iter().max().unwrap() {
        let alive: Vec<usize> =
            (0..flush_points.len()).filter(|&rank| flush_points[rank] > step).collect();
        let neighbours = alive.iter().zip(alive.iter().cycle().skip(1));
        match random.below(4) {
            // Every rank waits for the one before it.
            0 => neighbours.for_each(|(&from, &to)| {
                programs[from].push(Operation::Send(to));
                programs[to].push(Operation::Receive(from));
            }),
            // All messages pass through the first rank.
            1 => {
                for &other in &alive[1..] {
                    programs[other].push(Operation::Send(alive[0]));
                    programs[alive[0]].push(Operation::Receive(other));
                }
                for &other in &alive[1..] {
                    programs[alive[0]].push(Operation::Send(other));
                    programs[other].push(Operation::Receive(alive[0]));
                }
            }
            // One rank sends a message and runs ahead.
            2 if alive.len() > 1 => {
                programs[alive[0]].push(Operation::Send(alive[1]));
                programs[alive[1]].push(Operation::Receive(alive[0]));
            }
            _ => {}
        }
        alive.iter().for_each(|&rank| programs[rank].push(Operation::FlushPoint));
        if by_hand == Some(step) {
            programs.iter_mut().for_each(|program| program.push(Operation::ByHand));
        }
    }
    programs.iter_mut().for_each(|program| program.push(Operation::Flush));
    programs
}

/// Runs programs to their ends. Returns what each rank wrote: the kind of write, the number of
/// flush points before it, and whether the rank settled.
fn run(
    flush_points: &[usize],
    by_hand: Option<usize>,
    intervals: &[usize],
    speeds: &[usize],
    seed: u64,
) -> Vec<Vec<(Write, u64, bool)>> {
    let mut random = Random(seed | 1);
    let all = Reductions::default();
    let ranks = flush_points.len();
    let rank = |(number, program): (usize, Vec<Operation>)| {
        let random = Random((seed ^ ((number as u64) << 32)) | 1);
        let all = Rc::clone(&all);
        let maxima = VirtualMaxima { all, rank: number, ranks, begun: 0, given: 0, random };
        Rank {
            program,
            at: 0,
            agreement: Agreement::new(maxima),
            flush_point: 0,
            standing: false,
            writing: None,
            writes: Vec::new(),
            last_write: 0,
            interval: intervals[number],
        }
    };
    let ranks: Vec<Rank> =
        programs(flush_points, by_hand, &mut random).into_iter().enumerate().map(rank).collect();
    let mut run = Run { ranks, mail: HashMap::new(), now: 0 };
    // Faster ranks have more lots.
    let lots: Vec<usize> =
        speeds.iter().enumerate().flat_map(|(number, &speed)| vec![number; speed]).collect();
    let (mut ended, mut last_step) = (0, 0);
    while ended < run.ranks.len() {
        let number = lots[random.below(lots.len())];
        let before = run.ranks[number].at;
        run.step(number);
        run.now += 1;
        let rank = &run.ranks[number];
        if rank.at > before {
            last_step = run.now;
            ended += usize::from(rank.at == rank.program.len());
        }
        let where_they_are =
            || run.ranks.iter().map(|r| (r.at, r.program.get(r.at), r.agreement.stops_at()));
        let stand_still = run.now - last_step > 20_000;
        assert!(
            !stand_still,
            "they wait for each other: {:?}",
            where_they_are().collect::<Vec<_>>()
        );
    }
    assert!(run.mail.values().all(|&left| left == 0), "the program itself is in order");
    let all = all.borrow();
    assert!(all.iter().flatten().all(Option::is_some), "every rank has begun every reduction");
    run.ranks.into_iter().map(|rank| rank.writes).collect()
}

/// Checks that all ranks wrote the same interim profiles in the same order, each at one flush
/// point, or settled before it.
fn check(written: &[Vec<(Write, u64, bool)>]) -> Result<(), TestCaseError> {
    for number in 0..written[0].len() {
        let of_all: Vec<_> = written.iter().map(|writes| writes.get(number).copied()).collect();
        let kinds: Vec<_> = of_all.iter().map(|write| write.map(|(kind, ..)| kind)).collect();
        prop_assert!(kinds.iter().all(|kind| *kind == kinds[0]), "{:?}", of_all);
        if kinds[0] == Some(Write::AgreedWriting) {
            let at = |settled| of_all.iter().flatten().filter(move |w| w.2 == settled).map(|w| w.1);
            let mut flush_points: Vec<u64> = at(false).collect();
            flush_points.dedup();
            prop_assert!(flush_points.len() <= 1, "{:?}", of_all);
            if let Some(&flush_point) = flush_points.first() {
                prop_assert!(at(true).all(|settled| settled <= flush_point), "{:?}", of_all);
            }
        }
    }
    prop_assert!(written.iter().all(|writes| writes.len() == written[0].len()));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn whatever_the_speeds_all_write_at_the_same_flush_points_and_come_to_their_ends(
        ranks in prop::collection::vec((0_usize..60, 1_usize..300, 1_usize..10), 1..7),
        by_hand in prop::option::of(0_usize..60),
        seed in any::<u64>(),
    ) {
        let flush_points: Vec<_> = ranks.iter().map(|r| r.0).collect();
        let intervals: Vec<_> = ranks.iter().map(|r| r.1).collect();
        let speeds: Vec<_> = ranks.iter().map(|r| r.2).collect();
        check(&run(&flush_points, by_hand, &intervals, &speeds, seed))?;
    }
}

#[test]
fn many_ranks_in_step_write_again_and_again() {
    let ranks = 64;
    let written = run(&vec![300; ranks], Some(50), &vec![20_000; ranks], &vec![1; ranks], 7);
    check(&written).unwrap();
    let agreed = written[0].iter().filter(|write| write.0 == Write::AgreedWriting).count();
    assert!(agreed >= 2, "{agreed}: {:?}", written[0]);
}

#[test]
fn a_rank_without_flush_points_stops_nobody() {
    let written = run(&[100, 0, 100], None, &[10, 10, 10], &[1, 1, 1], 3);
    assert!(
        written.iter().all(|writes| writes.iter().map(|w| w.0).eq([Write::Flush])),
        "{written:?}"
    );
}

#[test]
fn who_retires_keeps_its_promise_and_makes_none() {
    let all = Reductions::default();
    let mut ranks: Vec<_> = (0..2)
        .map(|rank| {
            let all = Rc::clone(&all);
            Agreement::new(VirtualMaxima {
                all,
                rank,
                ranks: 2,
                begun: 0,
                given: 0,
                random: Random(5),
            })
        })
        .collect();
    assert_eq!(ranks[0].at_flush_point(1, true, 1), Step::Go);
    assert_eq!(ranks[0].retire(), Step::Go, "nobody waits for it yet");
    assert_eq!(ranks[1].at_flush_point(1, true, 1), Step::Go);
    while ranks[1].is_pending() {
        assert_eq!(ranks[1].at_flush_point(2, false, 1), Step::Go, "the other one was late");
    }
    assert!(ranks[1].is_idle());
    // The next attempt succeeds, and one of the two ranks promises before it retires.
    while ranks[0].is_pending() {
        assert_ne!(ranks[0].retire(), Step::Write);
    }
    assert_eq!(ranks[0].at_flush_point(2, true, 4), Step::Go);
    assert_eq!(ranks[1].at_flush_point(3, true, 4), Step::Go);
    let until_write = |rank: &mut Agreement<_>| (0..100).any(|_| rank.retire() == Step::Write);
    while ranks[1].stops_at() != Some(11) || ranks[0].stops_at() != Some(11) {
        ranks.iter_mut().for_each(|rank| assert_eq!(rank.at_flush_point(3, false, 4), Step::Go));
    }
    assert!(ranks.iter_mut().all(until_write));
}
