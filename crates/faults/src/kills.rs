//! Kills of programs at random moments, after which everything that they had recorded must be
//! there.

use std::io;
use std::process::Child;
use std::time::Duration;

use tinyprof_faults::phase::Phase;
use tinyprof_faults::sys::{Ended, Watch, kill, spin_us};
use tinyprof_faults::truth::Truth;

use crate::configuration::{Configuration, PLAIN};
use crate::judge::{Expected, judge};
use crate::place::Scratch;
use crate::random::Random;
use crate::results::{Outcome, Results, print};

const LIMIT: Duration = Duration::from_secs(30);

/// The moment at which programs are killed.
#[derive(Debug)]
pub(crate) struct Moment {
    configuration: Configuration,
    /// The longest time between the phase and the kill, in microseconds.
    within_us: u64,
    /// The phase that the program must have entered.
    after: Phase,
    /// The percentage of all kills.
    share: u32,
}

const INTERIM: &[(&str, &str)] = &[("TINYPROF_INTERVAL", "2ms")];

const MOMENTS: &[Moment] = &[
    Moment {
        configuration: Configuration { name: "start", rounds: None, ..PLAIN },
        within_us: 1_000,
        after: Phase::Start,
        share: 10,
    },
    Moment {
        configuration: Configuration { name: "steady", levels: 2, rounds: None, ..PLAIN },
        within_us: 30_000,
        after: Phase::Recording,
        share: 15,
    },
    Moment {
        configuration: Configuration {
            name: "steady-threads",
            threads: 4,
            levels: 2,
            rounds: None,
            ..PLAIN
        },
        within_us: 30_000,
        after: Phase::Recording,
        share: 15,
    },
    Moment {
        configuration: Configuration { name: "growth", levels: 5, rounds: None, ..PLAIN },
        within_us: 150_000,
        after: Phase::Start,
        share: 10,
    },
    Moment {
        configuration: Configuration {
            name: "growth-threads",
            threads: 3,
            levels: 4,
            rounds: None,
            ..PLAIN
        },
        within_us: 60_000,
        after: Phase::Start,
        share: 10,
    },
    Moment {
        configuration: Configuration {
            name: "interim",
            threads: 2,
            levels: 2,
            rounds: None,
            settings: INTERIM,
            ..PLAIN
        },
        within_us: 60_000,
        after: Phase::Recording,
        share: 15,
    },
    Moment {
        configuration: Configuration {
            name: "final",
            threads: 2,
            levels: 2,
            rounds: Some(20),
            ..PLAIN
        },
        within_us: 4_000,
        after: Phase::Final,
        share: 15,
    },
    Moment {
        configuration: Configuration {
            name: "final-interim",
            levels: 3,
            rounds: Some(10),
            settings: INTERIM,
            ..PLAIN
        },
        within_us: 15_000,
        after: Phase::Final,
        share: 10,
    },
];

/// Waits until a program has entered a phase, and `wait_us` longer, and then kills it.
fn kill_at(child: &Child, truth: Truth, after: Phase, wait_us: u64) {
    let give_up_ns = tinyprof::collect::monotonic_ns() + 10_000_000_000;
    while truth.phase() < after && tinyprof::collect::monotonic_ns() < give_up_ns {
        std::hint::spin_loop();
    }
    spin_us(wait_us);
    kill(child.id());
}

fn run(moment: &Moment, seed: u64, keep: bool) -> io::Result<Outcome> {
    let mut random = Random(seed);
    let configuration = &moment.configuration;
    let mut place = Scratch::new(configuration.levels, None)?;
    let mut child = place.victim(configuration)?.spawn()?;
    let watch = Watch::begin(child.id(), LIMIT)?;
    kill_at(&child, place.truths()[0], moment.after, random.below(moment.within_us));
    let ended = Ended::of(child.wait()?);
    let ended = if watch.end() { Ended::TooLong } else { ended };
    let expected = Expected { killed: true, report: configuration.report, ..Expected::UNTOUCHED };
    let verdict = judge(&place, ended, expected);
    if keep {
        print(&format!("{verdict:?}\n{}kept in {}\n", place.stderr(), place.keep().display()));
    }
    let reached = ended == Ended::Signal(libc::SIGKILL);
    Ok(Outcome { reached, fault: format!("killed {}", configuration.name), verdict })
}

/// Kills one program again, at the moment that a seed gives. No two runs are exactly alike.
pub(crate) fn repeat(name: &str, case: &str) -> io::Result<bool> {
    let moment = MOMENTS.iter().find(|moment| moment.configuration.name == name);
    let moment =
        moment.ok_or_else(|| io::Error::other(format!("there is no configuration {name}")))?;
    Ok(run(moment, case.parse().map_err(io::Error::other)?, true)?.verdict.is_ok())
}

/// Kills `kills` programs, shared among the moments.
pub(crate) fn all(name: Option<&str>, kills: u32, results: &mut Results) -> io::Result<()> {
    for moment in
        MOMENTS.iter().filter(|moment| name.is_none_or(|name| moment.configuration.name == name))
    {
        let cases: Vec<u64> = (1..=u64::from((kills * moment.share).div_ceil(100))).collect();
        results
            .run("kills", moment.configuration.name, &cases, |&seed| run(moment, seed, false))?;
    }
    Ok(())
}
