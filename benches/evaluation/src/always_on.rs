//! The closure repeated for minutes, with checkpoints: the growth of its memory and its profile.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tinyprof::collect::monotonic_ns;
use tinyprof_bench_collective::files::directory_bytes;
use tinyprof_format::file::interim_of;

use crate::application::{Cost, RunRow, Variant, Work};
use crate::context::Context;
use crate::processes::{Resident, resident};
use crate::visit;

/// Time between two checkpoints.
pub(crate) const INTERVAL_S: u32 = 10;

/// Shortest time between two samples of the run.
const SAMPLE_MIN: Duration = Duration::from_millis(100);
const SAMPLE_MAX: Duration = Duration::from_secs(5);

/// The observations of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "snake_case")]
pub(crate) enum AlwaysOnRow {
    Sample(Sample),
    Run(RunRow),
}

/// The run at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// Time since its start.
    pub(crate) seconds: f64,
    /// Resident set of each rank.
    pub(crate) resident_bytes: Vec<u64>,
    /// Peak resident set of each rank so far.
    pub(crate) resident_peak_bytes: Vec<u64>,
    /// Number of checkpoints on disk.
    pub(crate) kept: u32,
    /// Size of the newest checkpoint; 0 if there is none.
    pub(crate) checkpoint_bytes: u64,
}

pub(crate) fn always_on(context: &Context) -> Result<Vec<AlwaysOnRow>, String> {
    let visit_ps = context.visit_ps();
    let scratch =
        tempfile::tempdir().map_err(|error| format!("cannot make a directory: {error}"))?;
    // A small graph gives very many executions and iterations: more than are kept apart.
    let work = Work::tc_for_seconds("TC", context.always_on_s, context.size(4000, 1000));
    let variant = Variant::Checkpoints(INTERVAL_S);
    let mut command =
        context.programs.command(&work, context.ranks, variant, &scratch.path().join("profile"))?;
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let start_ns = monotonic_ns();
    let mut child =
        command.spawn().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    let mut rows = Vec::new();
    let between = (Duration::from_secs(context.always_on_s) / 120).clamp(SAMPLE_MIN, SAMPLE_MAX);
    while is_running(&mut child)? {
        sleep(between);
        let found = resident(child.id(), work.program);
        // Ranks start and end one after the other.
        if found.len() == context.ranks as usize {
            rows.push(AlwaysOnRow::Sample(sample(
                &found,
                scratch.path(),
                monotonic_ns() - start_ns,
            )));
        }
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("{command:?} ended with {}", output.status));
    }
    let closures = closures(&String::from_utf8_lossy(&output.stdout))?;
    // The speed of the machine may have changed in that time.
    let visit_ps = visit_ps.midpoint(visit::visit_ps());
    let cost = Cost::of_profile(&scratch.path().join("profile.tprof"), visit_ps)?;
    rows.push(AlwaysOnRow::Run(RunRow {
        name: work.name,
        ranks: context.ranks,
        repetition: 0,
        variant,
        size: work.size,
        iterations: closures,
        took_ns: cost.application_ns,
        cost,
    }));
    Ok(rows)
}

fn sample(found: &[Resident], scratch: &Path, since_start_ns: u64) -> Sample {
    let (kept, checkpoint_bytes) = checkpoints(scratch);
    Sample {
        seconds: Duration::from_nanos(since_start_ns).as_secs_f64(),
        resident_bytes: found.iter().map(|of| of.now_bytes).collect(),
        resident_peak_bytes: found.iter().map(|of| of.peak_bytes).collect(),
        kept,
        checkpoint_bytes,
    }
}

fn is_running(child: &mut Child) -> Result<bool, String> {
    child.try_wait().map(|status| status.is_none()).map_err(|error| error.to_string())
}

/// Returns the number of checkpoints and the size of the newest. A checkpoint that is removed
/// meanwhile does not count.
fn checkpoints(directory: &Path) -> (u32, u64) {
    let names = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_checkpoint = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        interim_of(&name).is_some()
    };
    let mut found: Vec<_> = names.filter(is_checkpoint).collect();
    found.sort();
    let newest = found.last().map_or(0, |path| directory_bytes(path).unwrap_or_default());
    (u32::try_from(found.len()).unwrap_or(u32::MAX), newest)
}

/// Returns the number in `tc: 12 closures took ...`.
fn closures(printed: &str) -> Result<u64, String> {
    let number = printed.strip_prefix("tc: ").and_then(|rest| rest.split_once(" closures"));
    let number = number.and_then(|(number, _)| number.parse().ok());
    number.ok_or_else(|| format!("expected \"tc: N closures took ...\", found {printed:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_counted_and_nothing_else_is() {
        let scratch = tempfile::tempdir().unwrap();
        assert_eq!(checkpoints(scratch.path()), (0, 0));
        for (name, bytes) in [
            ("profile-interim-0001.tprof", 10),
            ("profile-interim-0002.tprof", 30),
            ("profile-interim-0003.tprof.unfinished-x", 5),
            ("profile.tprof", 7),
        ] {
            fs::create_dir(scratch.path().join(name)).unwrap();
            fs::write(scratch.path().join(name).join("part"), vec![0; bytes]).unwrap();
        }
        assert_eq!(checkpoints(scratch.path()), (2, 30));
    }

    #[test]
    fn closures_are_read_from_what_is_printed() {
        assert_eq!(closures("tc: 12 closures took 0.5 s\n"), Ok(12));
        assert!(closures("tc: a\n").is_err());
    }
}
