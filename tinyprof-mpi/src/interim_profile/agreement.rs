//! One rank's part in the agreement on a flush point: a plain value that knows neither MPI nor a
//! clock.

/// The proposal of a rank that settles, greater than any flush point.
pub(super) const HOLD: u64 = u64::MAX;
const IN_TIME: u64 = 0;
const LATE: u64 = 1;

/// The largest number of times that `ahead` is doubled.
const DOUBLINGS_MAX: u32 = 20;

/// Reductions that complete in the order in which they were begun, with at most two pending at a
/// time.
pub(super) trait Maxima {
    /// Begins a reduction: the maximum of the n-th values of all ranks. Does not wait.
    fn begin(&mut self, value: u64);

    /// Returns the result of the oldest reduction that has not been returned yet, or `None` if it
    /// is not complete. Does not wait.
    fn complete(&mut self) -> Option<u64>;
}

/// The action that a rank must take at a flush point, or when it settles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
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
pub(super) struct Agreement<M> {
    maxima: M,
    state: State,
    doublings: u32,
}

impl<M: Maxima> Agreement<M> {
    pub(super) fn new(maxima: M) -> Self {
        Self { maxima, state: State::Idle, doublings: 0 }
    }

    /// Returns the reductions used for communication.
    pub(super) fn maxima(&self) -> &M {
        &self.maxima
    }

    /// Returns whether an attempt may begin.
    pub(super) fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    /// Returns whether the next step of an attempt depends on other ranks.
    pub(super) fn is_pending(&self) -> bool {
        !matches!(self.state, State::Idle | State::Held)
    }

    /// Returns the flush point at which an action is due, whatever the time.
    pub(super) fn stops_at(&self) -> Option<u64> {
        match self.state {
            State::Proposed(at) | State::Promised(at) | State::Decided(at) => Some(at),
            State::Idle | State::Late(_) | State::Held => None,
        }
    }

    /// Returns the action at flush point number `flush_point`. If an interim profile is due,
    /// proposes one `ahead` flush points away, at least one.
    pub(super) fn at_flush_point(&mut self, flush_point: u64, is_due: bool, ahead: u64) -> Step {
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
    pub(super) fn settle(&mut self) -> Step {
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
    pub(super) fn retire(&mut self) -> Step {
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
        self.doublings = self.doublings.saturating_sub(1);
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
