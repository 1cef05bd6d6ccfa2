//! Interim profiles of all ranks, written at agreed flush points and by hand.

use std::path::PathBuf;
use std::sync::Arc;

use tinyprof::__mpi::{self as recorder, InterimFiles};
use tinyprof::collect::monotonic_ns;
use tinyprof_flush::agreement::pace::{PATIENCE_NS, Pace};
use tinyprof_flush::agreement::{Agreement, Step};
use tinyprof_flush::communicator::Communicator;
use tinyprof_flush::phases::{self, Plan, Workplace};
use tinyprof_format::file::OutputFormat;
use tinyprof_format::model::{EventMap, InterimTimes};

use super::maxima::MpiMaxima;
use crate::communicator::{MpiCommunicator, run_to_end};
use crate::error::FlushError;
use crate::measure::{measure, measure_since};
use crate::settings::Settings;

/// The agreement on flush points and its pace.
pub(super) struct AgreedWriting {
    pub(super) communicator: MpiCommunicator,
    pub(super) agreement: Agreement<MpiMaxima>,
    pub(super) pace: Pace,
}

/// The interim profiles of one run, on one rank.
pub(super) struct InterimWriter {
    settings: Settings,
    /// The agreement, or `None` if interim profiles are only written by hand.
    pub(super) agreed: Option<AgreedWriting>,
    /// The interim profile files, on rank 0.
    files: Option<InterimFiles>,
    process_id: u32,
    /// True if there was a flush point when an interim profile was due, one was written by hand, or
    /// none is due any more.
    has_passed: bool,
    /// The measurements up to the begin of the current part of the run; none in the first part.
    before: Option<Arc<EventMap>>,
}

impl InterimWriter {
    /// Creates the interim profiles of all ranks, on rank `rank`.
    pub(super) fn new(rank: u32, settings: &Settings, agreed: Option<AgreedWriting>) -> Self {
        let files = || InterimFiles::new(&settings.target(), settings.interim_profiles_kept());
        Self {
            settings: settings.clone(),
            agreed,
            files: (rank == 0).then(files),
            process_id: std::process::id(),
            has_passed: false,
            before: None,
        }
    }

    /// Returns whether this process is a child made by `fork`, which has a copy of its parent's MPI
    /// but must not use it.
    pub(super) fn is_of_another_process(&self) -> bool {
        self.process_id != std::process::id()
    }

    /// Performs the action that is due at a flush point. Returns the time and the flush point from
    /// which on there may be another one.
    pub(super) fn at_flush_point(&mut self, flush_point: u64) -> (u64, u64) {
        self.has_passed = true;
        let Some(AgreedWriting { agreement, pace, .. }) = &mut self.agreed else {
            return (u64::MAX, u64::MAX);
        };
        let is_part = recorder::is_part_asked_for() && pace.is_patient();
        let ahead = if !is_part {
            pace.ahead(flush_point)
        } else if agreement.is_idle() {
            pace.ahead_of_command(flush_point).unwrap_or(0)
        } else {
            0
        };
        let is_due = (is_part && ahead > 0) || pace.is_due(flush_point);
        let mut step = agreement.at_flush_point(flush_point, is_due, ahead);
        let mut waited = Wait::begin();
        while step == Step::Wait && pace.is_patient() {
            if waited.is_longer_than(PATIENCE_NS) {
                pace.lose_patience();
                recorder::warn(format_args!(
                    "a rank has waited {} s at flush point {flush_point} for the others to write an interim profile, and goes on \
                     without interim profiles; they need the same flush points on every rank: mark other loops `flush_point`, \
                     or set TINYPROF_INTERVAL=off",
                    PATIENCE_NS / 1_000_000_000
                ));
            }
            waited.pause();
            step = agreement.at_flush_point(flush_point, false, ahead);
        }
        if step == Step::Write {
            self.write_agreed(flush_point, Next::AsAsked);
        }
        let Some(AgreedWriting { agreement, pace, .. }) = &mut self.agreed else {
            return (u64::MAX, u64::MAX);
        };
        if agreement.is_idle() && pace.is_patient() && recorder::is_part_asked_for() {
            return (0, 0);
        }
        pace.look_again(agreement)
    }

    /// Returns whether this rank can begin another part of the run with the others.
    pub(super) fn has_parts(&self) -> bool {
        self.agreed.as_ref().is_some_and(|agreed| agreed.pace.is_patient())
    }

    /// Completes everything pending: see [`Agreement::settle`]. Collective.
    pub(super) fn settle(&mut self, flush_point: u64) {
        self.repeat(flush_point, Agreement::settle);
    }

    /// Settles as [`settle`](Self::settle) does, and ends the agreement. Collective.
    pub(super) fn settle_for_good(&mut self, flush_point: u64) {
        // Rank 0 has the files.
        if !self.has_passed
            && self.files.is_some()
            && let Some(agreed) = &self.agreed
            && agreed.pace.is_long_due()
        {
            recorder::warn(
                "no interim profiles were written: the program has passed no flush point when one was due; flush points \
                 are blocking collective operations on MPI_COMM_WORLD (unless it starts a Profiler), ends of root \
                 regions, and loops that are marked `flush_point`; `tinyprof save --every 5m` needs none",
            );
        }
        self.settle(flush_point);
        if self.before.is_some() && self.has_parts() {
            self.write_agreed(flush_point, Next::Last);
        }
        self.agreed = None;
    }

    /// Leaves the agreement to the others: see [`Agreement::retire`].
    pub(super) fn retire(&mut self, flush_point: u64) {
        self.has_passed = true;
        self.repeat(flush_point, Agreement::retire);
    }

    fn repeat(&mut self, flush_point: u64, next: fn(&mut Agreement<MpiMaxima>) -> Step) {
        let deadline_ns = u64::try_from(self.settings.deadline().as_nanos()).unwrap_or(u64::MAX);
        let mut waited = Wait::begin();
        while let Some(AgreedWriting { agreement, .. }) = &mut self.agreed {
            // A rank that never comes has broken its promise; waiting for it would delay the final
            // profile.
            if agreement.maxima().is_broken() || waited.is_longer_than(deadline_ns) {
                return;
            }
            match next(agreement) {
                Step::Go => return,
                Step::Wait => waited.pause(),
                Step::Write => self.write_agreed(flush_point, Next::AsAsked),
            }
        }
    }

    fn write_agreed(&mut self, flush_point: u64, next: Next) {
        let Some(AgreedWriting { communicator, mut pace, agreement }) = self.agreed.take() else {
            return;
        };
        // A failure has been reported, and the next interim profile may succeed.
        drop(self.write_next(&communicator, Some(flush_point), next));
        pace.begin(flush_point);
        self.agreed = Some(AgreedWriting { communicator, agreement, pace });
    }

    /// Writes an interim profile and returns its path, or none if no rank has measured anything.
    /// Collective over `communicator`.
    pub(super) fn write(
        &mut self,
        communicator: &MpiCommunicator,
        flush_point: Option<u64>,
    ) -> Result<Option<PathBuf>, FlushError> {
        self.write_next(communicator, flush_point, Next::Interim)
    }

    fn write_next(
        &mut self,
        communicator: &MpiCommunicator,
        flush_point: Option<u64>,
        next: Next,
    ) -> Result<Option<PathBuf>, FlushError> {
        self.has_passed = true;
        recorder::without_write_signals(|| {
            let begin_ns = monotonic_ns();
            let workplace = Workplace::aside(self.settings.deadline());
            communicator.begin_flush(self.settings.deadline());
            let is_part = match next {
                Next::Interim => false,
                Next::Last => true,
                Next::AsAsked => is_part_asked_of_all(communicator),
            };
            let before = self.before.clone().unwrap_or_default();
            let (mut measured, all) = if is_part {
                let (part, all) = measure_since(&workplace, &before);
                (part, Some(all))
            } else {
                (measure(&workplace), None)
            };
            let mut plan = Plan {
                workplace: workplace.clone(),
                ..self.settings.plan(monotonic_ns() - begin_ns)
            };
            // It is read after a crash, so it needs the format that detects damage.
            plan.format = OutputFormat::Tprof;
            let failed_before = self.times().failed;
            if let Some(files) = &mut self.files {
                (plan.target, plan.state) = match next {
                    Next::Last => files.begin_part(None),
                    _ if is_part => files.begin_part(Some(flush_point.unwrap_or(0))),
                    _ => files.begin(flush_point),
                };
            }
            let flushed = run_to_end(phases::flush(communicator, &mut measured, &plan));
            communicator.end_flush();
            if let (Some(all), Ok(_)) = (all, &flushed) {
                self.before = Some(all);
            }
            if is_part {
                recorder::part_has_begun(flush_point.filter(|_| flushed.is_ok()));
            }
            // Missing ranks are reported when the final profile misses them too.
            let written = match flushed {
                Ok(flushed) => {
                    flushed.profile.transpose().map_err(|reason| FlushError::NotWritten { reason })
                }
                Err(interrupted) => Err(FlushError::Interrupted { cause: interrupted.cause }),
            };
            if let Some(mut files) = self.files.clone()
                && written != Ok(None)
            {
                let path = written.as_ref().ok().cloned().flatten();
                let end = move || {
                    let taken_ns = monotonic_ns() - begin_ns;
                    if is_part {
                        files.end_part(path.is_some(), taken_ns);
                    } else {
                        files.end(path.as_deref(), taken_ns);
                    }
                    files
                };
                // If a disk hangs, the old files stay and this one is not counted.
                self.files = workplace.run(end).ok().or(self.files.take());
            }
            written.inspect_err(|error| {
                // Report this once: a full disk is still full at the next interim profile, and the
                // profile counts the failures.
                if communicator.rank() == 0 && failed_before == 0 {
                    recorder::warn(error);
                }
            })
        })
    }

    /// Returns the times that the final profile contains, on rank 0.
    pub(super) fn times(&self) -> InterimTimes {
        self.files.as_ref().map(InterimFiles::times).unwrap_or_default()
    }

    /// Removes the interim profiles after the final profile has been written, unless all are to be
    /// kept.
    pub(super) fn remove_all(self, workplace: &Workplace) {
        if let Some(mut files) = self.files {
            // If a disk hangs, the interim profiles stay. Each one says that it is an interim
            // profile.
            let _ = workplace.run(move || files.remove_all());
        }
    }
}

/// The next profile to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// An interim profile.
    Interim,
    /// The part of the run that ends here, if the ranks have got the same command; otherwise an
    /// interim profile.
    AsAsked,
    /// The last part of the run.
    Last,
}

/// Returns whether all ranks have got a command to begin another part. Collective.
fn is_part_asked_of_all(communicator: &MpiCommunicator) -> bool {
    let is_missing = u64::from(!recorder::is_part_asked_for());
    let agreed = run_to_end(communicator.all_max(&[is_missing]));
    matches!(agreed.as_deref(), Ok(&[0]))
}

/// The wait of a rank that lets others have the processor.
struct Wait {
    begin_ns: u64,
    pauses: u32,
}

impl Wait {
    /// The number of pauses that only yield, before those that sleep.
    const YIELDS: u32 = 1000;
    const SLEEP: std::time::Duration = std::time::Duration::from_micros(50);

    fn begin() -> Self {
        Self { begin_ns: monotonic_ns(), pauses: 0 }
    }

    fn pause(&mut self) {
        self.pauses = self.pauses.saturating_add(1);
        if self.pauses < Self::YIELDS {
            std::thread::yield_now();
        } else {
            std::thread::sleep(Self::SLEEP);
        }
    }

    fn is_longer_than(&self, limit_ns: u64) -> bool {
        monotonic_ns().saturating_sub(self.begin_ns) > limit_ns
    }
}
