//! The results of the loops: counts for people and for `docs/reliability.md`, and the commands that
//! repeat failures.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use serde::Serialize;

use crate::judge::Kept;

/// The number of failures of a loop that are shown. The file of results has all.
const SHOWN: usize = 5;

/// The result of one run.
pub(crate) struct Outcome {
    /// True if the fault took place: a run may need fewer calls than others.
    pub(crate) reached: bool,
    /// The fault in a word or two: `fsync ENOSPC once, final write`.
    pub(crate) fault: String,
    pub(crate) verdict: Result<Kept, String>,
}

/// The counts of one loop.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Counts {
    pub(crate) part: String,
    pub(crate) configuration: String,
    /// Runs in which the fault took place.
    pub(crate) faults: u64,
    /// Runs that did not reach it.
    pub(crate) not_reached: u64,
    pub(crate) profile: u64,
    pub(crate) segment: u64,
    pub(crate) nothing: u64,
    pub(crate) failed: u64,
    pub(crate) seconds: u64,
}

/// The destination of results.
#[derive(Debug)]
pub(crate) struct Results {
    file: Option<PathBuf>,
    command: String,
    pub(crate) jobs: usize,
    pub(crate) failed: u64,
}

impl Results {
    /// Creates results that are appended to this file, and printed. `command` is the call of this
    /// program.
    pub(crate) const fn new(file: Option<PathBuf>, command: String, jobs: usize) -> Self {
        Self { file, command, jobs, failed: 0 }
    }

    /// Runs all cases of a loop, a few at a time, and reports the results.
    pub(crate) fn run<Case: Sync + ToString>(
        &mut self,
        part: &str,
        configuration: &str,
        cases: &[Case],
        run: impl Fn(&Case) -> io::Result<Outcome> + Sync,
    ) -> io::Result<Counts> {
        let begin_ns = tinyprof::collect::monotonic_ns();
        let next = AtomicUsize::new(0);
        let outcomes = Mutex::new(BTreeMap::new());
        let work = || -> io::Result<()> {
            loop {
                let at = next.fetch_add(1, Relaxed);
                let Some(case) = cases.get(at) else { return Ok(()) };
                let outcome = run(case)?;
                outcomes.lock().expect("no run panics").insert(at, outcome);
            }
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.jobs).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| worker.join().expect("no run panics"))
        })?;
        let mut counts = Counts {
            part: part.to_owned(),
            configuration: configuration.to_owned(),
            ..Counts::default()
        };
        for (at, outcome) in outcomes.into_inner().expect("no run panics") {
            self.count(&mut counts, &cases[at].to_string(), &outcome)?;
        }
        counts.seconds = (tinyprof::collect::monotonic_ns() - begin_ns) / 1_000_000_000;
        self.finish(&counts)?;
        Ok(counts)
    }

    fn count(&mut self, counts: &mut Counts, case: &str, outcome: &Outcome) -> io::Result<()> {
        let number = if outcome.reached { &mut counts.faults } else { &mut counts.not_reached };
        *number += 1;
        let why = match &outcome.verdict {
            Ok(kept) => {
                let number = match kept {
                    Kept::Profile => &mut counts.profile,
                    Kept::Segment => &mut counts.segment,
                    Kept::Nothing => &mut counts.nothing,
                };
                *number += u64::from(outcome.reached);
                return Ok(());
            }
            Err(why) => why,
        };
        counts.failed += 1;
        let (part, configuration) = (&counts.part, &counts.configuration);
        let repeat =
            format!("{} {part} --configuration '{configuration}' --case '{case}'", self.command);
        if counts.failed <= SHOWN as u64 {
            let why: String = why.trim_end().replace('\n', "\n    ");
            print(&format!("  {}: {why}\n    repeat it: {repeat}\n", outcome.fault));
        }
        let line = serde_json::json!({
            "part": part, "configuration": configuration, "case": case, "fault": outcome.fault, "why": why,
            "repeat": repeat,
        });
        self.append(&line.to_string())
    }

    /// Reports the counts of a finished loop.
    pub(crate) fn finish(&mut self, counts: &Counts) -> io::Result<()> {
        let Counts {
            part, configuration, faults, profile, segment, nothing, failed, seconds, ..
        } = counts;
        self.failed += failed;
        print(&format!(
            "{part}, {configuration}: {faults} faults: {profile} profiles, {segment} segments, {nothing} times nothing \
             to keep; {failed} failed ({seconds} s)\n"
        ));
        let line = serde_json::to_string(counts).map_err(io::Error::other)?;
        self.append(&line)
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let Some(path) = &self.file else { return Ok(()) };
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        writeln!(file, "{line}")
    }
}

/// Prints a text to standard output.
pub(crate) fn print(text: &str) {
    let mut out = io::stdout().lock();
    // If nobody reads the output, this cannot be reported; the exit code says whether anything
    // failed.
    drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}
