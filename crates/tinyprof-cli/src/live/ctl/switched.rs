//! `tinyprof ctl off`, and `on` without a condition: measuring itself is switched off and on.

use std::error::Error;

use tinyprof_segment::control::{Answer, Verb};

use super::super::elsewhere::{Elsewhere, by_host};
use super::super::told::{Told, form};
use super::held::{switched, told};
use crate::arguments::OnJob;

/// Has all ranks measure nothing until [`on`].
///
/// # Errors
/// If there is no such job, no rank accepts commands, or none can be switched off.
pub(super) fn off(on: &OnJob) -> Result<(), Box<dyn Error>> {
    switch(on, Verb::Off)
}

/// Has all ranks measure again.
///
/// # Errors
/// If there is no such job, or no rank accepts commands.
pub(super) fn on(on: &OnJob) -> Result<(), Box<dyn Error>> {
    switch(on, Verb::On)
}

fn switch(on: &OnJob, verb: Verb) -> Result<(), Box<dyn Error>> {
    if let Some(hosts) = Elsewhere::of(on) {
        return by_host(&hosts.run(&["ctl", verb.name()], |_, _| Ok(()))?).print(form(on));
    }
    let threads = switched(on, verb)?;
    let what = if verb == Verb::Off { "off" } else { "on again" };
    let Told { mut text, json, profile } = told(&threads, what);
    let ranks = threads.ranks();
    let reasons = [
        (Answer::KeepsAlready, "keep events of the whole run, as their TINYPROF_EVENTS says"),
        (Answer::Unknown, "do not know this command: they have another version of TinyProf"),
        (Answer::NotPossible, "write interim profiles or are sampled, which need all of the run"),
    ];
    for (refused, why) in reasons.map(|(answer, why)| (ranks.answered(answer), why)) {
        let reason = format!("{refused} of {} ranks {why}", ranks.0.len());
        if refused == ranks.0.len() {
            return Err(format!("measuring is not switched {what}: {reason}").into());
        }
        if refused > 0 {
            text += &format!("note: {reason}\n");
        }
    }
    Told { text, json, profile }.print(form(on))
}
