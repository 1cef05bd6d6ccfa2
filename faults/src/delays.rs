//! A call of the final write hangs: the program ends all the same, soon after its deadline.
//!
//! The thread is held where it makes the call. A disk that hangs holds it in the system, where not
//! even a signal ends it: the process then stays until the disk answers, which nobody can change.

use std::io;
use std::time::Duration;

use tinyprof_faults::sys::{Action, Call, Observer, Trace};
use tinyprof_faults::truth::Phase;

use crate::configuration::Configuration;
use crate::errors::{Shown, kind_of, writes_to_standard};
use crate::judge::{Expected, judge};
use crate::place::Place;
use crate::results::{Outcome, Results, print};
use crate::syscalls::describe;

/// What the program may wait ...
const DEADLINE: &str = "300ms";
/// ... and what it may take altogether, on a machine that does other things besides.
const LIMIT: Duration = Duration::from_secs(5);

/// Holds the `held`-th call (1-based) that concerns a file.
struct Holder {
    held: usize,
    seen: usize,
    hit: Option<(String, bool)>,
}

impl Observer for Holder {
    fn call(&mut self, call: &Call) -> Action {
        let hangs = |kind: &&'static crate::errors::Kind| !matches!(kind.shown, Shown::Nothing);
        match kind_of(call).filter(hangs).filter(|_| call.phase == Phase::Final) {
            Some(kind) => {
                self.seen += 1;
                if self.seen != self.held {
                    return Action::Let;
                }
                self.hit = Some((describe(kind, call), writes_to_standard(call)));
                Action::Hold
            }
            None => Action::Let,
        }
    }
}

pub(crate) fn run(configuration: &Configuration, held: usize, keep: bool) -> io::Result<Outcome> {
    let mut place = Place::new(configuration.levels, None)?;
    let mut holder = Holder { held, seen: 0, hit: None };
    let mut command = place.victim(configuration)?;
    command.env("TINYPROF_DEADLINE", DEADLINE);
    let ended = Trace::run(&mut command, LIMIT, false, &mut holder)?;
    let (what, speechless) = holder.hit.clone().unwrap_or_default();
    let expected = Expected { report: configuration.report, speechless, ..Expected::UNTOUCHED };
    let verdict = judge(&place, ended, expected);
    if keep {
        print(&format!(
            "{what}: {verdict:?}\n{}kept in {}\n",
            place.stderr(),
            place.keep().display()
        ));
    }
    Ok(Outcome { reached: holder.hit.is_some(), fault: format!("{what} hangs"), verdict })
}

/// The loop over all calls of the final write; every fifth if `quick`.
pub(crate) fn all(
    configuration: &Configuration,
    quick: bool,
    results: &mut Results,
) -> io::Result<()> {
    let place = Place::new(configuration.levels, None)?;
    let mut undisturbed = Holder { held: 0, seen: 0, hit: None };
    Trace::run(&mut place.victim(configuration)?, LIMIT, false, &mut undisturbed)?;
    let cases: Vec<usize> = (1..=undisturbed.seen).step_by(if quick { 5 } else { 1 }).collect();
    results.run("delays", configuration.name, &cases, |&held| run(configuration, held, false))?;
    Ok(())
}
