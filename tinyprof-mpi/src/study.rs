//! The phases as plain functions, for the benches that measure and simulate them. Not for programs: nothing here is
//! stable.
//!
//! Each function runs the flush that a run ends with, and tells an [`Observer`] how far a rank has come. It takes the
//! event map as a value: nothing is read from the recorder.

use std::path::PathBuf;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use tinyprof_format::model::{EventMap, RunMetadata};

use crate::communicator::Communicator;
use crate::communicator::by_hand::ByHand;
use crate::communicator::virtual_ranks::{self, Finished};
use crate::phases::{self, Plan};

pub use crate::communicator::by_hand::{Parting, Wire};
pub use crate::communicator::virtual_ranks::{Account, LogGp, Spent};
pub use crate::observer::{Milestone, Observer};

/// What a flush is told.
#[derive(Clone, Debug)]
pub struct Order {
    /// The name of the profile.
    pub target: PathBuf,
    /// How many ranks write a part.
    pub aggregators: u32,
}

impl Order {
    fn plan(&self, observer: Observer) -> Plan {
        Plan {
            target: self.target.clone(),
            aggregators: Some(self.aggregators),
            metadata: RunMetadata::default(),
            snapshot_ns: 0,
            gather_bytes_max: usize::try_from(i32::MAX).unwrap_or(usize::MAX),
            observer,
        }
    }

    /// Which ranks of `size` make the group with each number.
    #[must_use]
    pub fn parting(&self, size: u32) -> Parting {
        let groups = self.aggregators.clamp(1, size);
        Rc::new(move |number| phases::group_ranks(number, size, groups))
    }
}

/// What a flush ends with: the profile, or why there is none.
pub type Written = Result<PathBuf, String>;

async fn flush(communicator: &impl Communicator, map: &EventMap, plan: Plan) -> Written {
    phases::flush(communicator, map, plan)
        .await
        .profile
        .unwrap_or_else(|| Err("nothing was measured".to_owned()))
}

/// Flushes on a wire that blocks while a message is not there. Collective.
///
/// # Errors
/// When the profile was not written: the same on every rank.
///
/// # Panics
/// If the wire does not block.
pub fn flush_on_wire(wire: impl Wire, map: &EventMap, order: &Order, observer: Observer) -> Written {
    let parting = order.parting(wire.size());
    let communicator = ByHand::new(wire, Some(parting));
    ready(flush(&communicator, map, order.plan(observer)))
}

/// Flushes on MPI. Collective.
///
/// # Errors
/// When the profile was not written: the same on every rank.
#[cfg(feature = "rsmpi")]
pub fn flush_on_mpi(
    communicator: &impl mpi::topology::Communicator,
    map: &EventMap,
    order: &Order,
    observer: Observer,
) -> Written {
    let communicator = crate::communicator::Rsmpi::duplicate_of(communicator);
    crate::communicator::run_to_end(flush(&communicator, map, order.plan(observer)))
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a wire that blocks has the message when it returns"),
    }
}

/// What came of a flush on virtual ranks.
#[derive(Debug)]
pub struct VirtualRun<T> {
    /// What the observer of each rank left, by rank.
    pub ranks: Vec<T>,
    /// What came of the flush.
    pub written: Written,
    /// The most bytes that were sent and not yet received.
    pub bytes_on_the_way_max: u64,
}

/// Flushes on `size` virtual ranks; `map_of` tells what each of them holds.
///
/// `observe` makes the observer of each rank from the rank's account, on which it may let time pass; what it
/// returns besides is handed back at the end. With `split_by_messages` the ranks find their groups as
/// `MPI_Comm_split` does, by telling all of all; otherwise each works its own out.
///
/// # Panics
/// If the ranks wait for each other forever: the phases are wrong then.
pub fn flush_on_virtual_ranks<'a, T>(
    size: u32,
    map_of: impl Fn(u32) -> &'a EventMap,
    order: &Order,
    costs: LogGp,
    split_by_messages: bool,
    observe: impl Fn(Account) -> (Observer, T),
) -> VirtualRun<T> {
    let parting = (!split_by_messages).then(|| order.parting(size));
    let Finished { results, bytes_on_the_way_max } =
        virtual_ranks::run_timed(size, costs, parting.as_ref(), |communicator, account| {
            let (observer, left) = observe(account);
            let (map, plan) = (map_of(communicator.rank()), order.plan(observer));
            async move { (flush(&communicator, map, plan).await, left) }
        });
    let (mut written, ranks): (Vec<Written>, Vec<T>) = results.into_iter().unzip();
    let written = written.swap_remove(0);
    VirtualRun { ranks, written, bytes_on_the_way_max }
}
