//! Delays: a call of the final write hangs, and the program still ends soon after its deadline.
//!
//! The thread is held where it makes the call. A hung disk holds a thread in the kernel, where not
//! even a signal ends it. The process then stays until the disk answers, which nothing can change.

use std::io;
use std::time::Duration;

use tinyprof_faults::phase::Phase;
use tinyprof_faults::sys::{Action, Call, Observer, Trace};

use crate::configuration::Configuration;
use crate::errors::{Shown, kind_of, writes_to_standard};
use crate::judge::{Expected, judge};
use crate::place::Scratch;
use crate::results::{Outcome, Results, print};
use crate::syscalls::describe;

/// The longest time that the program may wait.
const DEADLINE: &str = "300ms";
/// The longest time that the whole run may take, on a machine that also does other work.
const LIMIT: Duration = Duration::from_secs(5);

/// An observer that holds the `held`-th call (1-based) that concerns a file.
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
    let mut place = Scratch::new(configuration.levels, None)?;
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

/// Loops over all calls of the final write, or every fifth if `quick`.
pub(crate) fn all(
    configuration: &Configuration,
    quick: bool,
    results: &mut Results,
) -> io::Result<()> {
    let place = Scratch::new(configuration.levels, None)?;
    let mut undisturbed = Holder { held: 0, seen: 0, hit: None };
    Trace::run(&mut place.victim(configuration)?, LIMIT, false, &mut undisturbed)?;
    let cases: Vec<usize> = (1..=undisturbed.seen).step_by(if quick { 5 } else { 1 }).collect();
    results.run("delays", configuration.name, &cases, |&held| run(configuration, held, false))?;
    Ok(())
}
