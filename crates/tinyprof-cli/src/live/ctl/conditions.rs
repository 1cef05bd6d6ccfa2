//! `tinyprof ctl on`: something is done when a condition holds of the running job.

use std::error::Error;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;
use tinyprof_report::escaped;

use super::super::app::App;
use super::super::save::save_on;
use super::super::told::{Told, form};
use super::super::until::Condition;
use super::super::{Watching, source};
use super::{held, recording};
use crate::arguments::{CtlAction, OnArguments, OnJob};
use crate::sys;

/// The time between two looks whether it is over.
const LOOK: Duration = Duration::from_millis(200);

/// Watches until the condition has held as often as the user wants it, or the job has ended.
///
/// # Errors
/// If there is no such condition, the job has ended and it never held, or an action has failed.
pub(super) fn run(arguments: &OnArguments, condition: &str) -> Result<(), Box<dyn Error>> {
    let condition = Condition::new(condition)?;
    match watch(arguments, &condition, 0, || false)? {
        0 => Err(format!("the job has ended, and never was {}", condition.text()).into()),
        _ => Ok(()),
    }
}

/// Watches until the condition has held as often as is wanted, of which it has `fired` before, or
/// the job has ended, or `is_over`. Returns how often it has held, those before included.
///
/// # Errors
/// If there are several jobs, or an action has failed.
pub(in crate::live) fn watch(
    arguments: &OnArguments,
    condition: &Condition,
    mut fired: u32,
    is_over: impl Fn() -> bool,
) -> Result<u32, Box<dyn Error>> {
    let OnJob { segments, hosts, .. } = &arguments.on;
    let mut app = App::new(source(&Watching::of(segments, hosts, arguments.interval)));
    let interval = Duration::from_secs(arguments.interval.into());
    let mut held_before = false;
    while fired < arguments.times {
        let begun_ns = sys::now().monotonic_ns;
        app.update();
        if let Some((frame, has_ended)) = app.only_frame()? {
            if has_ended {
                break;
            }
            let holds = condition.holds(frame);
            // Once for each time that it begins to hold.
            if holds && !held_before {
                fired += 1;
                fire(arguments, condition.text(), fired)?;
            }
            held_before = holds;
        }
        while fired < arguments.times && sys::since(begun_ns) < interval {
            if is_over() {
                return Ok(fired);
            }
            sleep(LOOK.min(interval.saturating_sub(sys::since(begun_ns))));
        }
    }
    Ok(fired)
}

/// Does what the user wants done.
fn fire(arguments: &OnArguments, condition: &str, number: u32) -> Result<(), Box<dyn Error>> {
    let (on, name) = (&arguments.on, arguments.name.as_deref());
    for action in &arguments.actions {
        match action {
            CtlAction::Notify => {
                let text = escaped(&format!("{condition}: holds, time {number}"));
                let json = json!({ "condition": condition, "time": number });
                Told { text: text + "\n", json, profile: None }.print(form(on))?;
            }
            CtlAction::Save => save_on(on, name)?,
            CtlAction::Record => recording::run(on, arguments.time, name)?,
            CtlAction::Hold => held::hold(on, arguments.time)?,
        }
    }
    Ok(())
}
