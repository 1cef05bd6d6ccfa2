//! The phases as plain functions, for the benches that measure and simulate them. Not for programs:
//! nothing here is stable.
//!
//! Each function runs the flush that a run ends with, and notifies an [`Observer`] of a rank's
//! progress. It takes the event map as a value: nothing is read from the recorder.

use std::path::PathBuf;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tinyprof_format::file::{OutputFormat, Permissions};
use tinyprof_format::model::{EventMap, RunMetadata, RunState};

use tinyprof_settings::Aggregators;

use crate::communicator::Communicator;
use crate::communicator::by_hand::ByHand;
use crate::communicator::virtual_ranks::{self, Finished};
use crate::phases::{self, Measured, Plan, Workplace};

use crate::Observer;
pub use crate::communicator::by_hand::Wire;
pub use crate::communicator::virtual_ranks::{Account, LogGp, RankAccount};
pub use tinyprof_settings::SeriesGather;

/// The parameters of a flush.
#[derive(Clone, Debug)]
pub struct Order {
    /// The name of the profile.
    pub target: PathBuf,
    /// The number of ranks that write a part.
    pub aggregators: u32,
    /// The way in which series are gathered.
    pub series: SeriesGather,
}

impl Order {
    fn plan(&self, observer: Observer) -> Plan {
        Plan {
            target: self.target.clone(),
            aggregators: Aggregators::Count(self.aggregators.max(1)),
            series: self.series,
            format: OutputFormat::Tprof,
            permissions: Permissions::default(),
            state: RunState::default(),
            metadata: RunMetadata::default(),
            snapshot_ns: 0,
            message_bytes_max: usize::try_from(i32::MAX).unwrap_or(usize::MAX),
            on_profile_id: |_, _| (),
            workplace: Workplace::Here,
            observer,
        }
    }
}

/// The result of a flush: the profile, or the reason why there is none.
pub type Written = Result<PathBuf, String>;

/// Flushes on any communicator. Collective.
///
/// # Errors
/// When the profile was not written: equal on every rank, unless ranks did not come together.
pub async fn flush(
    communicator: &impl Communicator,
    map: &EventMap,
    order: &Order,
    observer: Observer,
) -> Written {
    let plan = order.plan(observer);
    let mut measured = Measured::of(map.clone(), plan.state.precision);
    let flushed = phases::flush(communicator, &mut measured, &plan)
        .await
        .map_err(|interrupted| interrupted.to_string())?;
    flushed.profile.unwrap_or_else(|| Err("nothing was measured".to_owned()))
}

/// Flushes on a wire that blocks until a message has arrived. Collective.
///
/// # Errors
/// When the profile was not written: equal on every rank.
///
/// # Panics
/// If the wire does not block.
pub fn flush_on_wire(
    wire: impl Wire,
    map: &EventMap,
    order: &Order,
    observer: Observer,
) -> Written {
    ready(flush(&ByHand::new(wire), map, order, observer))
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a wire that blocks has the message when it returns"),
    }
}

/// The result of a flush on virtual ranks.
#[derive(Debug)]
pub struct VirtualRun<T> {
    /// The data that the observer of each rank left, by rank.
    pub ranks: Vec<T>,
    /// The result of the flush.
    pub written: Written,
    /// The largest number of bytes that were sent and not yet received.
    pub bytes_on_the_way_max: u64,
}

/// Flushes on `size` virtual ranks; `map_of` returns the event map of each of them.
///
/// `observe` makes the observer of each rank from the rank's account, on which it may let time
/// pass. Its other return value is handed back at the end.
///
/// # Panics
/// If the ranks wait for each other forever: the phases are wrong then.
pub fn flush_on_virtual_ranks<'a, T>(
    size: u32,
    map_of: impl Fn(u32) -> &'a EventMap,
    order: &Order,
    costs: LogGp,
    observe: impl Fn(Account) -> (Observer, T),
) -> VirtualRun<T> {
    let Finished { results, bytes_on_the_way_max, .. } =
        virtual_ranks::run_timed(size, costs, |communicator, account| {
            let (observer, left) = observe(account);
            let map = map_of(communicator.rank());
            async move { (flush(&communicator, map, order, observer).await, left) }
        });
    let (mut written, ranks): (Vec<Written>, Vec<T>) = results.into_iter().unzip();
    let written = written.swap_remove(0);
    VirtualRun { ranks, written, bytes_on_the_way_max }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use tinyprof_format::file::read_profile;
    use tinyprof_format::model::{
        CallpathId, CallpathValues, ExecutionSummary, RankFacts, Region, SiteId,
    };

    use super::*;

    fn map() -> EventMap {
        let site = SiteId::from_bits(1);
        let region = Region::named(site, "main");
        let executions = vec![ExecutionSummary::of_one_visit(0, 10)];
        let values = CallpathValues { executions, ..CallpathValues::default() };
        EventMap::from_records(
            [(CallpathId::root(site), None, region, values)],
            RankFacts::default(),
        )
    }

    #[test]
    fn every_rank_passes_its_milestones_in_order() {
        let scratch = tempfile::tempdir().unwrap();
        let order =
            Order { target: scratch.path().join("p"), aggregators: 2, series: SeriesGather::Auto };
        let map = map();
        let costs = LogGp { latency_ns: 10, overhead_ns: 1, gap_ps_a_byte: 0 };
        let run = flush_on_virtual_ranks(
            5,
            |_| &map,
            &order,
            costs,
            |account| {
                let passed = Rc::new(RefCell::new(Vec::new()));
                let (own, left) = (Rc::clone(&passed), passed);
                (Observer::new(move |at| own.borrow_mut().push((at, account.get().clock_ns))), left)
            },
        );
        assert_eq!(read_profile(&run.written.unwrap()).unwrap().ranks.len(), 5);
        for (rank, passed) in run.ranks.iter().enumerate() {
            let passed = passed.borrow();
            let names: Vec<String> = passed.iter().map(|(at, _)| format!("{at:?}")).collect();
            let names = names.join(" ");
            let group = |name: &str| names.contains(name);
            assert!(names.starts_with("Encoded Agreed Announced Collected"), "{names}");
            assert_eq!(group("Written { number: 0, writers: 2, ranks: 2,"), rank == 0, "{names}");
            assert_eq!(group("Written { number: 1, writers: 2, ranks: 3,"), rank == 2, "{names}");
            assert_eq!(group("United Finished Told"), rank == 0, "{names}");
            assert!(names.ends_with("Told") && passed.is_sorted_by_key(|(_, clock_ns)| *clock_ns));
        }
    }

    struct Alone;

    impl Wire for Alone {
        fn rank(&self) -> u32 {
            0
        }
        fn size(&self) -> u32 {
            1
        }
        fn send(&self, _to: u32, _bytes: &[u8]) {
            unreachable!("there is nobody else")
        }
        fn receive(&self, _from: u32) -> Option<Vec<u8>> {
            unreachable!("there is nobody else")
        }
    }

    #[test]
    fn a_rank_that_is_alone_needs_no_message() {
        let scratch = tempfile::tempdir().unwrap();
        let order =
            Order { target: scratch.path().join("p"), aggregators: 7, series: SeriesGather::Auto };
        let path = flush_on_wire(Alone, &map(), &order, Observer::default()).unwrap();
        assert_eq!(path, scratch.path().join("p.tprof"));
    }
}
