//! What a flush is told, by the environment first and then by the program.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use tinyprof::collect::{self, Setting};
use tinyprof_format::file::OutputFormat;
use tinyprof_format::model::{Precision, RunState};

use crate::communicator::DEADLINE_DEFAULT;
use crate::observer::Observer;
use crate::phases::{Aggregators, Plan, SeriesGather};

/// `TINYPROF_AGGREGATORS`.
const AGGREGATORS: Setting<Aggregators> = Setting {
    variable: "TINYPROF_AGGREGATORS",
    expected: "auto, node or a number from 1 on",
    read: |text| match text {
        "auto" => Some(Aggregators::Auto),
        "node" => Some(Aggregators::PerNode),
        number => number.parse().ok().filter(|&n| n > 0).map(Aggregators::Count),
    },
};

/// `TINYPROF_SERIES`, for measurements.
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

/// `TINYPROF_DEADLINE`.
const DEADLINE: Setting<Duration> = Setting {
    variable: "TINYPROF_DEADLINE",
    expected: "a time above 0, as in 5s, 500ms or 2m",
    read: duration,
};

/// A time with its unit: `ms`, `s`, `m` or `h`.
fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit_s = match unit.trim() {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let seconds = number.parse::<f64>().ok()? * unit_s;
    Duration::try_from_secs_f64(seconds).ok().filter(|duration| !duration.is_zero())
}

/// What the program says of its profile; the environment wins over all of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) name: Option<PathBuf>,
    pub(crate) aggregators: Option<Aggregators>,
    pub(crate) report: Option<bool>,
    pub(crate) report_on_signal: bool,
    pub(crate) budget: Option<f64>,
    pub(crate) precision: Option<Precision>,
    pub(crate) checkpoint_interval: Option<Duration>,
    pub(crate) checkpoints_kept: Option<u32>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) format: Option<OutputFormat>,
}

impl Settings {
    /// Whether rank 0 prints the table.
    pub(crate) fn report(&self) -> bool {
        collect::config().report.or(self.report).unwrap_or(true)
    }

    /// The time between two checkpoints, in nanoseconds; 0 for none.
    pub(crate) fn checkpoint_interval_ns(&self) -> u64 {
        let interval = collect::config().checkpoint_interval.or(self.checkpoint_interval).unwrap_or_default();
        u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX)
    }

    /// The name of the profile.
    pub(crate) fn target(&self) -> PathBuf {
        let from_program = self.name.clone().filter(|_| collect::config().out.is_none());
        from_program.unwrap_or_else(collect::profile_name)
    }

    /// How long a rank waits for the others in one step.
    pub(crate) fn deadline(&self) -> Duration {
        let from_environment = DEADLINE.value(|variable| std::env::var_os(variable));
        from_environment.or(self.deadline).unwrap_or(DEADLINE_DEFAULT)
    }

    /// The plan of a flush that follows a snapshot which took `snapshot_ns`.
    pub(crate) fn plan(&self, snapshot_ns: u64) -> Plan {
        // Read once: what cannot be read is said once, however many checkpoints there are.
        static SET: OnceLock<(Option<Aggregators>, Option<SeriesGather>)> = OnceLock::new();
        let environment = |variable: &str| std::env::var_os(variable);
        let (aggregators, series) =
            *SET.get_or_init(|| (AGGREGATORS.value(environment), SERIES.value(environment)));
        let mut metadata = collect::metadata();
        metadata.mpi_version = mpi::environment::library_version().ok().map(|text| first_line(&text));
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
            observer: Observer::default(),
        }
    }
}

/// MPICH's text is forty lines of compiler options; the name and version stand in the first.
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
    fn series_and_deadline_are_read_and_nonsense_is_the_default() {
        let series = |text: &str| SERIES.value(|_| Some(text.into()));
        assert_eq!(series("padded"), Some(SeriesGather::Padded));
        assert_eq!(series("counts"), Some(SeriesGather::Counts));
        assert_eq!((series("auto"), series("x")), (Some(SeriesGather::Auto), None));
        let ms = |text: &str| DEADLINE.value(|_| Some(text.into())).map(|d| d.as_millis());
        assert_eq!([ms("5s"), ms("0.5 s"), ms("20ms"), ms("2m")], [5000, 500, 20, 120_000].map(Some));
        for nonsense in ["", "5", "s", "0s", "-1s", "NaNs", "1e999s", "5 parsecs", "9999999999999999999h"] {
            assert_eq!(ms(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_version_is_one_line() {
        assert_eq!(first_line("MPICH Version:\t4.0.2\nMPICH Release date: x\n\0"), "MPICH Version: 4.0.2");
    }
}
