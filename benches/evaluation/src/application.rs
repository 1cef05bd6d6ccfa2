//! One run of an application under mpiexec, and the cost of profiling that its profile reports.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use tinyprof_bench_collective::files::directory_bytes;
use tinyprof_bench_collective::launch::{launcher, output};
use tinyprof_format::file::read_profile;
use tinyprof_format::model::{CallpathValues, Profile};

/// Paths of the programs and the launcher.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    /// The launcher with its flags, separated by spaces.
    pub(crate) mpiexec: String,
    /// The directory of the programs built with the feature `enable`.
    pub(crate) on: PathBuf,
    /// The directory of the programs built without it.
    pub(crate) off: PathBuf,
}

/// The workload of a run.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    /// Its name in the tables.
    pub(crate) name: String,
    /// The program's file.
    pub(crate) program: &'static str,
    pub(crate) arguments: Vec<String>,
    /// Points or edges.
    pub(crate) size: u64,
    /// Number of times that the application does its work in one run.
    pub(crate) iterations: u64,
}

impl Work {
    /// Returns a workload of `runs` transforms of `points` points.
    pub(crate) fn fft(name: &str, runs: u64, points: u64) -> Self {
        let arguments = ["--runs", &runs.to_string(), "--size", &points.to_string(), "--time"];
        Self {
            name: name.to_owned(),
            program: "fft",
            arguments: arguments.map(str::to_owned).into(),
            size: points,
            iterations: runs,
        }
    }

    /// Returns a workload of `closures` closures of a random graph with `edges` edges and a tenth
    /// more vertices: then paths are long, about ten per edge.
    pub(crate) fn tc(name: &str, closures: u64, edges: u64) -> Self {
        Self::closures(name, ["--repeat", &closures.to_string()], closures, edges)
    }

    /// Returns a workload of closures for `seconds` seconds.
    pub(crate) fn tc_for_seconds(name: &str, seconds: u64, edges: u64) -> Self {
        Self::closures(name, ["--seconds", &seconds.to_string()], 0, edges)
    }

    fn closures(name: &str, how_often: [&str; 2], iterations: u64, edges: u64) -> Self {
        let (vertices, edges_text) = ((edges + edges / 10).to_string(), edges.to_string());
        let graph =
            ["--generate", "random", "--vertices", &vertices, "--edges", &edges_text, "--time"];
        let arguments = graph.iter().chain(&how_often).map(|word| (*word).to_owned()).collect();
        Self { name: name.to_owned(), program: "tc", arguments, size: edges, iterations }
    }
}

/// The variant of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Variant {
    /// Built without the feature `enable`.
    Off,
    On,
    /// On, with checkpoints at this interval in seconds.
    Checkpoints(u32),
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunRow {
    pub(crate) name: String,
    pub(crate) ranks: u32,
    pub(crate) repetition: u32,
    pub(crate) variant: Variant,
    pub(crate) size: u64,
    pub(crate) iterations: u64,
    /// Time of the work on the slowest rank, by the program's own clock: with annotations and
    /// checkpoints, without the last flush.
    pub(crate) took_ns: u64,
    #[serde(flatten)]
    pub(crate) cost: Cost,
}

#[cfg(test)]
impl RunRow {
    /// Returns a run with this cost.
    pub(crate) fn example(cost: Cost) -> Self {
        Self {
            name: "TC".into(),
            ranks: 2,
            repetition: 0,
            variant: Variant::On,
            size: 1,
            iterations: 1,
            took_ns: 0,
            cost,
        }
    }
}

/// The cost of profiling as the profile reports it. All zero without a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cost {
    /// Time in the root regions of the slowest rank.
    pub(crate) application_ns: u64,
    /// Visits of the busiest rank.
    pub(crate) visits: u64,
    /// Those of them that are calls of MPI; unknown in rows that are older.
    #[serde(default)]
    pub(crate) calls: Option<u64>,
    /// Cost of these visits, at the cost of a visit on this machine.
    pub(crate) annotation_ns: u64,
    pub(crate) snapshot_ns: u64,
    pub(crate) synchronise_ns: u64,
    pub(crate) aggregate_ns: u64,
    pub(crate) write_ns: u64,
    pub(crate) checkpoints: u32,
    /// Time of all checkpoints together, including waiting for other ranks.
    pub(crate) checkpoints_ns: u64,
    /// Size of the profile on disk.
    pub(crate) bytes: u64,
}

impl Cost {
    /// Returns the time of snapshot, the three phases, and checkpoints.
    pub(crate) fn io_ns(&self) -> u64 {
        self.snapshot_ns
            + self.synchronise_ns
            + self.aggregate_ns
            + self.write_ns
            + self.checkpoints_ns
    }

    /// Returns the cost that the profile at this path reports.
    pub(crate) fn of_profile(path: &Path, visit_ps: u64) -> Result<Self, String> {
        let profile = read_profile(path).map_err(|error| error.to_string())?;
        let all = |_: &Profile, _: usize| true;
        let root = |profile: &Profile, row: usize| profile.callpaths.rows()[row].parent.is_none();
        let is_call = |profile: &Profile, row: usize| {
            profile.callpaths.rows()[row].region.name.starts_with("MPI_")
        };
        let visits = most_of_a_rank(&profile, CallpathValues::visits, all);
        let (flush, checkpoints) = (profile.manifest.flush, profile.manifest.interim_profiles);
        Ok(Self {
            application_ns: most_of_a_rank(&profile, CallpathValues::inclusive_ns, root),
            visits,
            calls: Some(most_of_a_rank(&profile, CallpathValues::visits, is_call)),
            annotation_ns: visits * visit_ps / 1000,
            snapshot_ns: flush.snapshot_ns,
            synchronise_ns: flush.synchronise_ns,
            aggregate_ns: flush.aggregate_ns,
            write_ns: flush.write_ns,
            checkpoints: checkpoints.written,
            checkpoints_ns: checkpoints.total_ns,
            bytes: directory_bytes(path)?,
        })
    }
}

fn most_of_a_rank(
    profile: &Profile,
    of: fn(&CallpathValues) -> u64,
    which: fn(&Profile, usize) -> bool,
) -> u64 {
    let rows = || (0..profile.callpaths.len()).filter(|&row| which(profile, row));
    let of_rank = |rank: usize| rows().map(|row| of(&profile.values[row][rank])).sum();
    (0..profile.ranks.len()).map(of_rank).max().unwrap_or_default()
}

impl Programs {
    /// Runs it once.
    pub(crate) fn run(
        &self,
        work: &Work,
        ranks: u32,
        variant: Variant,
        repetition: u32,
        visit_ps: u64,
    ) -> Result<RunRow, String> {
        let scratch =
            tempfile::tempdir().map_err(|error| format!("cannot make a directory: {error}"))?;
        let command = self.command(work, ranks, variant, &scratch.path().join("profile"))?;
        let printed = output(command)?;
        let printed = String::from_utf8_lossy(&printed);
        let took_ns = took_ns(&printed).ok_or_else(|| {
            format!(
                "{} printed no time: expected \"... took N s\", found {printed:?}",
                work.program
            )
        })?;
        let cost = match variant {
            Variant::Off => Cost::default(),
            _ => Cost::of_profile(&scratch.path().join("profile.tprof"), visit_ps)?,
        };
        let (name, size, iterations) = (work.name.clone(), work.size, work.iterations);
        Ok(RunRow { name, ranks, repetition, variant, size, iterations, took_ns, cost })
    }

    /// Returns mpiexec with the program, which is to write this profile.
    pub(crate) fn command(
        &self,
        work: &Work,
        ranks: u32,
        variant: Variant,
        profile: &Path,
    ) -> Result<Command, String> {
        let directory = if variant == Variant::Off { &self.off } else { &self.on };
        let mut command = launcher(&self.mpiexec, ranks)?;
        command.arg(directory.join(work.program)).args(&work.arguments);
        // The user's settings are for other programs.
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_setting(&name.to_string_lossy()))
        {
            command.env_remove(name);
        }
        command.env("TINYPROF_OUT", profile).env("TINYPROF_REPORT", "off");
        if let Variant::Checkpoints(seconds) = variant {
            command.env("TINYPROF_INTERVAL", format!("{seconds}s"));
        }
        Ok(command)
    }
}

/// Returns true if a variable is a setting of the recorder, except the segments' directory, which
/// the user chooses.
fn is_setting(name: &str) -> bool {
    name.starts_with("TINYPROF") && name != "TINYPROF_SEGMENT_DIR"
}

/// Returns the time in a line `... took 1.25 s`, in nanoseconds.
fn took_ns(printed: &str) -> Option<u64> {
    let seconds: f64 = printed.split(" took ").nth(1)?.split(" s").next()?.trim().parse().ok()?;
    (0.0..1e9).contains(&seconds).then(|| nanoseconds(seconds))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "below 2^63, and not negative"
)]
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

#[cfg(test)]
mod tests {
    use tinyprof_bench_collective::map::{Shape, event_map};
    use tinyprof_format::file::ProfileWriter;
    use tinyprof_format::model::PhaseTimes;

    use super::*;

    #[test]
    fn the_time_is_taken_from_what_the_program_prints() {
        assert_eq!(took_ns("fft: 20 runs took 1.250001 s\nfft: N = 16\n"), Some(1_250_001_000));
        assert_eq!(took_ns("fft: N = 16 took its time\n"), None);
        assert_eq!(took_ns(""), None);
    }

    #[test]
    fn what_a_profile_cost_is_that_of_the_busiest_rank() {
        let scratch = tempfile::tempdir().unwrap();
        let shape = Shape { callpaths: 3, executions: 2, iterations: 5, each: true };
        let maps = [event_map(shape, 0), event_map(Shape { iterations: 7, ..shape }, 1)];
        let flush =
            PhaseTimes { snapshot_ns: 1, synchronise_ns: 20, aggregate_ns: 300, write_ns: 4000 };
        let path =
            ProfileWriter::new().with_times(flush).write(&scratch.path().join("p"), &maps).unwrap();
        let cost = Cost::of_profile(&path, 20_000).unwrap();
        assert_eq!((cost.visits, cost.annotation_ns, cost.io_ns()), (42, 840, 4321));
        let root: Vec<u64> = maps.iter().map(|map| map.values[0].inclusive_ns()).collect();
        assert_eq!(cost.application_ns, root[0].max(root[1]));
        assert!(cost.bytes > 0);
    }

    #[test]
    fn a_program_is_run_without_the_settings_of_the_user_in_the_build_that_is_asked_for() {
        let programs =
            Programs { mpiexec: "mpiexec -x".into(), on: "/on".into(), off: "/off".into() };
        let work = Work::fft("FFT-20", 20, 64);
        let line = |variant| {
            let command = programs.command(&work, 4, variant, Path::new("/p")).unwrap();
            let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
            let settings =
                command.get_envs().filter_map(|(name, value)| value.map(|value| (name, value)));
            let settings =
                settings.map(|(name, value)| format!("{}={}", name.display(), value.display()));
            words.chain(settings).collect::<Vec<_>>().join(" ")
        };
        let rest = "--runs 20 --size 64 --time";
        assert_eq!(
            line(Variant::Off),
            format!("-x -n 4 /off/fft {rest} TINYPROF_OUT=/p TINYPROF_REPORT=off")
        );
        assert_eq!(
            line(Variant::Checkpoints(2)),
            format!(
                "-x -n 4 /on/fft {rest} TINYPROF_INTERVAL=2s TINYPROF_OUT=/p TINYPROF_REPORT=off"
            )
        );
        assert!(
            is_setting("TINYPROF")
                && is_setting("TINYPROF_BUDGET")
                && !is_setting("TINYPROF_SEGMENT_DIR")
        );
    }
}
