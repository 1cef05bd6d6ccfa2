//! The interim profile files of a run: their names, what they record of the run, and which are
//! kept.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use tinyprof_format::file::{interim_path, part_path, profile_path, remove_profile};
use tinyprof_format::model::{InterimTimes, RunState};
use tinyprof_settings::ALL_INTERIM_PROFILES;

use super::choices::precision;
use super::message::warn;
use super::session::session;
use super::snapshot::monotonic_ns;

/// The number of interim profiles that are kept by default.
const KEPT: u32 = 2;

/// The interim profiles of a profile, held by the one process that names and removes them.
#[derive(Clone, Debug)]
pub struct InterimFiles {
    target: PathBuf,
    kept: u32,
    number: u32,
    /// The parts so far, and where the last one has ended.
    parts: u32,
    part_begin: String,
    /// The interim profiles that may have to be removed, oldest first.
    written: VecDeque<PathBuf>,
    times: InterimTimes,
}

impl InterimFiles {
    /// Returns the interim profiles of the profile that will be called `target`. The newest `kept`
    /// are kept: two by default, at least one.
    #[must_use]
    pub fn new(target: &Path, kept: Option<u32>) -> Self {
        let kept = kept.unwrap_or(KEPT).max(1);
        Self {
            target: profile_path(target),
            kept,
            number: 0,
            parts: 0,
            part_begin: "the start of the run".to_owned(),
            written: VecDeque::new(),
            times: InterimTimes::default(),
        }
    }

    /// Begins the next interim profile. `flush_point` is the number of flush points so far, where
    /// they are counted. Returns the name, `NAME-interim-NNNN.tprof`, and what is known of the run.
    pub fn begin(&mut self, flush_point: Option<u64>) -> (PathBuf, RunState) {
        self.number = self.number.saturating_add(1);
        let at = flush_point
            .map_or_else(String::new, |flush_point| format!(" at flush point {flush_point},"));
        let because = format!(
            "it is interim profile {},{at} {} after the start of the run",
            self.number,
            since_start()
        );
        (interim_path(&self.target, self.number), self.state(because))
    }

    /// Begins the profile of the part of the run that ends here, at this flush point; or with the
    /// run. Returns the name, `NAME-part-NNNN.tprof`, and what is known of the run.
    pub fn begin_part(&mut self, flush_point: Option<u64>) -> (PathBuf, RunState) {
        self.parts = self.parts.saturating_add(1);
        let end = match flush_point {
            Some(0) => format!("{} after it", since_start()),
            Some(at) => format!("flush point {at}, {} after the start", since_start()),
            None => "its end".to_owned(),
        };
        let begin = std::mem::replace(&mut self.part_begin, end.clone());
        let because = format!("it is part {}, from {begin} to {end}", self.parts);
        (part_path(&self.target, self.parts), self.state(because))
    }

    fn state(&self, because: String) -> RunState {
        RunState {
            incomplete_because: Some(because),
            interim_profiles: self.times,
            precision: precision(),
            // Later measurements are in the segments only.
            profile_id: None,
        }
    }

    fn count(&mut self, is_written: bool, taken_ns: u64) {
        self.times.total_ns = self.times.total_ns.saturating_add(taken_ns);
        let count = if is_written { &mut self.times.written } else { &mut self.times.failed };
        *count = count.saturating_add(1);
    }

    /// Ends the profile of a part, which stays. `written` is false if it failed.
    pub fn end_part(&mut self, written: bool, taken_ns: u64) {
        self.count(written, taken_ns);
    }

    /// Ends an interim profile that took `taken_ns`. `written` is its path, or `None` if it failed.
    /// Removes interim profiles that are older than those to be kept.
    pub fn end(&mut self, written: Option<&Path>, taken_ns: u64) {
        self.count(written.is_some(), taken_ns);
        let Some(path) = written else { return };
        if self.kept == ALL_INTERIM_PROFILES {
            return;
        }
        // A program that changes its working directory must not make us remove files elsewhere.
        self.written.push_back(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        while self.written.len() > self.kept as usize {
            self.remove_oldest();
        }
    }

    /// Returns the times of the interim profiles, for the final profile.
    #[must_use]
    pub fn times(&self) -> InterimTimes {
        self.times
    }

    /// Removes all interim profiles after the final profile was written, unless all are to be kept.
    pub fn remove_all(&mut self) {
        while !self.written.is_empty() {
            self.remove_oldest();
        }
    }

    fn remove_oldest(&mut self) {
        if let Some(Err(error)) = self.written.pop_front().map(|path| remove_profile(&path)) {
            warn(format_args!(
                "an interim profile that is not needed any more is still there: {error}"
            ));
        }
    }
}

/// Returns the time since recording began, in seconds.
pub(super) fn since_start() -> String {
    let start_ns = session().started.monotonic_ns;
    let milliseconds = monotonic_ns().saturating_sub(start_ns) / 1_000_000;
    format!("{}.{:03} s", milliseconds / 1000, milliseconds % 1000)
}

#[cfg(test)]
mod tests {
    use tinyprof_format::file::{ProfileWriter, read_profile};
    use tinyprof_format::model::EventMap;

    use super::*;

    fn write(files: &mut InterimFiles) -> PathBuf {
        let (name, state) = files.begin(Some(7));
        let map = EventMap::default();
        let path = ProfileWriter::new()
            .with_state(state)
            .write(&name, std::slice::from_ref(&map))
            .unwrap();
        files.end(Some(&path), 10);
        path
    }

    fn check(kept: Option<u32>, expected: &[bool], after: &[bool]) {
        let scratch = tempfile::tempdir().unwrap();
        let mut files = InterimFiles::new(&scratch.path().join("p"), kept);
        let paths: Vec<_> = (0..4).map(|_| write(&mut files)).collect();
        let there = |paths: &[PathBuf]| paths.iter().map(|path| path.exists()).collect::<Vec<_>>();
        assert_eq!(there(&paths), expected, "{kept:?}");
        files.remove_all();
        assert_eq!(there(&paths), after, "{kept:?}");
    }

    #[test]
    fn the_newest_stay_until_the_end_or_all() {
        check(None, &[false, false, true, true], &[false; 4]);
        check(Some(1), &[false, false, false, true], &[false; 4]);
        check(Some(0), &[false, false, false, true], &[false; 4]);
        check(Some(ALL_INTERIM_PROFILES), &[true; 4], &[true; 4]);
    }

    #[test]
    fn an_interim_profile_says_what_it_is() {
        let scratch = tempfile::tempdir().unwrap();
        let mut files = InterimFiles::new(&scratch.path().join("p.tprof"), None);
        let first = write(&mut files);
        assert!(first.ends_with("p-interim-0001.tprof"), "{first:?}");
        files.begin(None);
        files.end(None, 5);
        let third = write(&mut files);
        assert!(third.ends_with("p-interim-0003.tprof"), "{third:?}");
        let manifest = read_profile(&third).unwrap().manifest;
        let because = manifest.incomplete_because.unwrap();
        assert!(because.starts_with("it is interim profile 3, at flush point 7, "), "{because}");
        assert!(!manifest.complete);
        assert_eq!(manifest.interim_profiles, InterimTimes { written: 1, failed: 1, total_ns: 15 });
        assert_eq!(files.times(), InterimTimes { written: 2, failed: 1, total_ns: 25 });
    }
}
