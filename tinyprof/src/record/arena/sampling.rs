//! Callpaths that time only some of their visits, to stay within a budget.
//!
//! Visits come in blocks of 2^k neighbours. One of them, chosen at random, is timed and represents
//! all of them. The word of the node that otherwise holds the time of entry then holds a countdown
//! to that visit, so a visit that is not timed costs one word.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_format::ticks::Samples;
use tinyprof_segment::layout::{LINE_WORDS, header, samples, skipped};
use tinyprof_segment::words::{Line, high, low, pack};

use super::super::budget::{self, Budget, SpentTime, Wanted};
use super::super::clock::Clock;
use super::super::element::{PastExecution, SeriesElement};
use super::super::log;
use super::super::node::{
    EXECUTION, MAX, MIN, Node, PARENT, SAMPLES, SERIES, START, SUM, VISITS, kind,
};
use super::Arena;
use super::live::{add_square, complete_execution, live_execution};
use super::usual::counted_units;

/// The class of a block for a record of samples.
const SAMPLES_CLASS: u32 = 1;
const _: () = assert!(samples::WORDS == LINE_WORDS << SAMPLES_CLASS);

/// A thread's bookkeeping for its budget.
#[derive(Debug)]
pub(super) struct Sampler {
    #[cfg(test)]
    budget: std::sync::OnceLock<Budget>,
    random: AtomicU64,
    /// Timed visits until the next check of the budget, and their number between two checks.
    to_go: AtomicU64,
    quantum: AtomicU64,
    first_ticks: AtomicU64,
    last_ticks: AtomicU64,
    total_timed: AtomicU64,
}

impl Sampler {
    pub(super) fn new(clock: Clock) -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            #[cfg(test)]
            budget: std::sync::OnceLock::new(),
            random: AtomicU64::new(clock.ticks() | 1),
            to_go: zero(),
            quantum: zero(),
            first_ticks: zero(),
            last_ticks: zero(),
            total_timed: zero(),
        }
    }

    #[cfg(test)]
    pub(super) fn seed(&self, seed: u64) {
        self.random.store(seed | 1, Relaxed);
    }

    fn budget(&self) -> Option<Budget> {
        #[cfg(test)]
        if let Some(budget) = self.budget.get() {
            return Some(*budget);
        }
        budget::installed()
    }

    /// Returns `bits` random bits (Marsaglia's xorshift64*).
    fn draw(&self, bits: u32) -> u32 {
        let mut state = self.random.load(Relaxed);
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.random.store(state, Relaxed);
        let mixed = high(state.wrapping_mul(0x2545_f491_4f6c_dd1d));
        mixed.checked_shr(u32::BITS - bits).unwrap_or(0)
    }
}

/// The record of a node's samples.
#[derive(Clone, Copy)]
struct Record<'a>(&'a [AtomicU64; samples::WORDS]);

impl Record<'_> {
    fn of(node: Node<'_>) -> Option<Record<'_>> {
        let line = Line::from_number(low(node.get(SAMPLES)));
        // SAFETY: `attach_samples` has put the line of such a record there.
        (!line.is_none()).then(|| Record(unsafe { node.segment.record(line, 0) }))
    }

    fn get(self, word: usize) -> u64 {
        self.0[word].load(Relaxed)
    }

    fn set(self, word: usize, value: u64) {
        self.0[word].store(value, Relaxed);
    }

    fn add_float(self, word: usize, value: f64) {
        self.set(word, (f64::from_bits(self.get(word)) + value).to_bits());
    }

    fn sums(self) -> Samples {
        Samples {
            weight: self.get(samples::WEIGHT),
            sampled: self.get(samples::SAMPLED),
            spread: [0, 1, 2].map(|at| f64::from_bits(self.get(samples::SPREAD + at))),
            stood_for: self.get(samples::STOOD_FOR),
            stood_for_before: self.get(samples::STOOD_FOR_BEFORE),
            cost: f64::from_bits(self.get(samples::COST)),
            cost_error: f64::from_bits(self.get(samples::COST_ERROR)),
        }
    }

    fn clear_sums(self) {
        let before =
            self.get(samples::STOOD_FOR_BEFORE).saturating_add(self.get(samples::STOOD_FOR));
        self.set(samples::STOOD_FOR_BEFORE, before);
        self.set(samples::STOOD_FOR, 0);
        (0..samples::SHIFT).for_each(|word| self.set(word, 0));
    }
}

/// Returns the live numbers of a node, estimated if not all visits were timed. `start` is the
/// node's word `START`.
pub(super) fn live_estimate(node: Node<'_>, start: u64) -> PastExecution {
    let live = live_execution(node);
    let live = PastExecution { visits: live.visits.wrapping_add(skipped::passed(start)), ..live };
    Record::of(node).map_or(live, |record| live.estimated(&record.sums()))
}

impl Arena {
    /// Sets a budget for this arena alone.
    #[cfg(test)]
    pub(in crate::record) fn set_budget(&self, budget: Budget) {
        self.sampler.budget.set(budget).expect("it has none yet");
    }

    /// Attaches samples to a new record, if there is a budget. Without memory for them, all of its
    /// visits are timed.
    pub(super) fn prepare_samples(&self, node: Node<'_>) {
        let Some(budget) = self.sampler.budget() else { return };
        let Some(record) = self.attach_samples(node) else { return };
        record.set(samples::COST, budget.cost_inside().0.to_bits());
        record.set(samples::COST_ERROR, budget.cost_inside().1.to_bits());
        if self.sampler.quantum.load(Relaxed) == 0 {
            let now = self.clock.ticks();
            self.sampler.first_ticks.store(now, Relaxed);
            self.sampler.last_ticks.store(now, Relaxed);
            self.begin_quantum(Budget::first_quantum());
        }
    }

    fn attach_samples<'a>(&self, node: Node<'a>) -> Option<Record<'a>> {
        let (line, _) = self.segment.allocate_zeroed(SAMPLES_CLASS)?;
        node.set(SAMPLES, pack(line.number(), node.completed_or_depth()));
        Record::of(node)
    }

    /// Makes the callpath at `line` time one in 2^`shift` of its visits, whatever the budget, to
    /// measure the cost of that. Returns false if there is no memory. Owner only, in the first
    /// visit.
    pub(in crate::record) fn time_one_in(&self, line: Line, shift: u32) -> bool {
        let node = self.node(line);
        let Some(record) = self.attach_samples(node) else { return false };
        record.set(samples::SHIFT, pack(shift, shift));
        node.set(
            EXECUTION,
            pack(low(node.get(EXECUTION)), high(node.get(EXECUTION)) | kind::SAMPLED),
        );
        self.remember(node.parent(), self.site(line), line);
        self.begin_quantum(u32::MAX);
        true
    }

    /// Returns the mean ticks of the timed visits of the callpath at `line`. Owner only.
    #[expect(clippy::cast_precision_loss, reason = "a mean of some thousand visits")]
    pub(in crate::record) fn mean_timed(&self, line: Line) -> Option<f64> {
        let node = self.node(line);
        let weight = Record::of(node)?.get(samples::WEIGHT);
        (weight > 0).then(|| node.get(SUM) as f64 / weight as f64)
    }

    fn begin_quantum(&self, visits: u32) {
        self.sampler.quantum.store(visits.into(), Relaxed);
        self.sampler.to_go.store(visits.into(), Relaxed);
    }

    /// Returns whether the visit that begins is not timed; if so, it is counted.
    #[inline]
    pub(super) fn skips(&self, node: Node<'_>) -> bool {
        let start = node.get(START);
        if let Some(left) = skipped::one_less(start) {
            node.set(START, left);
            return true;
        }
        if start & skipped::MARK != 0 {
            self.count_those_that_came(node);
        }
        false
    }

    /// Passes the flush point of a loop, the innermost open region, after an iteration that was not
    /// timed; the next one may be. Owner only.
    #[inline]
    pub(super) fn next_iteration_not_timed(&self, node: Node<'_>) {
        if !self.skips(node) {
            node.set(START, self.clock.ticks());
        }
    }

    /// Adds the visits that were not timed to the record's number of visits.
    #[cold]
    #[inline(never)]
    fn count_those_that_came(&self, node: Node<'_>) {
        let Some(record) = Record::of(node) else { return };
        let start = node.get(START);
        let (came, remaining) = (skipped::passed(start), skipped::remaining(start));
        // If this code interrupts an update of the record, that update is for a visit that ends,
        // which does not wait for others.
        node.update(|| self.count(node, record, came, skipped::word(remaining, remaining)));
    }

    /// Adds `came` visits that were not timed. Inside of [`Node::update`].
    fn count(&self, node: Node<'_>, record: Record<'_>, came: u64, start: u64) {
        node.set(VISITS, node.get(VISITS).wrapping_add(came));
        node.set(START, start);
        let block = record.get(samples::BLOCK);
        record.set(samples::BLOCK, pack(low(block), high(block).saturating_add(low(came))));
        let not_timed = self.visits_not_timed.load(Relaxed) + came;
        self.visits_not_timed.store(not_timed, Relaxed);
        self.header(header::VISITS_NOT_TIMED).store(not_timed, Relaxed);
    }

    /// Counts a visit that represents only itself: a recursive one, whose time is in the outer
    /// visit, or a polled one. Inside of [`Node::update`].
    pub(super) fn add_unsampled(&self, node: Node<'_>) {
        if let Some(record) = Record::of(node) {
            record.set(samples::WEIGHT, record.get(samples::WEIGHT).wrapping_add(1));
        }
    }

    /// Adds a visit of a callpath under a budget; `start` is the beginning of the next visit, or 0.
    #[inline(never)]
    #[expect(clippy::cast_precision_loss, reason = "variances are statistics: 53 bits are plenty")]
    pub(super) fn add_sampled_visit(&self, node: Node<'_>, ticks: u64, execution: u32, start: u64) {
        let Some(record) = Record::of(node) else { return };
        let shift = low(record.get(samples::SHIFT));
        let weight = 1_u64 << shift;
        let came = high(record.get(samples::BLOCK));
        let added = node.update(|| {
            self.begin_execution(node, execution);
            node.set(VISITS, node.get(VISITS) + 1);
            node.set(SUM, node.get(SUM).wrapping_add(ticks.wrapping_mul(weight)));
            node.set(MIN, node.get(MIN).min(ticks));
            node.set(MAX, node.get(MAX).max(ticks));
            add_square(node, u128::from(ticks).pow(2) << shift);
            record.set(samples::WEIGHT, record.get(samples::WEIGHT).wrapping_add(weight));
            if shift > 0 {
                let (spread, x) = (weight as f64 * (weight - 1) as f64, ticks as f64);
                self.count_cost(counted_units(weight - 1));
                record.set(samples::SAMPLED, record.get(samples::SAMPLED) + 1);
                record.set(
                    samples::STOOD_FOR,
                    record.get(samples::STOOD_FOR).wrapping_add(weight - 1),
                );
                record.add_float(samples::SPREAD, spread);
                record.add_float(samples::SPREAD + 1, spread * x);
                record.add_float(samples::SPREAD + 2, spread * x * x);
            }
            let visits = came.saturating_add(1);
            let sum = ticks.wrapping_mul(visits.into());
            let element = SeriesElement { execution, visits, sum, min: ticks, max: ticks };
            if low(node.get(SERIES + 1)) != 0 && !log::push(node, element) {
                self.lose_visits(visits.into());
            }
            complete_execution(node);
            node.set(START, self.draw(record, shift, start));
        });
        if !added {
            return self.keep_out_visit();
        }
        record.set(samples::TIMED, record.get(samples::TIMED) + 1);
        let to_go = self.sampler.to_go.load(Relaxed).saturating_sub(1);
        self.sampler.to_go.store(to_go, Relaxed);
        if to_go == 0 {
            self.look_at_budget();
        }
    }

    /// Draws the visit to be timed next, and returns the word that waits for it. A block ends
    /// before the next one begins, which may have another size.
    fn draw(&self, record: Record<'_>, shift: u32, start: u64) -> u64 {
        let rest = if shift == 0 { 0 } else { low(record.get(samples::BLOCK)) };
        let next = high(record.get(samples::SHIFT));
        let position = self.sampler.draw(next);
        record.set(samples::SHIFT, pack(next, next));
        record.set(samples::BLOCK, pack((1 << next) - 1 - position, 0));
        let drawn = rest + position;
        match (drawn, start) {
            (0, _) => start,
            (_, 0) => skipped::word(drawn, drawn),
            // The first of them begins now.
            _ => skipped::word(drawn, drawn - 1),
        }
    }

    /// Ends the live numbers of a callpath under a budget, before those of `execution` begin.
    /// Inside of [`Node::update`].
    ///
    /// If not all visits are timed, it is not known to which of the executions since then each
    /// visit belongs, so the summary covers all of them.
    #[cold]
    pub(super) fn close_samples(&self, node: Node<'_>, execution: u32) {
        let Some(record) = Record::of(node) else { return };
        let start = node.get(START);
        if start & skipped::MARK != 0 {
            let remaining = skipped::remaining(start);
            self.count(node, record, skipped::passed(start), skipped::word(remaining, remaining));
        }
        if node.get(VISITS) > 0 {
            let live = live_estimate(node, 0);
            let all_timed =
                record.get(samples::SAMPLED) == 0 && low(record.get(samples::SHIFT)) == 0;
            let since = execution.saturating_sub(low(node.get(EXECUTION)));
            let executions = if all_timed { 1 } else { since.max(1) };
            if !log::push(node, PastExecution { executions, ..live }) {
                self.lose_visits(live.visits);
            }
        }
        record.clear_sums();
    }

    /// Distributes the allowed timed visits anew. Once every few hundred timed visits.
    #[cold]
    #[inline(never)]
    fn look_at_budget(&self) {
        let Some(budget) = self.sampler.budget() else { return };
        let now = self.clock.ticks();
        let total_timed =
            self.sampler.total_timed.load(Relaxed) + self.sampler.quantum.load(Relaxed);
        self.sampler.total_timed.store(total_timed, Relaxed);
        let spent = SpentTime {
            total_ticks: now.saturating_sub(self.sampler.first_ticks.load(Relaxed)),
            since_ticks: now.saturating_sub(self.sampler.last_ticks.load(Relaxed)),
            total_timed,
        };
        self.sampler.last_ticks.store(now, Relaxed);
        let (mut wanted, mut callpaths) = (Wanted::none(), 0);
        self.for_each_sampled(|record| {
            wanted.add(visits_wanted(record));
            callpaths += 1;
        });
        let plan = budget.plan(spent, &wanted, callpaths);
        self.for_each_sampled(|record| {
            let shift = low(record.get(samples::SHIFT));
            record.set(samples::SHIFT, pack(shift, plan.shift(visits_wanted(record))));
            record.set(samples::TIMED, 0);
        });
        self.begin_quantum(plan.quantum);
    }

    fn for_each_sampled(&self, mut use_record: impl FnMut(Record<'_>)) {
        let mut line = Line::from_number(self.last_node.load(Relaxed));
        while !line.is_none() {
            let node = self.node(line);
            if let Some(record) = Record::of(node) {
                use_record(record);
            }
            line = Line::from_number(high(node.get(PARENT)));
        }
    }
}

/// Estimates the visits of a callpath since the last check from those that were timed.
fn visits_wanted(record: Record<'_>) -> u64 {
    let shift = low(record.get(samples::SHIFT));
    record.get(samples::TIMED).checked_shl(shift).unwrap_or(u64::MAX)
}
