//! `tinyprof ctl on`: something is done when a condition holds of the running job.

use std::error::Error;
use std::thread::sleep;
use std::time::Duration;

use tinyprof_report::escaped;

use super::super::app::App;
use super::super::save::save;
use super::super::screen::State;
use super::super::source::Source;
use super::super::until::Condition;
use super::super::watch::Watch;
use super::{held, recording};
use crate::arguments::{CtlAction, OnArguments};
use crate::recover::segment_directory;
use crate::{render, sys};

/// Watches until the condition has held as often as the user wants it, or the job has ended.
///
/// # Errors
/// If there is no such condition, the job has ended and it never held, or an action has failed.
pub(super) fn run(arguments: &OnArguments) -> Result<(), Box<dyn Error>> {
    let condition = Condition::new(&arguments.condition)?;
    let directory = segment_directory(arguments.segments.directory.as_deref());
    let watch = Watch::of_memory(&directory, arguments.segments.job.clone());
    let mut app = App::new(Source::Here(Box::new(watch)));
    let interval = Duration::from_secs(arguments.interval.into());
    let (mut fired, mut held_before) = (0, false);
    while fired < arguments.times {
        let begun_ns = sys::now().monotonic_ns;
        app.update();
        match &app.state {
            State::Waiting(_) => {}
            State::Choosing(jobs) => {
                let ids: Vec<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
                let ids = ids.join(", ");
                return Err(format!("several jobs run here: name one with --job: {ids}").into());
            }
            State::Running(frame) => {
                let holds = condition.holds(frame);
                // Once for each time that it begins to hold.
                if holds && !held_before {
                    fired += 1;
                    fire(arguments, fired)?;
                }
                held_before = holds;
            }
            State::Ended(_) if fired > 0 => return Ok(()),
            State::Ended(_) => {
                return Err(format!("the job has ended, and never was {}", condition.text()).into());
            }
        }
        if fired < arguments.times {
            sleep(interval.saturating_sub(sys::since(begun_ns)));
        }
    }
    Ok(())
}

/// Does what the user wants done.
fn fire(arguments: &OnArguments, number: u32) -> Result<(), Box<dyn Error>> {
    let is_json = arguments.output.is_json();
    for action in &arguments.actions {
        match action {
            CtlAction::Notify => {
                let text = format!("{}: holds, time {number}", arguments.condition);
                render::output(&(escaped(&text) + "\n"))?;
            }
            CtlAction::Save => {
                let saved = save(&arguments.segments, arguments.name.as_deref())?;
                let text = format!("{}: saved as {}", saved.who, saved.profile.display());
                render::output(&(escaped(&text) + "\n"))?;
            }
            CtlAction::Record => {
                let name = arguments.name.as_deref();
                let recorded = recording::record(&arguments.segments, arguments.time.0, name)?;
                render::output(&recorded.said(is_json))?;
            }
            CtlAction::Hold => held::hold(&arguments.segments, arguments.time.0, is_json)?,
        }
    }
    Ok(())
}
