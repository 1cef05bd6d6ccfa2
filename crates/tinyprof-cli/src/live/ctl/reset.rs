//! `tinyprof ctl reset`, `filter` and `metrics`: another part of the run begins, at the same flush
//! point on all ranks, with the same regions and metrics or others.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use serde_json::json;
use tinyprof_report::escaped;
use tinyprof_segment::control::{Accepts, Answer, Verb};
use tinyprof_segment::layout::header;
use tinyprof_segment::obeyed;
use tinyprof_segment::words::{Line, high, low};

use super::super::elsewhere::{Elsewhere, by_host};
use super::super::giver::Giver;
use super::super::told::{Told, form};
use super::held::PATIENCE_NS;
use super::threads::Threads;
use crate::arguments::OnJob;
use crate::sys::{self, SharedWords};

/// Has all ranks begin another part of the run, and write what was measured in the one before.
///
/// # Errors
/// If there is no such job, or no rank can.
pub(super) fn run(on: &OnJob) -> Result<(), Box<dyn Error>> {
    begin_part(on, Verb::Reset, "")
}

/// Has all ranks begin another part of the run, in which these patterns say which regions are
/// recorded.
///
/// # Errors
/// If there is no such job, or no rank can.
pub(super) fn filter(on: &OnJob, patterns: &str) -> Result<(), Box<dyn Error>> {
    begin_part(on, Verb::Filter, patterns)
}

/// Has all ranks begin another part of the run, in which these patterns say which metrics are
/// recorded.
///
/// # Errors
/// If there is no such job, or no rank can.
pub(super) fn metrics(on: &OnJob, patterns: &str) -> Result<(), Box<dyn Error>> {
    begin_part(on, Verb::Metrics, patterns)
}

fn begin_part(on: &OnJob, verb: Verb, argument: &str) -> Result<(), Box<dyn Error>> {
    if let Some(hosts) = Elsewhere::of(on) {
        let command = ["ctl", verb.name(), argument];
        let command = if argument.is_empty() { &command[..2] } else { &command[..] };
        return by_host(&hosts.run(command, |_, _| Ok(()))?).print(form(on));
    }
    let mut threads = Threads::find(&on.segments)?;
    let giver = Giver::of(on).about(argument);
    threads.give(verb, Accepts::Recording, 0, &giver)?;
    threads.wait(sys::now().monotonic_ns.saturating_add(PATIENCE_NS));
    let ranks = threads.ranks();
    let (done, of) = (ranks.answered(Answer::Done), ranks.0.len());
    let refused = ranks.answered(Answer::NotPossible) + ranks.answered(Answer::Unknown);
    if refused == of {
        return Err(format!(
            "{} cannot begin another part: its ranks count no flush points, or have another version of TinyProf; \
             start it with -o steer=on -o interval=1000h, or a shorter interval for interim profiles",
            threads.who()
        )
        .into());
    }
    let date_ns = giver.given().date_ns;
    let at: BTreeSet<u64> = threads.paths().filter_map(|path| flush_point(path, date_ns)).collect();
    let named = at.iter().filter(|at| **at > 0).map(u64::to_string).collect::<Vec<_>>().join(", ");
    let named = if named.is_empty() { named } else { format!(" at flush point {named}") };
    let with = match verb {
        Verb::Filter => format!(", filtered by {argument}"),
        Verb::Metrics => format!(", with metrics {argument}"),
        _ => String::new(),
    };
    let begun = format!("{}: {done} of {of} began another part{named}{with}", threads.who());
    let mut text = escaped(&begun) + "\n";
    let late = ranks.late_at_flush_point();
    text.extend(late.iter().map(|late| format!("note: {late}\n")));
    if refused > 0 {
        text += &format!("note: {refused} of {of} ranks count no flush points any more\n");
    }
    let json = json!({
        "job": threads.who(),
        "begun": done,
        "ranks": of,
        "flush_points": at,
        "late": late,
        "patterns": Some(argument).filter(|argument| !argument.is_empty()),
    });
    Told { text, json, profile: None }.print(form(on))
}

/// Returns the flush point at which a thread has done the command of this date; `None` if it has
/// not.
fn flush_point(path: &Path, date_ns: u64) -> Option<u64> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(path).ok()?;
    let shared = SharedWords::of(&file).ok()?;
    let words = shared.words();
    let place = words.get(header::OBEYED)?.load(Acquire);
    let first = Line::from_number(low(place)).first_word();
    let log = words.get(first..first.saturating_add(high(place) as usize))?;
    let (commands, _) = obeyed::read(|at| log.get(at).map_or(0, |word| word.load(Relaxed)));
    let own = commands.iter().rev().find(|one| one.given.date_ns == date_ns && one.over_ns > 0)?;
    (!shared.has_shrunk()).then_some(own.flush_point)
}
