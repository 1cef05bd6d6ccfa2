//! The documents of a running job, one after the other, for a program of somebody else.

use std::io::Write;
use std::time::Duration;

use super::app::App;
use super::queue::Queue;
use super::{Watching, choice, source};
use crate::arguments::{DocumentChoice, HostChoice, SegmentChoice};
use crate::sys;

/// How long a reader has, after the job has ended, for what waits for it.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The time between two looks whether a reader has left.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// The documents of a job.
pub(super) struct Stream<'a> {
    app: App,
    interval: Duration,
    choice: &'a DocumentChoice,
}

impl<'a> Stream<'a> {
    /// Creates the stream of a job, with a document each `interval` seconds.
    pub(super) fn new(
        segments: &SegmentChoice,
        hosts: &HostChoice,
        interval: u32,
        choice: &'a DocumentChoice,
    ) -> Self {
        let app = App::new(source(&Watching::of(segments, hosts, interval)));
        Self { app, interval: Duration::from_secs(interval.into()), choice }
    }

    /// Puts documents into the queue until the job has ended, or `wait` returns false, which is
    /// called for the time to the next one.
    ///
    /// # Errors
    /// If there is no such job, there are several, or `wait` fails.
    pub(super) fn feed<E: From<String>>(
        &mut self,
        queue: &Queue,
        mut wait: impl FnMut(Duration) -> Result<bool, E>,
    ) -> Result<(), E> {
        loop {
            let begun_ns = sys::now().monotonic_ns;
            self.app.update();
            if let Some((frame, has_ended)) = self.app.only_frame()? {
                queue.push(choice::document(frame, has_ended, self.choice).to_string());
                if has_ended {
                    return Ok(());
                }
            }
            if !wait(self.interval.saturating_sub(sys::since(begun_ns)))? {
                return Ok(());
            }
        }
    }
}

/// Writes documents, one a line, until there are no more, or nobody reads them.
pub(super) fn write(queue: &Queue, mut to: impl Write) {
    while let Some(document) = queue.next() {
        if writeln!(to, "{document}").and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}
