//! The files for the arenas of this process's threads: their directory and their common contents.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use tinyprof_format::model::ProfileId;
use tinyprof_segment::layout::header;

use super::arena::Arena;
use super::clock::Clock;
use super::segment::Segment;
use crate::sys::SegmentFile;

/// The files of one process.
#[derive(Debug)]
pub(crate) struct Segments {
    /// The directory of the files; created with the first file.
    pub(crate) directory: CString,
    /// The start time of the process. File names begin with the process's id and this time.
    pub(crate) start_time: u64,
    /// The process that owns the files; a child that it forks has none.
    pub(crate) process_id: u32,
    /// The header words that are equal in all of the files.
    pub(crate) words: [u64; header::WORDS],
    /// The `ProcessDescription` as JSON.
    pub(crate) description: Vec<u8>,
}

static SEGMENTS: OnceLock<Segments> = OnceLock::new();
static THREADS: AtomicU32 = AtomicU32::new(0);
static RANK: AtomicU64 = AtomicU64::new(0);
/// The number of the profile that is being written from all arenas, 0 for none.
static PROFILE_ID: AtomicU64 = AtomicU64::new(0);
/// Set once the process has written its profile, and nothing needs to survive it.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Sets the files for arenas made from now on. Only the first call counts.
pub(crate) fn install(segments: Segments) {
    // There is no second session; if there were, the first would already be writing.
    drop(SEGMENTS.set(segments));
}

/// Returns the directory of the files, if this process has any.
pub(crate) fn directory() -> Option<&'static Path> {
    SEGMENTS
        .get()
        .filter(|_| !CLOSED.load(SeqCst))
        .map(|segments| Path::new(OsStr::from_bytes(segments.directory.to_bytes())))
}

/// Returns an arena for a thread: in a file if possible, otherwise in anonymous memory. Returns
/// `None` if the system gives no memory.
pub(super) fn arena(clock: Clock) -> Option<Arena> {
    let mapped = SEGMENTS.get().and_then(|segments| {
        let thread = THREADS.fetch_add(1, Relaxed);
        Some((segments.map(thread)?, segments, thread))
    });
    let Some((segment, segments, thread)) = mapped else { return Arena::new(clock) };
    let arena = Arena::with_segment(segment, clock)?;
    let words = segments.words.iter().enumerate().take(header::EXECUTION).skip(header::VERSION);
    words.for_each(|(word, &value)| arena.header(word).store(value, Relaxed));
    let kind = segments.words[header::THREAD];
    arena.header(header::THREAD).store(kind | u64::from(thread), Relaxed);
    arena.header(header::RANK).store(RANK.load(SeqCst), Relaxed);
    arena.header(header::PROFILE_ID).store(PROFILE_ID.load(SeqCst), Relaxed);
    arena.describe_process(&segments.description);
    if CLOSED.load(SeqCst) {
        arena.remove_file();
    }
    Some(arena)
}

impl Segments {
    fn map(&'static self, thread: u32) -> Option<Segment> {
        if CLOSED.load(SeqCst) || std::process::id() != self.process_id {
            return None;
        }
        let stem = format_args!("{}-{}-{thread}", self.process_id, self.start_time);
        Segment::reserve_in(SegmentFile::create(&self.directory, stem).ok()?)
    }
}

/// Counts a thread without a file, in the header of the first of these arenas that has one.
pub(super) fn count_unmapped(mut arenas: impl Iterator<Item = &'static Arena>) {
    if let Some(arena) = arenas.find(|arena| arena.is_mapped()) {
        arena.header(header::NOT_MAPPED).fetch_add(1, Relaxed);
    }
}

/// Sets the rank of this process and the number of ranks, in these arenas and in all later ones.
pub(crate) fn set_rank(rank: u32, size: u32, arenas: impl Iterator<Item = &'static Arena>) {
    let word = u64::from(size) << 32 | u64::from(rank);
    RANK.store(word, SeqCst);
    arenas.for_each(|arena| arena.header(header::RANK).store(word, Relaxed));
}

/// Sets the number of the profile that is about to be written from these arenas and all later ones.
pub(crate) fn set_profile_id(id: ProfileId, arenas: impl Iterator<Item = &'static Arena>) {
    PROFILE_ID.store(id.to_word(), SeqCst);
    arenas.for_each(|arena| arena.header(header::PROFILE_ID).store(id.to_word(), Relaxed));
}

/// Replaces the process description given to [`install`], in the arena of this thread; this thread
/// must not write to those of others.
pub(crate) fn describe_again(description: &[u8], own: &Arena) {
    own.describe_process_again(description);
}

/// Removes the files of these arenas; later arenas have none. The memory stays as it is.
pub(crate) fn remove_all(arenas: impl Iterator<Item = &'static Arena>) {
    CLOSED.store(true, SeqCst);
    arenas.for_each(Arena::remove_file);
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{Mode, RegionKind};
    use tinyprof_format::segment::{Segment as Read, recovered_map};
    use tinyprof_segment::clock::Moment;
    use tinyprof_segment::layout::{MAGIC, VERSION};

    use super::super::budget::Budget;
    use super::*;
    use crate::record::{Entered, Site};

    /// Returns segments of this process in a directory of their own.
    fn segments(directory: &std::path::Path) -> &'static Segments {
        let mut words = [0; header::WORDS];
        words[header::VERSION] = VERSION;
        words[header::PROCESS] = 42;
        Box::leak(Box::new(Segments {
            directory: CString::new(directory.join("segments").as_os_str().as_bytes()).unwrap(),
            start_time: 7,
            process_id: std::process::id(),
            words,
            description: br#"{"host":"here"}"#.to_vec(),
        }))
    }

    #[test]
    fn what_is_recorded_is_in_the_file_however_it_grows() {
        static MEMORY: Site = Site::metric("memory");
        static ROOT: Site = Site::new("root", "m", "f.rs", 1, 1, RegionKind::Scope, Mode::Total);
        let scratch = tempfile::tempdir().unwrap();
        let segments = segments(scratch.path());
        let arena = Arena::with_segment(segments.map(0).unwrap(), Clock::Monotonic).unwrap();
        let directory = scratch.path().join("segments");
        let file = directory.join(format!("{}-7-0.segment", std::process::id()));
        let words = segments.words.iter().enumerate().take(header::EXECUTION).skip(1);
        words.for_each(|(word, &value)| arena.header(word).store(value, Relaxed));
        arena.describe_process(&segments.description);
        assert_eq!(arena.header(header::MAGIC).load(Relaxed), MAGIC);
        arena.set_budget(Budget::new(1e-3, 25.0));
        let visit = |site: &'static Site| match arena.enter(site).entered() {
            Entered::Node(line) => line,
            other => panic!("{other:?}"),
        };
        for round in 0..3_u32 {
            let root = visit(&ROOT);
            for number in 0..300 {
                let site =
                    Site::new("leaf", "m", "f.rs", number, round, RegionKind::Loop, Mode::Each);
                let line = visit(Box::leak(Box::new(site)));
                (0..number).for_each(|_| arena.next_iteration(line));
                if round == 0 && number < 50 {
                    arena.record(line, &MEMORY, f64::from(number));
                }
                arena.exit(line);
            }
            arena.exit(root);
        }
        let bytes = std::fs::read(&file).unwrap();
        assert!(bytes.len() > 1 << 18, "it has grown");
        let read = Read::parse(&bytes).unwrap();
        let now = Moment { ticks: 1, monotonic_ns: 1 };
        let map = recovered_map(&[read], now);
        assert_eq!((map.facts.host.as_str(), map.facts.process_id), ("here", 42));
        assert_eq!(
            map.facts.losses,
            tinyprof_format::model::Losses {
                visits_in_other: arena.visits_in_other.load(Relaxed),
                visits_not_timed: map.facts.losses.visits_not_timed,
                ..Default::default()
            }
        );
        let ours: u64 = arena
            .readings()
            .flatten()
            .flat_map(|r| r.executions)
            .map(|execution| execution.visits)
            .sum();
        assert_eq!(map.values.iter().map(|values| values.visits()).sum::<u64>(), ours);
        let series: u64 =
            arena.readings().flatten().flat_map(|r| r.series).map(|visit| visit.sum).sum();
        assert_eq!(
            map.values.iter().flat_map(|v| &v.series).map(|b| b.sum_ns).sum::<u64>(),
            series
        );
        let values = tinyprof_format::model::MetricValues::values;
        let of_metrics =
            map.values.iter().flat_map(|v| v.metrics.values()).map(values).sum::<u64>();
        assert_eq!(of_metrics, 50);
        let not_timed: u64 = arena.readings().flatten().map(|r| r.visits_not_timed).sum();
        let not_timed = not_timed + arena.visits_not_timed.load(Relaxed);
        assert!(not_timed > 10_000, "the budget is small: {not_timed}");
        assert_eq!(map.facts.losses.visits_not_timed, not_timed);
        let variances: f64 = arena
            .readings()
            .flatten()
            .flat_map(|r| r.executions)
            .map(|execution| execution.variance)
            .sum();
        let read: f64 =
            map.values.iter().flat_map(|v| &v.executions).map(|e| e.sum_variance_ns2).sum();
        assert!(variances > 0.0 && (read / variances - 1.0).abs() < 1e-9, "{read} {variances}");
        arena.part_from_file();
        arena.exit(visit(&ROOT));
        assert_eq!(std::fs::read(&file).unwrap(), bytes);
        arena.remove_file();
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
    }
}
