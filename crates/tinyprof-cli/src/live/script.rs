//! Watching without a screen: a picture as text, JSON documents, and waiting for a condition.

use std::error::Error;
use std::thread;
use std::time::Duration;

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
    let goes_on = !arguments.once && (is_json || condition.is_some());
    if !goes_on {
        app.look_once()?;
    }
    loop {
        let begun_ns = sys::now().monotonic_ns;
        if goes_on {
            app.update();
        }
        let looked = look(app, condition.as_ref(), goes_on || is_json)?;
        let is_last = !goes_on || looked.has_ended || (condition.is_some() && looked.holds);
        if is_json && looked.is_there {
            print(app)?;
        } else if is_last {
            render::text(&once(app, usize::from(render::columns(arguments.output.width))))?;
        }
        if is_last {
            return match &condition {
                Some(condition) if !looked.holds && looked.has_ended => {
                    Err(format!("the job has ended, and never was {}", condition.text()).into())
                }
                Some(condition) if !looked.holds => {
                    Err(format!("it is not so that {}", condition.text()).into())
                }
                _ => Ok(()),
            };
        }
        let interval = Duration::from_secs(arguments.interval.into());
        thread::sleep(interval.saturating_sub(sys::since(begun_ns)));
    }
}

/// The result of a look.
struct Looked {
    is_there: bool,
    holds: bool,
    has_ended: bool,
}

/// Returns what was found; a job that has not begun is waited for. Of several jobs, text has a
/// list, and nothing else can go on.
fn look(app: &App, condition: Option<&Condition>, needs_one: bool) -> Result<Looked, String> {
    let is_list = matches!(app.state, State::Choosing(_)) && !needs_one;
    let Some((frame, has_ended)) = (if is_list { None } else { app.only_frame()? }) else {
        return Ok(Looked { is_there: false, holds: false, has_ended: false });
    };
    let holds = condition.is_none_or(|condition| condition.holds(frame));
    Ok(Looked { is_there: true, holds, has_ended })
}

/// Prints one document in a line.
fn print(app: &App) -> Result<(), Box<dyn Error>> {
    let Some((frame, has_ended)) = app.only_frame()? else { return Ok(()) };
    render::text(&(json::document(frame, has_ended).to_string() + "\n"))
}
