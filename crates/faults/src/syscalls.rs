//! System call failures: the k-th system call of the profiler fails, in each possible way, once and
//! for good.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::time::Duration;

use tinyprof_faults::phase::Phase;
use tinyprof_faults::sys::{Action, Call, Observer, Trace};

use crate::configuration::Configuration;
use crate::errors::{Fault, Kind, Shown, kind_of, writes_to_standard};
use crate::judge::{Expected, is_before_final, judge};
use crate::place::Scratch;
use crate::results::{Outcome, Results, print};

/// The largest number of calls of a configuration that fail in a quick loop.
const QUICK: usize = 80;

/// The longest time that a run takes: the usual deadline and some time for the many stops.
const LIMIT: Duration = Duration::from_secs(45);

/// A run: the call that fails, the way in which it fails, and whether all later calls of its kind
/// fail too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    /// The number of the call, from 1 on, among those that can fail.
    call: usize,
    /// The number of the way in which it fails.
    fault: usize,
    for_good: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.for_good { "for-good" } else { "once" };
        write!(f, "{} {} {how}", self.call, self.fault)
    }
}

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let wrong = || format!("{text:?} is no case: expected CALL FAULT once|for-good");
        let &[call, fault, how] = &words[..] else { return Err(wrong()) };
        let (call, fault) =
            (call.parse().map_err(|_| wrong())?, fault.parse().map_err(|_| wrong())?);
        Ok(Self { call, fault, for_good: how == "for-good" })
    }
}

/// An observer that numbers the calls of a run, and makes some of them fail.
#[derive(Default)]
struct Injector {
    case: Option<Case>,
    seen: usize,
    /// Every call that can fail, with the ways in which it can, if no case is set.
    calls: Vec<(String, Phase, &'static [Fault])>,
    hit: Option<Hit>,
}

/// The call that has failed.
struct Hit {
    what: String,
    phase: Phase,
    number: i64,
    standard: bool,
    fault: Fault,
}

impl Observer for Injector {
    fn call(&mut self, call: &Call) -> Action {
        if matches!(call.phase, Phase::Before | Phase::Own) {
            return Action::Let;
        }
        let Some(kind) = kind_of(call) else { return Action::Let };
        self.seen += 1;
        let Some(case) = self.case else {
            self.calls.push((describe(kind, call), call.phase, kind.faults_of(call)));
            return Action::Let;
        };
        if let Some(hit) = &self.hit {
            let alike = hit.number == call.number && hit.standard == writes_to_standard(call);
            return if case.for_good && alike && hit.fault.lasts() {
                hit.fault.action(call)
            } else {
                Action::Let
            };
        }
        match kind.faults_of(call).get(case.fault) {
            Some(&fault) if self.seen == case.call => {
                let standard = writes_to_standard(call);
                self.hit = Some(Hit {
                    what: describe(kind, call),
                    phase: call.phase,
                    number: call.number,
                    standard,
                    fault,
                });
                fault.action(call)
            }
            _ => Action::Let,
        }
    }
}

pub(crate) fn describe(kind: &Kind, call: &Call) -> String {
    let name = kind.name.trim_start_matches("SYS_");
    let argument = match kind.shown {
        Shown::Nothing => None,
        Shown::Path(argument) => call.text(argument),
        Shown::File(argument) => call.file(argument),
    };
    // The directories of runs have random names.
    let short = |path: String| {
        path.split("/tinyprof-faults-").last().map(|end| match end.split_once('/') {
            Some((_, rest)) if end.len() < path.len() => rest.to_owned(),
            _ => path.clone(),
        })
    };
    argument
        .and_then(short)
        .map_or_else(|| name.to_owned(), |argument| format!("{name} {argument}"))
}

/// Runs one case.
fn run(
    configuration: &Configuration,
    case: Option<Case>,
    keep: bool,
) -> io::Result<(Injector, Outcome)> {
    let mut place = Scratch::new(configuration.levels, None)?;
    let mut injector = Injector { case, ..Injector::default() };
    let ended = Trace::run(&mut place.victim(configuration)?, LIMIT, false, &mut injector)?;
    let hit = injector.hit.as_ref();
    let expected = Expected {
        report: configuration.report,
        start_failed: hit.is_some_and(|hit| is_before_final(hit.phase)),
        speechless: hit.is_some_and(|hit| hit.standard),
        ..Expected::UNTOUCHED
    };
    let verdict = judge(&place, ended, expected);
    let how = case.map_or("", |case| if case.for_good { "for good" } else { "once" });
    let fault = hit.map_or_else(
        || "no fault".to_owned(),
        |hit| format!("{} {} {how}, {}", hit.what, hit.fault.name(), hit.phase.name()),
    );
    if keep {
        print(&format!(
            "{fault}: {verdict:?}\n{}kept in {}\n",
            place.stderr(),
            place.keep().display()
        ));
    }
    let outcome = Outcome { reached: hit.is_some(), fault, verdict };
    Ok((injector, outcome))
}

/// Returns the calls of an undisturbed run.
fn calls(configuration: &Configuration) -> io::Result<Injector> {
    let (injector, outcome) = run(configuration, None, false)?;
    match outcome.verdict {
        Ok(_) => Ok(injector),
        Err(why) => Err(io::Error::other(format!(
            "an undisturbed run ({}) fails: {why}",
            configuration.name
        ))),
    }
}

/// Lists the calls of an undisturbed run.
pub(crate) fn list(configuration: &Configuration) -> io::Result<()> {
    for (number, (what, phase, faults)) in (1..).zip(calls(configuration)?.calls) {
        let names: Vec<String> = faults.iter().map(|fault| fault.name()).collect();
        print(&format!("{number:4} {:11} {what}: {}\n", phase.name(), names.join(" ")));
    }
    Ok(())
}

/// Runs one case, and keeps its directory.
pub(crate) fn repeat(configuration: &Configuration, case: &str) -> io::Result<bool> {
    let case = case.parse().map_err(io::Error::other)?;
    Ok(run(configuration, Some(case), true)?.1.verdict.is_ok())
}

/// Loops over all calls. In a quick loop each call fails once, in one of its ways in turn.
pub(crate) fn all(
    configuration: &Configuration,
    quick: bool,
    results: &mut Results,
) -> io::Result<()> {
    let calls = calls(configuration)?.calls;
    let mut cases = Vec::new();
    let step = if quick { calls.len().div_ceil(QUICK) } else { 1 };
    for (at, (_, _, faults)) in calls.iter().enumerate().step_by(step) {
        let every =
            (0..faults.len()).flat_map(|fault| [false, true].map(|for_good| (fault, for_good)));
        let mut every: Vec<_> =
            every.filter(|&(fault, for_good)| !for_good || faults[fault].lasts()).collect();
        if quick {
            // Without memory from one call on, a program tries another way for each of its
            // allocations, and each try is a stop here.
            every.retain(|&(fault, for_good)| !(for_good && faults[fault].is_of_memory()));
            every = vec![every[at % every.len()]];
        }
        cases.extend(every.into_iter().map(|(fault, for_good)| Case {
            call: at + 1,
            fault,
            for_good,
        }));
    }
    // Other runs may need more calls than this one, so continue until one needs none.
    let mut beyond = calls.len();
    loop {
        let more = Case { call: beyond + 1, fault: 0, for_good: false };
        if !run(configuration, Some(more), false)?.1.reached {
            break;
        }
        cases.extend([false, true].map(|for_good| Case { for_good, ..more }));
        beyond += 1;
    }
    results.run("syscalls", configuration.name, &cases, |&case| {
        Ok(run(configuration, Some(case), false)?.1)
    })?;
    Ok(())
}
