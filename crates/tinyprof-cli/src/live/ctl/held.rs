//! `tinyprof ctl hold` and `release`: ranks wait where a region or a call of MPI ends.

use std::error::Error;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;
use tinyprof_report::escaped;
use tinyprof_segment::control::{Accepts, Answer, HOLD_NS_MAX, Verb};
use tinyprof_views::json_text;

use super::threads::Threads;
use crate::arguments::SegmentChoice;
use crate::{render, sys};

/// How long a command is waited for.
const PATIENCE_NS: u64 = 5_000_000_000;

/// The time between two renewals of the lease.
const RENEW: Duration = Duration::from_millis(500);

/// Holds all ranks for this long, at most a minute, or until they are released, or this process
/// ends.
///
/// # Errors
/// If there is no such job, or no rank obeys.
pub(super) fn hold(
    choice: &SegmentChoice,
    time: Duration,
    is_json: bool,
) -> Result<(), Box<dyn Error>> {
    let mut threads = Threads::find(choice)?;
    let now_ns = sys::now().monotonic_ns;
    let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).min(HOLD_NS_MAX);
    threads.give(Verb::Hold, Accepts::Holding, now_ns.saturating_add(time_ns))?;
    threads.wait(now_ns.saturating_add(PATIENCE_NS.min(time_ns)));
    let done = threads.answered(Answer::Done).len();
    say(&threads, "held", done, is_json)?;
    let end_ns = now_ns.saturating_add(time_ns);
    loop {
        sleep(RENEW.min(Duration::from_nanos(end_ns.saturating_sub(sys::now().monotonic_ns))));
        threads.renew_lease();
        threads.ask();
        let is_held = threads.ranks().iter().any(|rank| rank.held_ns(0).is_some());
        let waits_for_more = done == 0 && threads.late().next().is_some();
        if sys::now().monotonic_ns >= end_ns || (!is_held && !waits_for_more) {
            return Ok(());
        }
    }
}

/// Ends what a command has begun: a hold, or a recording.
///
/// # Errors
/// If there is no such job, or no rank obeys.
pub(super) fn release(choice: &SegmentChoice, is_json: bool) -> Result<(), Box<dyn Error>> {
    let mut threads = Threads::find(choice)?;
    threads.give(Verb::Release, Accepts::Recording, 0)?;
    threads.wait(sys::now().monotonic_ns.saturating_add(PATIENCE_NS));
    let done = threads.answered(Answer::Done).len();
    say(&threads, "released", done, is_json)
}

fn say(threads: &Threads, what: &str, done: usize, is_json: bool) -> Result<(), Box<dyn Error>> {
    let (of, late) = (threads.ranks().len(), threads.late_line());
    if is_json {
        return render::output(&json_text(
            &json!({ "job": threads.who(), what: done, "ranks": of, "late": late }),
        ));
    }
    let text = format!("{}: {done} of {of} {what}", threads.who());
    let note = late.map(|late| format!("note: {late}\n")).unwrap_or_default();
    render::output(&(escaped(&text) + "\n" + &note))
}
