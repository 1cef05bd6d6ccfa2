//! `tinyprof ctl hold` and `release`: ranks wait where a region or a call of MPI ends.

use std::error::Error;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Map, json};
use tinyprof_report::escaped;
use tinyprof_segment::control::{Accepts, Answer, HOLD_NS_MAX, Verb};
use tinyprof_views::json_text;

use super::super::agents::end_of_input;
use super::super::elsewhere::{Elsewhere, by_host};
use super::super::giver::Giver;
use super::super::told::{Form, Head, Told, form};
use super::threads::Threads;
use crate::arguments::{OnJob, Time};
use crate::{render, sys};

/// How long a command is waited for.
pub(super) const PATIENCE_NS: u64 = 5_000_000_000;

/// The time between two renewals of the lease.
const RENEW_NS: u64 = 500_000_000;

/// Holds all ranks for this long, at most a minute, or until they are released, or this process
/// ends.
///
/// # Errors
/// If there is no such job, or no rank obeys.
pub(super) fn hold(on: &OnJob, time: Time) -> Result<(), Box<dyn Error>> {
    if let Some(elsewhere) = Elsewhere::of(on) {
        // Each host as soon as it says so: the others may take a while.
        return hold_by(&elsewhere, time, |host, head| match form(on) {
            Form::Text | Form::Packed => {
                let text = escaped(&format!("{host}: {}", head.text.trim_end()));
                render::output(&(text + "\n"))
            }
            Form::Json => {
                let hosts = Map::from_iter([(host.to_owned(), head.json.clone())]);
                render::output(&json_text(&json!({ "hosts": hosts })))
            }
        });
    }
    let is_over = (form(on) == Form::Packed).then(end_of_input);
    let mut threads = Threads::find(&on.segments)?;
    let now_ns = sys::now().monotonic_ns;
    let time_ns = time.ns().min(HOLD_NS_MAX);
    let end_ns = now_ns.saturating_add(time_ns);
    threads.give(Verb::Hold, Accepts::Holding, end_ns, &Giver::of(on))?;
    await_held(&mut threads, now_ns.saturating_add(PATIENCE_NS.min(time_ns)));
    told(&threads, "held").print(form(on))?;
    loop {
        let rest_ns = end_ns.saturating_sub(sys::now().monotonic_ns);
        sleep(Duration::from_nanos(RENEW_NS.min(rest_ns)));
        threads.renew_lease();
        threads.ask();
        let is_held = threads.ranks().0.iter().any(|rank| rank.held_since_ns.is_some());
        let waits_for_more = threads.has_late();
        let is_left = is_over.as_ref().is_some_and(|is_over| is_over.load(Relaxed));
        if is_left || sys::now().monotonic_ns >= end_ns || (!is_held && !waits_for_more) {
            return Ok(());
        }
    }
}

/// Waits until all ranks are held, but not longer than until some time. One that waits for another
/// in MPI does not come while that one is held, which stays so meanwhile.
fn await_held(threads: &mut Threads, until_ns: u64) {
    while threads.has_late() && sys::now().monotonic_ns < until_ns {
        threads.wait(sys::now().monotonic_ns.saturating_add(RENEW_NS).min(until_ns));
        threads.renew_lease();
    }
}

/// Holds all ranks of these hosts for this long, and tells what each host says as soon as it does.
///
/// # Errors
/// If there is no such job on any, or no rank obeys.
pub(in crate::live) fn hold_by(
    hosts: &Elsewhere<'_>,
    time: Time,
    tell: impl FnMut(&str, &Head) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    hosts.run(&["ctl", "hold", "--for", &time.to_string()], tell).map(drop)
}

/// Ends what a command has begun: a hold, or a recording.
///
/// # Errors
/// If there is no such job, or no rank obeys.
pub(super) fn release(on: &OnJob) -> Result<(), Box<dyn Error>> {
    if let Some(elsewhere) = Elsewhere::of(on) {
        return release_by(&elsewhere)?.print(form(on));
    }
    told(&switched(on, Verb::Release)?, "released").print(form(on))
}

/// Ends what a command has begun on these hosts, and returns what they tell.
///
/// # Errors
/// If there is no such job on any, or no rank obeys.
pub(in crate::live) fn release_by(hosts: &Elsewhere<'_>) -> Result<Told, Box<dyn Error>> {
    Ok(by_host(&hosts.run(&["ctl", "release"], |_, _| Ok(()))?))
}

/// Gives all ranks of this host a command that has no end of its own, and waits until they have
/// obeyed, or for as long as a command is waited for.
///
/// # Errors
/// If there is no such job, or no rank accepts commands.
pub(super) fn switched(on: &OnJob, verb: Verb) -> Result<Threads, Box<dyn Error>> {
    let mut threads = Threads::find(&on.segments)?;
    threads.give(verb, Accepts::Recording, 0, &Giver::of(on))?;
    threads.wait(sys::now().monotonic_ns.saturating_add(PATIENCE_NS));
    Ok(threads)
}

/// Returns how many ranks have done so, and who is late.
pub(super) fn told(threads: &Threads, what: &str) -> Told {
    let ranks = threads.ranks();
    let (done, of, late) = (ranks.answered(Answer::Done), ranks.0.len(), ranks.late_line());
    let text = escaped(&format!("{}: {done} of {of} {what}", threads.who())) + "\n";
    let note = late.iter().map(|late| format!("note: {late}\n")).collect::<String>();
    let json = json!({ "job": threads.who(), what: done, "ranks": of, "late": late });
    Told { text: text + &note, json, profile: None }
}
