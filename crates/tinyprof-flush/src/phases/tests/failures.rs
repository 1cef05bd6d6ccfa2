//! Tests of failures of files and ranks: the error is equal on all ranks, and no partial profile
//! gets the final name.

use std::cell::Cell;

use super::super::workplace::WorkError;
use super::*;
use crate::communicator::Interruption;
use crate::communicator::virtual_ranks::VirtualRank;

#[test]
fn a_failure_is_the_same_on_every_rank_and_leaves_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let ranks: Vec<_> = (0..20).map(|r| rank(r, &[0], 1, 1)).collect();
    // No directory can be created below a file.
    let file = scratch.path().join("file");
    std::fs::write(&file, "").unwrap();
    let flushed = flush_all(&ranks, &plan(&file, None, UNLIMITED));
    let reason = flushed[0].profile.clone().unwrap().unwrap_err();
    assert!(reason.contains("cannot create"), "{reason}");
    assert!(flushed.iter().all(|f| f.profile == Some(Err(reason.clone()))));
}

/// The failure of one rank.
enum Sabotage {
    /// A directory has the name of the rank's part when it is about to be written.
    PartIsTaken(PathBuf),
    /// No operation succeeds after the given number of them.
    InterruptedAfter(Cell<u32>),
}

/// A rank with a failure.
struct Saboteur {
    inner: VirtualRank,
    sabotage: Option<Sabotage>,
}

impl Saboteur {
    fn next(&self) -> Result<&VirtualRank, Interrupted> {
        if let Some(Sabotage::InterruptedAfter(left)) = &self.sabotage {
            let Some(rest) = left.get().checked_sub(1) else {
                return Err(Interrupted {
                    cause: Interruption::Failed { reason: "this rank is cut off".to_owned() },
                    is_reporter: false,
                });
            };
            left.set(rest);
        }
        Ok(&self.inner)
    }
}

impl Communicator for Saboteur {
    fn rank(&self) -> u32 {
        self.inner.rank()
    }
    fn size(&self) -> u32 {
        self.inner.size()
    }
    async fn all_reduce(
        &self,
        maxima: &[u64],
        sums: &[u64],
    ) -> Result<(Vec<u64>, Vec<u64>), Interrupted> {
        self.next()?.all_reduce(maxima, sums).await
    }
    async fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>, Interrupted> {
        self.next()?.broadcast(bytes).await
    }
    async fn gather(&self, bytes: Vec<u8>, lengths: &[usize]) -> Result<Vec<Vec<u8>>, Interrupted> {
        self.next()?.gather(bytes, lengths).await
    }
    async fn send(&self, to: u32, bytes: Vec<u8>) -> Result<(), Interrupted> {
        self.next()?.send(to, bytes).await
    }
    async fn receive(&self, from: u32, length: usize) -> Result<Vec<u8>, Interrupted> {
        self.next()?.receive(from, length).await
    }
    fn subgroup(&self, first: u32, size: u32) -> Self {
        let sabotage = match &self.sabotage {
            Some(Sabotage::PartIsTaken(path)) => {
                std::fs::create_dir(path).unwrap();
                None
            }
            Some(Sabotage::InterruptedAfter(left)) => {
                Some(Sabotage::InterruptedAfter(left.clone()))
            }
            None => None,
        };
        Self { inner: self.inner.subgroup(first, size), sabotage }
    }
}

#[test]
fn an_aggregator_that_cannot_write_fails_the_profile_for_all() {
    let scratch = tempfile::tempdir().unwrap();
    let ranks: Vec<_> = (0..8).map(|r| rank(r, &[0], 1, 1)).collect();
    let plan = plan(scratch.path(), Some(4), UNLIMITED);
    let part = format!("p.tprof.unfinished-{}/part-00002", std::process::id());
    let flushed = virtual_ranks::run(8, |inner| {
        let (map, plan) = (&ranks[inner.rank() as usize], plan.clone());
        let sabotage =
            (inner.rank() == 4).then(|| Sabotage::PartIsTaken(scratch.path().join(&part)));
        async move { flush_map(&Saboteur { inner, sabotage }, map, &plan).await.unwrap() }
    });
    let reason = flushed[0].profile.clone().unwrap().unwrap_err();
    assert!(reason.contains("part-00002"), "{reason}");
    assert!(flushed.iter().all(|f| f.profile == Some(Err(reason.clone()))));
    assert!(flushed[0].report.is_some(), "what was measured can still be reported");
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn a_rank_that_could_not_put_its_values_together_fails_the_profile_for_all() {
    for (failure, format) in [NotDone::NoThread, NotDone::Died, NotDone::Panicked, NotDone::Late]
        .into_iter()
        .zip([OutputFormat::Tprof, OutputFormat::Csv].repeat(2))
    {
        let scratch = tempfile::tempdir().unwrap();
        let plan = Plan { format, ..plan(scratch.path(), Some(2), UNLIMITED) };
        let flushed = virtual_ranks::run(5, |inner| {
            let plan = plan.clone();
            let mut measured = match inner.rank() {
                1 | 3 => Measured::missing(failure),
                other => Measured::of(rank(other, &[0], 1, 1), Precision::Exact),
            };
            async move { flush(&inner, &mut measured, &plan).await.unwrap() }
        });
        let reason = flushed[0].profile.clone().unwrap().unwrap_err();
        let expected = format!("rank 3 could not put together what it has measured: {failure}");
        assert!(reason.contains("was not written: ") && reason.ends_with(&expected), "{reason}");
        assert!(flushed.iter().all(|f| f.profile == Some(Err(reason.clone()))));
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    }
}

#[test]
fn work_that_dies_aside_is_a_failure_of_all_and_what_is_late_leaves_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let ranks: Vec<_> = (0..4).map(|r| rank(r, &[0], 1, 1)).collect();
    let workplace = Workplace::aside(std::time::Duration::from_secs(60));
    let plan = Plan { workplace: workplace.clone(), ..plan(scratch.path(), Some(2), UNLIMITED) };
    assert!(flush_all(&ranks, &plan).iter().all(|f| matches!(f.profile, Some(Ok(_)))));
    assert_eq!(workplace.run::<()>(|| std::process::abort()), Err(NotDone::Died));
    assert_eq!(
        workplace.try_run(|| Err::<(), _>("disk full")),
        Err(WorkError::Failed("disk full"))
    );
    let late = Workplace::aside(std::time::Duration::ZERO);
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    assert_eq!(late.run(move || receiver.recv().is_ok()), Err(NotDone::Late));
    drop(sender);
}

/// Cuts `victim` off after `operations` operations, and returns whether it completed nevertheless.
fn cut_off(ranks: &[EventMap], victim: u32, operations: u32, series: SeriesGather) -> bool {
    let scratch = tempfile::tempdir().unwrap();
    let plan = Plan { series, ..plan(scratch.path(), Some(3), UNLIMITED) };
    let size = u32::try_from(ranks.len()).unwrap();
    let flushed = virtual_ranks::run_with_deadline(size, |inner| {
        let (map, plan) = (&ranks[inner.rank() as usize], &plan);
        let is_victim = inner.rank() == victim;
        let sabotage = is_victim.then(|| Sabotage::InterruptedAfter(Cell::new(operations)));
        async move { flush_map(&Saboteur { inner, sabotage }, map, plan).await }
    });
    let names = std::fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<_> = names.collect();
    let path = scratch.path().join("p.tprof");
    for flushed in flushed.iter().filter_map(|f| f.as_ref().ok()) {
        assert_eq!(
            flushed.profile,
            Some(Ok(path.clone())),
            "who is not interrupted has the profile"
        );
    }
    // Rank 0 alone finishes a profile, and then it is complete.
    match &flushed[0] {
        Ok(_) => assert_eq!(read_profile(&path).unwrap().ranks.len(), ranks.len()),
        Err(_) => {
            assert_eq!(names, [""; 0], "cut off: rank {victim} after {operations}");
            assert!(flushed.iter().all(Result::is_err));
        }
    }
    flushed[victim as usize].is_ok()
}

#[test]
fn a_rank_that_is_cut_off_anywhere_leaves_a_whole_profile_or_none() {
    // The callpaths differ, so that every step has something to do.
    let ranks: Vec<_> = (0..7).map(|r| rank(r, &[0, u64::from(r % 3)], 1, r + 1)).collect();
    for series in [SeriesGather::Padded, SeriesGather::Counts] {
        for victim in 0..7 {
            let needed = (0..100).find(|&operations| cut_off(&ranks, victim, operations, series));
            assert!(
                needed.is_some_and(|needed| needed > 4),
                "rank {victim} needs {needed:?} operations"
            );
        }
    }
}
