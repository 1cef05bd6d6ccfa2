//! A thread that delivers documents to one target, whatever that does: it never waits longer than
//! it was told to, holds a bounded number of documents, and counts those that are lost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::super::queue::Queue;
use super::target::{Again, Failure, Target};
use crate::{render, sys};

/// How long documents may take that are left when the job has ended.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// How long a document is tried again.
const TRIED_FOR: Duration = Duration::from_secs(300);

/// The first and the longest pause before the next try.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// The time between two looks whether the thread has ended.
const LOOK: Duration = Duration::from_millis(10);

/// A target, and the thread that serves it.
pub(super) struct Sender {
    pub(super) target: String,
    queue: Arc<Queue>,
    tally: Arc<Mutex<Tally>>,
    thread: JoinHandle<()>,
}

/// The outcome of all documents so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) delivered: u64,
    /// Those that were given up.
    pub(super) dropped: u64,
    /// Points that a collector has refused, of documents that it took.
    pub(super) rejected: u64,
    /// The newest reason.
    pub(super) why: String,
    /// 1 while a document is tried.
    tried: u64,
}

impl Sender {
    /// Begins to serve a target, which is called so in what is told of it.
    pub(super) fn start(target: String, way: Box<dyn Target>) -> Self {
        let (queue, tally) = (Arc::new(Queue::default()), Arc::default());
        let mut work = Work {
            target: target.clone(),
            way,
            queue: Arc::clone(&queue),
            tally: Arc::clone(&tally),
            has_told: false,
        };
        let thread = thread::spawn(move || work.run());
        Self { target, queue, tally, thread }
    }

    pub(super) fn push(&self, document: String) {
        self.queue.push(document);
    }

    /// Returns the number of documents that are lost so far.
    pub(super) fn dropped(&self) -> u64 {
        locked(&self.tally).dropped + self.queue.lost()
    }

    /// Takes no more documents.
    pub(super) fn close(&self) {
        self.queue.close();
    }

    /// Waits for what is left, but not for long, and returns what has become of all.
    pub(super) fn finish(self) -> Tally {
        self.close();
        while !self.thread.is_finished() && self.queue.closed_for() < PATIENCE {
            thread::sleep(LOOK);
        }
        let mut tally = locked(&self.tally).clone();
        let left = self.queue.len() + tally.tried;
        if left > 0 && tally.why.is_empty() {
            tally.why = format!("no answer within {} s", PATIENCE.as_secs());
        }
        tally.dropped += self.queue.lost() + left;
        tally
    }
}

fn locked(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The work of the thread.
struct Work {
    target: String,
    way: Box<dyn Target>,
    queue: Arc<Queue>,
    tally: Arc<Mutex<Tally>>,
    has_told: bool,
}

impl Work {
    fn run(&mut self) {
        while let Some(document) = self.queue.next() {
            locked(&self.tally).tried = 1;
            let is_delivered = self.carry(&document);
            let mut tally = locked(&self.tally);
            tally.tried = 0;
            tally.delivered += u64::from(is_delivered);
            tally.dropped += u64::from(!is_delivered);
        }
    }

    /// Delivers a document, if it takes several tries. Returns whether it was delivered.
    fn carry(&mut self, document: &str) -> bool {
        let (begun_ns, mut pause) = (sys::now().monotonic_ns, PAUSE);
        loop {
            let limit = PATIENCE.saturating_sub(self.queue.closed_for());
            if limit.is_zero() {
                return false;
            }
            let limit = if self.queue.is_closed() { limit } else { Duration::MAX };
            let failure = match self.way.deliver(document, limit) {
                Ok(accepted) => {
                    if accepted.rejected > 0 {
                        locked(&self.tally).rejected += accepted.rejected;
                        let why = format!("{} points refused: {}", accepted.rejected, accepted.why);
                        self.tell(&why, "others were taken");
                    }
                    return true;
                }
                Err(failure) => failure,
            };
            if !self.may_try_again(&failure, begun_ns, pause) {
                return false;
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Waits before another try. Returns false if there shall be none.
    fn may_try_again(&mut self, failure: &Failure, begun_ns: u64, pause: Duration) -> bool {
        let (pause, has_asked) = match failure.again {
            Again::Never => {
                self.tell(&failure.why, "what is not taken is dropped");
                return false;
            }
            Again::Later => (pause.mul_f64(jitter()), false),
            Again::After(asked) => (asked, true),
        };
        self.tell(&failure.why, "it is tried again, and the oldest are dropped");
        if sys::since(begun_ns) + pause > TRIED_FOR {
            return false;
        }
        let paused_ns = sys::now().monotonic_ns;
        let was_closed = self.queue.is_closed();
        self.queue.pause(pause);
        if !self.queue.is_closed() {
            return true;
        }
        // At the end there is one more try at once, unless the collector has asked for a pause.
        let rest = pause.saturating_sub(sys::since(paused_ns));
        let left = PATIENCE.saturating_sub(self.queue.closed_for());
        if has_asked && rest < left {
            thread::sleep(rest);
            return true;
        }
        !has_asked && !was_closed
    }

    /// Tells the first trouble, and remembers the last.
    fn tell(&mut self, why: &str, what_then: &str) {
        why.clone_into(&mut locked(&self.tally).why);
        if !self.has_told {
            self.has_told = true;
            render::notes(&[format!("{}: {why}; {what_then}", self.target)]);
        }
    }
}

/// Returns a factor from 0.5 to 1.5: many who were refused at the same time should not come back at
/// the same time.
fn jitter() -> f64 {
    let number = getrandom::u32().unwrap_or(u32::MAX / 2);
    0.5 + f64::from(number) / f64::from(u32::MAX)
}
