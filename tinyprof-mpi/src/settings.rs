//! The settings of a flush, from the environment first and then from the program.

use std::path::PathBuf;
use std::time::Duration;

use tinyprof::collect;
use tinyprof_format::file::OutputFormat;
use tinyprof_format::model::{Precision, RunState};
use tinyprof_settings::{Aggregators, DEADLINE_DEFAULT};

use crate::observer::Observer;
use crate::phases::{Plan, Workplace};

/// The program's settings for its profile; the environment overrides all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) name: Option<PathBuf>,
    pub(crate) aggregators: Option<Aggregators>,
    pub(crate) report: Option<bool>,
    pub(crate) report_on_signal: bool,
    pub(crate) budget: Option<f64>,
    pub(crate) filter: Option<String>,
    pub(crate) precision: Option<Precision>,
    pub(crate) interim_interval: Option<Duration>,
    pub(crate) interim_profiles_kept: Option<u32>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) format: Option<OutputFormat>,
}

impl Settings {
    /// Returns whether rank 0 prints the table.
    pub(crate) fn report(&self) -> bool {
        collect::config().report.or(self.report).unwrap_or(true)
    }

    /// Returns the time between two interim profiles, in nanoseconds; 0 for none.
    pub(crate) fn interim_interval_ns(&self) -> u64 {
        let interval =
            collect::config().interim_interval.or(self.interim_interval).unwrap_or_default();
        u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns the name of the profile.
    pub(crate) fn target(&self) -> PathBuf {
        let from_program = self.name.clone().filter(|_| collect::config().out.is_none());
        from_program.unwrap_or_else(collect::profile_name)
    }

    /// Returns the longest time that a rank waits for the others in one step.
    pub(crate) fn deadline(&self) -> Duration {
        collect::config().deadline.or(self.deadline).unwrap_or(DEADLINE_DEFAULT)
    }

    /// Returns the plan of a flush after a snapshot that took `snapshot_ns`.
    pub(crate) fn plan(&self, snapshot_ns: u64) -> Plan {
        let environment = collect::config();
        let mut metadata = collect::metadata();
        metadata.mpi_version =
            mpi::environment::library_version().ok().map(|text| first_line(&text));
        Plan {
            target: self.target(),
            aggregators: environment.aggregators.or(self.aggregators).unwrap_or_default(),
            series: environment.series.unwrap_or_default(),
            format: environment.format.or(self.format).unwrap_or_default(),
            permissions: environment.permissions.unwrap_or_default(),
            state: RunState { precision: collect::precision(), ..RunState::default() },
            metadata,
            snapshot_ns,
            message_bytes_max: usize::try_from(i32::MAX).unwrap_or(usize::MAX),
            on_profile_id: collect::set_profile_id,
            workplace: Workplace::default(),
            observer: Observer::default(),
        }
    }
}

/// Returns the first line of a text. MPICH's version text is forty lines of compiler options; its
/// name and version are in the first.
fn first_line(text: &str) -> String {
    let line = text.trim_end_matches('\0').lines().next().unwrap_or_default();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_one_line() {
        assert_eq!(
            first_line("MPICH Version:\t4.0.2\nMPICH Release date: x\n\0"),
            "MPICH Version: 4.0.2"
        );
    }
}
