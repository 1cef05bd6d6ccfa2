//! One rank's part in the agreement on a flush point: a plain value that knows neither MPI nor a
//! clock. At the flush point, all ranks write an interim profile (the paper's error tolerance).
//!
//! # The agreement
//!
//! Each rank counts its flush points on the thread that initialised MPI: the ends of its root
//! regions, the moments between two iterations of loops that are marked `flush_point`, and, unless
//! the program has a profiler, the moments before blocking collective operations on the world. A
//! program may not rely on whether such an operation waits for all ranks (MPI 4.0, section 6.14),
//! so a rank may wait there for the others, too. When the
//! interval has passed on its own clock, a rank proposes a flush point a little ahead of it. All
//! ranks write at the greatest proposal. No rank waits for another until it has reached that flush
//! point, and every message is part of a non-blocking `MPI_Iallreduce(MAX)`.
//!
//! An *attempt* to agree consists of two reductions, each of which every rank begins once, in this
//! order:
//!
//! 1. **Proposals.** A rank begins it when its interval is over, with the number of a flush point
//!    that it has not reached. When it is complete, the rank knows the greatest one, B.
//! 2. **Verdicts.** A rank that learns of B before it passes its own proposal is in time. It begins
//!    with `IN_TIME`, a promise to stop at B. It has not passed B, because B is at least its
//!    proposal. A rank that reaches its own proposal without knowing B begins with `LATE`, and
//!    continues.
//!
//! All write at B if all were in time. Otherwise nobody writes, and a new attempt proposes flush
//! points twice as far ahead. A rank that comes to its flush (or to an interim profile by hand)
//! *settles*: it begins the reductions of the attempt that it has not begun, with `HOLD`, the
//! greatest number there is, as its proposal, or with `LATE` as its verdict. If it has promised, it
//! writes with the others there and then. An attempt in which a rank proposed `HOLD` is the last
//! one of every rank until that rank settles, too.
//!
//! # Why it is correct
//!
//! *Same order.* A rank begins the proposals of an attempt only after it has seen the verdict of
//! the attempt before, and it begins the verdict once, right after its proposal. So the n-th
//! reduction is the same one on all ranks, whatever their clocks say.
//!
//! *Same flush point.* A rank writes after a verdict in which all were in time. Then every rank
//! knew B, the maximum of the same proposals, before it had passed it, and stops there, or settles
//! before it gets there. Either way it writes once.
//!
//! *No circular wait.* Assume that flush points are the same places of the program on all ranks: a
//! rank gets to its n-th flush point, or to its flush, without anything that another rank does
//! after its own n-th. A rank waits in two cases.
//!
//! (a) It waits at B, for the verdicts of the others and for them to come. The proposals are
//! complete, so every other rank begins its verdict when it settles or reaches its own proposal,
//! whichever is first; its proposal is not behind B. Then it comes to B, or settles. It does all of
//! that before it passes B, and so needs nothing that the waiting rank does after B.
//!
//! (b) It waits when it settles, until all ranks have begun both reductions of all attempts up to
//! one with `HOLD`. The others begin them at flush points, where they wait for this rank only as in
//! (a), and then it writes with them. Or they begin them when they settle, and all ranks settle,
//! because a flush is collective.
//!
//! *Progress.* Once `ahead` is longer than the ranks are apart, all are in time. It doubles with
//! each attempt that fails, and what it was doubled by is halved on a logarithmic scale with each
//! that succeeds.
//!
//! If ranks do not have the same flush points (masters and workers), the assumption fails, and (a)
//! could wait for ever. So a rank that has waited at B for [`PATIENCE_NS`](pace::PATIENCE_NS) says
//! so once and continues. It writes at its next flush point if the others have come by then, and
//! takes part in no other attempt. The next attempt then stays open on all ranks, without any of
//! them waiting.

pub mod pace;
#[cfg(test)]
mod tests;

/// The proposal of a rank that settles, greater than any flush point.
pub(crate) const HOLD: u64 = u64::MAX;
const IN_TIME: u64 = 0;
const LATE: u64 = 1;

/// The largest number of times that `ahead` is doubled.
const DOUBLINGS_MAX: u32 = 20;

/// Reductions that complete in the order in which they were begun, with at most two pending at a
/// time.
pub trait Maxima {
    /// Begins a reduction: the maximum of the n-th values of all ranks. Does not wait.
    fn begin(&mut self, value: u64);

    /// Returns the result of the oldest reduction that has not been returned yet, or `None` if it
    /// is not complete. Does not wait.
    fn complete(&mut self) -> Option<u64>;
}

/// The action that a rank must take at a flush point, or when it settles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Continue.
    Go,
    /// Wait, and ask again before continuing.
    Wait,
    /// Write the interim profile, with all others.
    Write,
}

/// The state of the current attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No attempt has begun.
    Idle,
    /// We have made a proposal; the greatest one is not known.
    Proposed(u64),
    /// We are in time for the flush point; whether the others are is not known.
    Promised(u64),
    /// All ranks write at the flush point.
    Decided(u64),
    /// We are late. Holds the greatest proposal, if it is known.
    Late(Option<u64>),
    /// No attempt begins until we settle, because another rank has settled.
    Held,
}

/// One rank's part in the agreement.
#[derive(Debug)]
pub struct Agreement<M> {
    maxima: M,
    state: State,
    doublings: u32,
}

impl<M: Maxima> Agreement<M> {
    /// Creates the part of a rank that has made no proposal.
    pub fn new(maxima: M) -> Self {
        Self { maxima, state: State::Idle, doublings: 0 }
    }

    /// Returns the reductions used for communication.
    pub fn maxima(&self) -> &M {
        &self.maxima
    }

    /// Returns whether an attempt may begin.
    pub fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    /// Returns whether the next step of an attempt depends on other ranks.
    pub fn is_pending(&self) -> bool {
        !matches!(self.state, State::Idle | State::Held)
    }

    /// Returns the flush point at which an action is due, whatever the time.
    pub fn stops_at(&self) -> Option<u64> {
        match self.state {
            State::Proposed(at) | State::Promised(at) | State::Decided(at) => Some(at),
            State::Idle | State::Late(_) | State::Held => None,
        }
    }

    /// Returns the action at flush point number `flush_point`. If an interim profile is due,
    /// proposes one `ahead` flush points away, at least one.
    pub fn at_flush_point(&mut self, flush_point: u64, is_due: bool, ahead: u64) -> Step {
        self.advance();
        match self.state {
            State::Idle if is_due => {
                let ahead = ahead.max(1).saturating_mul(1 << self.doublings);
                let proposal = flush_point.saturating_add(ahead).min(HOLD - 1);
                self.maxima.begin(proposal);
                self.state = State::Proposed(proposal);
                Step::Go
            }
            State::Proposed(proposal) if flush_point >= proposal => {
                self.be_late();
                Step::Go
            }
            State::Promised(at) if flush_point >= at => Step::Wait,
            State::Decided(at) if flush_point >= at => self.write(),
            _ => Step::Go,
        }
    }

    /// Returns the action at a point where the rank waits for all others, so that nothing stays
    /// pending after it. The rank has settled when there is nothing left to do.
    pub fn settle(&mut self) -> Step {
        self.advance();
        match self.state {
            State::Idle => {
                self.maxima.begin(HOLD);
                self.be_late();
                Step::Wait
            }
            State::Proposed(_) => {
                self.be_late();
                Step::Wait
            }
            State::Promised(_) | State::Late(_) => Step::Wait,
            State::Decided(_) => self.write(),
            State::Held => {
                self.state = State::Idle;
                Step::Go
            }
        }
    }

    /// Returns the action when leaving the agreement without waiting for ranks that may not come:
    /// keeps a promise, and makes none.
    pub fn retire(&mut self) -> Step {
        self.advance();
        match self.state {
            State::Proposed(_) => {
                self.be_late();
                Step::Go
            }
            State::Promised(_) => Step::Wait,
            State::Decided(_) => self.write(),
            State::Idle | State::Late(_) | State::Held => Step::Go,
        }
    }

    fn be_late(&mut self) {
        self.maxima.begin(LATE);
        self.state = State::Late(None);
    }

    fn write(&mut self) -> Step {
        self.state = State::Idle;
        self.doublings /= 2;
        Step::Write
    }

    /// Advances as far as reductions are complete.
    fn advance(&mut self) {
        while self.is_pending()
            && !matches!(self.state, State::Decided(_))
            && let Some(maximum) = self.maxima.complete()
        {
            self.state = match self.state {
                State::Proposed(_) if maximum == HOLD => {
                    self.maxima.begin(LATE);
                    State::Late(Some(HOLD))
                }
                State::Proposed(_) => {
                    self.maxima.begin(IN_TIME);
                    State::Promised(maximum)
                }
                State::Promised(at) if maximum == IN_TIME => State::Decided(at),
                State::Late(None) => State::Late(Some(maximum)),
                State::Late(Some(HOLD)) => State::Held,
                State::Promised(_) | State::Late(Some(_)) => {
                    self.doublings = (self.doublings + 1).min(DOUBLINGS_MAX);
                    State::Idle
                }
                unchanged @ (State::Idle | State::Decided(_) | State::Held) => unchanged,
            };
        }
    }
}
