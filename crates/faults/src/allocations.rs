//! Allocation failures: the k-th allocation of the profiler fails, once and for good, for every k
//! until a run needs none.

use std::io;
use std::time::Duration;

use tinyprof_faults::sys::{Ended, run as run_to_end};

use crate::configuration::Configuration;
use crate::judge::{Expected, is_before_final, judge};
use crate::place::Scratch;
use crate::results::{Outcome, Results, print};

/// The longest time that a run takes: the usual deadline and a little more.
const LIMIT: Duration = Duration::from_secs(40);

/// Runs the program with allocation `number` (1-based) failing. Also returns the number of
/// allocations.
fn run(
    configuration: &Configuration,
    number: u64,
    for_good: bool,
    keep: bool,
) -> io::Result<(u64, Outcome)> {
    let mut place = Scratch::new(configuration.levels, None)?;
    let mut command = place.victim(configuration)?;
    command.env("FAULTS_ALLOCATION", number.to_string());
    if for_good {
        command.env("FAULTS_FOR_GOOD", "1");
    }
    let ended: Ended = run_to_end(&mut command, LIMIT)?;
    let truth = place.truths()[0];
    let made = truth.allocations().load(std::sync::atomic::Ordering::SeqCst);
    let phase = truth.phase_of_allocation(number);
    let start_failed = number > 0 && is_before_final(phase);
    let expected = Expected { report: configuration.report, start_failed, ..Expected::UNTOUCHED };
    let verdict = judge(&place, ended, expected);
    let how = if for_good { "for good" } else { "once" };
    let fault = format!("allocation {number} {how}, {}", phase.name());
    if keep {
        print(&format!(
            "{fault}: {verdict:?}\n{}kept in {}\n",
            place.stderr(),
            place.keep().display()
        ));
    }
    Ok((made, Outcome { reached: number > 0 && made >= number, fault, verdict }))
}

/// Runs one case: `K once` or `K for-good`.
pub(crate) fn repeat(configuration: &Configuration, case: &str) -> io::Result<bool> {
    let (number, how) = case.split_once(' ').unwrap_or((case, "once"));
    let number = number.parse().map_err(io::Error::other)?;
    Ok(run(configuration, number, how == "for-good", true)?.1.verdict.is_ok())
}

/// Loops over all allocations, or about forty of them if `quick`.
pub(crate) fn all(
    configuration: &Configuration,
    quick: bool,
    results: &mut Results,
) -> io::Result<()> {
    let (made, undisturbed) = run(configuration, 0, false, false)?;
    if let Err(why) = undisturbed.verdict {
        return Err(io::Error::other(format!(
            "an undisturbed run ({}) fails: {why}",
            configuration.name
        )));
    }
    let mut last = made;
    while run(configuration, last + 1, false, false)?.1.reached {
        last += 1;
    }
    let step = if quick { last.div_ceil(40) } else { 1 };
    let numbers = (1..=last).step_by(usize::try_from(step).unwrap_or(1));
    let mut cases = Vec::new();
    for number in numbers {
        let odd = (number / step) % 2 == 1;
        let hows = if quick { vec![odd] } else { vec![false, true] };
        cases
            .extend(hows.into_iter().map(|for_good| {
                format!("{number} {}", if for_good { "for-good" } else { "once" })
            }));
    }
    results.run("allocations", configuration.name, &cases, |case| {
        let (number, how) = case.split_once(' ').unwrap_or((case, "once"));
        let number = number.parse().map_err(io::Error::other)?;
        Ok(run(configuration, number, how == "for-good", false)?.1)
    })?;
    Ok(())
}
