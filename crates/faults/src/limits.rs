//! Limits that the system sets for the program: memory, open files, file size.

use std::io;
use std::time::Duration;

use tinyprof_faults::phase::Phase;
use tinyprof_faults::sys::{Limit, limit, run as run_to_end};

use crate::configuration::{Configuration, PLAIN};
use crate::judge::{Expected, judge};
use crate::place::Scratch;
use crate::results::{Outcome, Results, print};

const LIMIT: Duration = Duration::from_secs(60);

/// A configuration with 111,111 callpaths: writing their profile takes more memory than recording
/// them.
const MANY: Configuration = Configuration { name: "many", levels: 5, rounds: Some(1), ..PLAIN };
const THREADS: Configuration =
    Configuration { name: "threads", threads: 3, end: "return", ..PLAIN };

pub(crate) const ALL: &[&Configuration] = &[&MANY, &THREADS, &PLAIN];

/// Parses a limit as it is written in a case: `memory 262144`, in KiB; `file-size BYTES`;
/// `open-files N`.
fn parse(case: &str) -> io::Result<(Limit, u64)> {
    let wrong = || {
        io::Error::other(format!(
            "{case:?} is no limit: expected memory KIB, file-size BYTES or open-files N"
        ))
    };
    let (which, value) = case.split_once(' ').ok_or_else(wrong)?;
    let value: u64 = value.parse().map_err(|_| wrong())?;
    match which {
        "memory" => Ok((Limit::AddressSpace, value << 10)),
        "file-size" => Ok((Limit::FileSize, value)),
        "open-files" => Ok((Limit::OpenFiles, value)),
        _ => Err(wrong()),
    }
}

pub(crate) fn run(configuration: &Configuration, case: &str, keep: bool) -> io::Result<Outcome> {
    let (which, value) = parse(case)?;
    let mut place = Scratch::new(configuration.levels, None)?;
    let mut command = place.victim(configuration)?;
    limit(&mut command, which, value);
    let ended = run_to_end(&mut command, LIMIT)?;
    // If not even the program itself can begin, there is nothing to check.
    let reached = place.truths()[0].phase() > Phase::Before;
    let expected =
        Expected { report: configuration.report, start_failed: true, ..Expected::UNTOUCHED };
    let verdict = judge(&place, ended, expected);
    let fault = format!("at most {case}");
    if keep {
        print(&format!(
            "{fault}: {verdict:?}\n{}kept in {}\n",
            place.stderr(),
            place.keep().display()
        ));
    }
    let verdict = if reached { verdict } else { Ok(crate::judge::Kept::Nothing) };
    Ok(Outcome { reached, fault, verdict })
}

/// Loops over limits, from generous to less than the program itself needs.
pub(crate) fn all(
    configuration: &Configuration,
    quick: bool,
    results: &mut Results,
) -> io::Result<()> {
    let memory: Vec<u64> = match configuration.name {
        "many" if quick => vec![262_144],
        "many" => (1..=32).map(|step| step * 16_384).collect(),
        _ => (1..=if quick { 8 } else { 64 })
            .map(|step| step * if quick { 16_384 } else { 2_048 })
            .collect(),
    };
    let mut cases: Vec<String> = memory.iter().map(|kib| format!("memory {kib}")).collect();
    if configuration.name != "many" {
        let sizes = [512, 1_024, 4_096, 65_536, 262_143, 262_144, 300_000, 1 << 20];
        cases.extend(sizes.map(|bytes| format!("file-size {bytes}")));
        cases.extend((3..=10).map(|files| format!("open-files {files}")));
    }
    results.run("limits", configuration.name, &cases, |case| run(configuration, case, false))?;
    Ok(())
}
