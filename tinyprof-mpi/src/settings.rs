//! The settings of a flush, from the environment first and then from the program.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use tinyprof::collect::{self, Setting};
use tinyprof_format::file::OutputFormat;
use tinyprof_format::model::{Precision, RunState};

use crate::communicator::DEADLINE_DEFAULT;
use crate::observer::Observer;
use crate::phases::{Aggregators, Plan, SeriesGather, Workplace};

/// The setting `TINYPROF_AGGREGATORS`.
const AGGREGATORS: Setting<Aggregators> = Setting {
    variable: "TINYPROF_AGGREGATORS",
    expected: "auto, node or a number from 1 on",
    read: |text| match text {
        "auto" => Some(Aggregators::Auto),
        "node" => Some(Aggregators::PerNode),
        number => number.parse().ok().filter(|&n| n > 0).map(Aggregators::Count),
    },
};

/// The setting `TINYPROF_SERIES`, for measurements.
const SERIES: Setting<SeriesGather> = Setting {
    variable: "TINYPROF_SERIES",
    expected: "auto, padded or counts",
    read: |text| match text {
        "auto" => Some(SeriesGather::Auto),
        "padded" => Some(SeriesGather::Padded),
        "counts" => Some(SeriesGather::Counts),
        _ => None,
    },
};

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
        // Read once, so that an invalid value is reported once, however many interim profiles there
        // are.
        static SET: OnceLock<(Option<Aggregators>, Option<SeriesGather>)> = OnceLock::new();
        let environment = |variable: &str| std::env::var_os(variable);
        let (aggregators, series) =
            *SET.get_or_init(|| (AGGREGATORS.value(environment), SERIES.value(environment)));
        let mut metadata = collect::metadata();
        metadata.mpi_version =
            crate::sys::library_version().map(|text| first_line(&text));
        Plan {
            target: self.target(),
            aggregators: aggregators.or(self.aggregators).unwrap_or_default(),
            series: series.unwrap_or_default(),
            format: collect::config().format.or(self.format).unwrap_or_default(),
            permissions: collect::config().permissions,
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
    fn aggregators_are_read_and_nonsense_is_the_default() {
        let read = |text: &str| AGGREGATORS.value(|_| Some(text.into()));
        assert_eq!(read("auto"), Some(Aggregators::Auto));
        assert_eq!(read("4"), Some(Aggregators::Count(4)));
        assert_eq!(read("node"), Some(Aggregators::PerNode));
        assert_eq!((read("0"), read("-1"), read("many")), (None, None, None));
    }

    #[test]
    fn ways_to_gather_series_are_read_and_nonsense_is_the_default() {
        let series = |text: &str| SERIES.value(|_| Some(text.into()));
        assert_eq!(series("padded"), Some(SeriesGather::Padded));
        assert_eq!(series("counts"), Some(SeriesGather::Counts));
        assert_eq!((series("auto"), series("x")), (Some(SeriesGather::Auto), None));
    }

    #[test]
    fn a_version_is_one_line() {
        assert_eq!(
            first_line("MPICH Version:\t4.0.2\nMPICH Release date: x\n\0"),
            "MPICH Version: 4.0.2"
        );
    }
}
