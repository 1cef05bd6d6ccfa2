//! What a flush is told, by the environment first and then by the program.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use tinyprof::collect::{self, Setting};
use tinyprof_format::model::RunState;

use crate::phases::Plan;

/// How many ranks write parts of the profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Aggregators {
    /// One to every sixteen ranks, which the paper found best (section VIII-A).
    #[default]
    Auto,
    /// So many, but not more than there are ranks. The number on rank 0 counts.
    Count(u32),
}

/// `TINYPROF_AGGREGATORS`.
const AGGREGATORS: Setting<Aggregators> = Setting {
    variable: "TINYPROF_AGGREGATORS",
    expected: "auto or a number from 1 on",
    read: |text| match text {
        "auto" => Some(Aggregators::Auto),
        number => number.parse().ok().filter(|&n| n > 0).map(Aggregators::Count),
    },
};

/// What the program says of its profile; the environment wins over all of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) name: Option<PathBuf>,
    pub(crate) aggregators: Option<Aggregators>,
    pub(crate) report: Option<bool>,
    pub(crate) checkpoint_interval: Option<Duration>,
    pub(crate) checkpoints_kept: Option<u32>,
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

    /// The plan of a flush that follows a snapshot which took `snapshot_ns`.
    pub(crate) fn plan(&self, snapshot_ns: u64) -> Plan {
        // Read once: what cannot be read is said once, however many checkpoints there are.
        static AGGREGATORS_SET: OnceLock<Option<Aggregators>> = OnceLock::new();
        let aggregators =
            *AGGREGATORS_SET.get_or_init(|| AGGREGATORS.value(|variable| std::env::var_os(variable)));
        let aggregators = match aggregators.or(self.aggregators).unwrap_or_default() {
            Aggregators::Auto => None,
            Aggregators::Count(count) => Some(count),
        };
        let mut metadata = collect::metadata();
        metadata.mpi_version = mpi::environment::library_version().ok().map(|text| first_line(&text));
        Plan {
            target: self.target(),
            state: RunState::default(),
            aggregators,
            metadata,
            snapshot_ns,
            gather_bytes_max: usize::try_from(i32::MAX).unwrap_or(usize::MAX),
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
        assert_eq!((read("0"), read("-1"), read("many")), (None, None, None));
    }

    #[test]
    fn a_version_is_one_line() {
        assert_eq!(first_line("MPICH Version:\t4.0.2\nMPICH Release date: x\n\0"), "MPICH Version: 4.0.2");
    }
}
