//! The communicator on a real MPI. No operation waits for the others longer than a deadline.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tinyprof_flush::communicator::{Communicator, Interrupted, Interruption};
use tinyprof_settings::DEADLINE_DEFAULT;

use super::patience::Patience;
use super::roll_call::RollCall;
use crate::sys::{Operator, Pending, PrivateCommunicator, ProgramCommunicator, room};

/// The tag of the messages of the phases; the roll call has its own tag.
const TAG: i32 = 0;

/// A range of consecutive ranks on our own communicator.
pub(crate) struct MpiCommunicator {
    shared: Rc<Shared>,
    first: u32,
    size: u32,
}

struct Shared {
    /// The communicator, or the reason why there is none.
    link: Result<PrivateCommunicator, String>,
    deadline: Cell<Duration>,
    roll_call: RollCall,
    /// The reason why nothing can be sent any more: an operation was abandoned, so the ranks are no
    /// longer at the same one.
    broken: RefCell<Option<Interrupted>>,
}

impl MpiCommunicator {
    /// Duplicates `program`'s communicator, at the beginning of a run. Collective over it, and
    /// blocking.
    pub(crate) fn duplicate_of(program: ProgramCommunicator) -> Self {
        Self::on(PrivateCommunicator::duplicate_of(program))
    }

    /// Creates the communicator of all ranks of a link.
    pub(crate) fn on(link: Result<PrivateCommunicator, String>) -> Self {
        let size = link.as_ref().map_or(1, PrivateCommunicator::size);
        let (deadline, roll_call) = (Cell::new(DEADLINE_DEFAULT), RollCall::default());
        let broken = RefCell::default();
        Self { shared: Rc::new(Shared { link, deadline, roll_call, broken }), first: 0, size }
    }

    /// Begins a flush, in which no step may wait for other ranks longer than `deadline`.
    pub(crate) fn begin_flush(&self, deadline: Duration) {
        self.shared.deadline.set(deadline);
        if let (Ok(link), None) = (&self.shared.link, &*self.shared.broken.borrow()) {
            self.shared.roll_call.begin(link);
        }
    }

    /// Returns the longest time that a step of the flush may wait for other ranks.
    pub(crate) fn deadline(&self) -> Duration {
        self.shared.deadline.get()
    }

    /// Ends a flush: receives the words sent meanwhile, as no message may be left when MPI is
    /// finalised.
    pub(crate) fn end_flush(&self) {
        if let Ok(link) = &self.shared.link {
            self.shared.roll_call.listen(link);
        }
    }

    /// Starts an operation and waits for it to complete.
    async fn complete<B>(
        &self,
        start: impl FnOnce(&PrivateCommunicator) -> Result<Pending<B>, String>,
    ) -> Result<B, Interrupted> {
        let shared = &*self.shared;
        let mut pending = shared.start(start)?;
        let mut wait = Patience::begin();
        poll_fn(|_| {
            let outcome = match pending.is_done() {
                Ok(true) => Ok(()),
                Err(reason) => Err(shared.failed(&reason)),
                Ok(false) if wait.so_far() >= shared.deadline.get() => {
                    Err(shared.late(pending.call()))
                }
                Ok(false) => {
                    if wait.so_far() >= shared.deadline.get() / 4 {
                        shared.call_once();
                    }
                    wait.pause();
                    return Poll::Pending;
                }
            };
            Poll::Ready(outcome)
        })
        .await?;
        pending.finish().ok_or_else(|| shared.failed("an operation of MPI ended twice"))
    }

    fn rank_on_link(&self, rank: u32) -> u32 {
        self.first + rank
    }
}

impl Shared {
    fn start<B>(
        &self,
        start: impl FnOnce(&PrivateCommunicator) -> Result<Pending<B>, String>,
    ) -> Result<Pending<B>, Interrupted> {
        if let Some(interrupted) = &*self.broken.borrow() {
            return Err(interrupted.clone());
        }
        match &self.link {
            Ok(link) => start(link).map_err(|reason| self.failed(&reason)),
            Err(reason) => Err(self.failed(reason)),
        }
    }

    fn call_once(&self) {
        if let Ok(link) = &self.link {
            self.roll_call.call_once(link);
        }
    }

    /// Handles an error of MPI: this rank stops here, and the others meet their deadlines.
    fn failed(&self, reason: &str) -> Interrupted {
        // The other ranks wait for this one, and the first of them reports its number; its own
        // profile contains the reason.
        let is_reporter = self.link.as_ref().is_ok_and(|link| link.rank() == 0);
        self.interrupt(Interruption::Failed { reason: reason.to_owned() }, is_reporter)
    }

    fn late(&self, call: &'static str) -> Interrupted {
        let (ranks, is_reporter) = match &self.link {
            Ok(link) => self.roll_call.missing(link),
            Err(_) => (Vec::new(), false),
        };
        let deadline = self.deadline.get();
        let cause = if ranks.is_empty() {
            Interruption::Late { call, deadline }
        } else {
            Interruption::Missing { ranks, deadline }
        };
        self.interrupt(cause, is_reporter)
    }

    fn interrupt(&self, cause: Interruption, is_reporter: bool) -> Interrupted {
        self.broken.borrow_mut().insert(Interrupted { cause, is_reporter }).clone()
    }
}

impl Communicator for MpiCommunicator {
    fn rank(&self) -> u32 {
        self.shared.link.as_ref().map_or(0, PrivateCommunicator::rank) - self.first
    }

    fn size(&self) -> u32 {
        self.size
    }

    async fn all_reduce(
        &self,
        maxima: &[u64],
        sums: &[u64],
    ) -> Result<(Vec<u64>, Vec<u64>), Interrupted> {
        debug_assert_eq!(
            self.shared.link.as_ref().map_or(1, PrivateCommunicator::size),
            self.size,
            "not of a window"
        );
        // Both are started before either is waited for: one latency, not two.
        let start = |words: &[u64], operator| {
            let words = words.to_vec();
            (!words.is_empty())
                .then(|| self.shared.start(|link| link.all_reduce(words, operator)))
                .transpose()
        };
        let (maxima, sums) = (start(maxima, Operator::Max)?, start(sums, Operator::Sum)?);
        let mut reduced = [Vec::new(), Vec::new()];
        for (result, pending) in reduced.iter_mut().zip([maxima, sums]) {
            if let Some(pending) = pending {
                *result = self.complete(|_| Ok(pending)).await?.1;
            }
        }
        let [maxima, sums] = reduced;
        Ok((maxima, sums))
    }

    async fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>, Interrupted> {
        debug_assert_eq!(
            self.shared.link.as_ref().map_or(1, PrivateCommunicator::size),
            self.size,
            "not of a window"
        );
        self.complete(|link| link.broadcast(bytes)).await
    }

    async fn gather(&self, bytes: Vec<u8>, lengths: &[usize]) -> Result<Vec<Vec<u8>>, Interrupted> {
        if self.rank() != 0 {
            if !bytes.is_empty() {
                self.send(0, bytes).await?;
            }
            return Ok(Vec::new());
        }
        // All receives are posted before any is waited for, so that messages may arrive in any
        // order.
        let mut pending = Vec::with_capacity(lengths.len());
        for (from, &length) in (0..).zip(lengths).skip(1) {
            let from = self.rank_on_link(from);
            let receive =
                (length > 0).then(|| self.shared.start(|link| link.receive(from, TAG, length)));
            pending.push(receive.transpose()?);
        }
        let mut gathered = vec![bytes];
        for pending in pending {
            gathered.push(match pending {
                Some(pending) => self.complete(|_| Ok(pending)).await?,
                None => Vec::new(),
            });
        }
        Ok(gathered)
    }

    async fn send(&self, to: u32, bytes: Vec<u8>) -> Result<(), Interrupted> {
        self.complete(|link| link.send(self.rank_on_link(to), TAG, bytes)).await.map(drop)
    }

    async fn receive(&self, from: u32, length: usize) -> Result<Vec<u8>, Interrupted> {
        self.complete(|link| link.receive(self.rank_on_link(from), TAG, length)).await
    }

    fn room(&self, bytes: usize) -> Result<Vec<u8>, Interrupted> {
        room(bytes).map_err(|reason| self.shared.failed(&reason))
    }

    fn subgroup(&self, first: u32, size: u32) -> Self {
        Self { shared: Rc::clone(&self.shared), first: self.first + first, size }
    }
}

/// Runs the phases on MPI. Each operation does its own waiting, so the task needs no waker.
pub(crate) fn run_to_end<T>(phases: impl Future<Output = T>) -> T {
    let mut phases = pin!(phases);
    loop {
        if let Poll::Ready(value) = phases.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}
