//! Watching without a screen: a picture as text, JSON documents, and waiting for a condition.

use std::error::Error;
use std::thread;

use super::app::App;
use super::screen::State;
use super::until::Condition;
use super::{json, once};
use crate::arguments::{TableFormat, TopArguments};
use crate::{render, sys};

/// Shows one picture, or one after the other until a condition holds or the job has ended.
///
/// # Errors
/// If there is no job, or it has ended before the condition held.
pub(super) fn run(app: &mut App, arguments: &TopArguments) -> Result<(), Box<dyn Error>> {
    let condition = arguments.until.as_deref().map(Condition::new).transpose()?;
    let is_json = matches!(arguments.output.format(), TableFormat::Json);
    app.look_once()?;
    let goes_on = !arguments.once && (is_json || condition.is_some());
    loop {
        let begun_ns = sys::now().monotonic_ns;
        let holds = condition.as_ref().is_none_or(|condition| match &app.state {
            State::Running(frame) | State::Ended(frame) => condition.holds(frame),
            State::Waiting(_) | State::Choosing(_) => false,
        });
        let has_ended = matches!(app.state, State::Ended(_));
        let is_last = has_ended || !goes_on || (condition.is_some() && holds);
        if is_json {
            print(app)?;
        } else if is_last {
            render::text(&once(app, usize::from(render::columns(arguments.output.width))))?;
        }
        if is_last {
            return match &condition {
                Some(condition) if !holds && has_ended => {
                    Err(format!("the job has ended, and never was {}", condition.text()).into())
                }
                Some(condition) if !holds => {
                    Err(format!("it is not so that {}", condition.text()).into())
                }
                _ => Ok(()),
            };
        }
        let interval_ns = u64::from(arguments.interval) * 1_000_000_000;
        let taken_ns = sys::now().monotonic_ns.saturating_sub(begun_ns);
        thread::sleep(std::time::Duration::from_nanos(interval_ns.saturating_sub(taken_ns)));
        app.update();
    }
}

/// Prints one document in a line.
fn print(app: &App) -> Result<(), Box<dyn Error>> {
    let (frame, has_ended) = match &app.state {
        State::Running(frame) => (frame, false),
        State::Ended(frame) => (frame, true),
        State::Choosing(jobs) => {
            let ids: Vec<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
            return Err(
                format!("several jobs run here: name one with --job: {}", ids.join(", ")).into()
            );
        }
        State::Waiting(what) => return Err(app.trouble().unwrap_or(what).into()),
    };
    render::text(&(json::document(frame, has_ended).to_string() + "\n"))
}
