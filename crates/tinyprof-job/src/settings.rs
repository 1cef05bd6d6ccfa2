//! The settings of a flush, from the environment first and then from the program.

use std::path::PathBuf;
use std::time::Duration;

use tinyprof::__mpi as recorder;
use tinyprof::collect;
use tinyprof_flush::Observer;
use tinyprof_flush::phases::{Plan, Workplace};
use tinyprof_format::model::RunState;
use tinyprof_settings::DEADLINE_DEFAULT;

/// The settings of a profile: those of its profiler, if there is one. The environment overrides all
/// of them; the settings that the program made with `tinyprof::Builder` come last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    profiler: tinyprof_settings::Settings,
}

impl Settings {
    /// Returns the settings of a profiler.
    pub(crate) fn of_profiler(profiler: tinyprof_settings::Settings) -> Self {
        Self { profiler }
    }

    /// Returns the value of a setting, if it is set.
    fn chosen<T>(&self, setting: impl Fn(&tinyprof_settings::Settings) -> Option<T>) -> Option<T> {
        setting(recorder::config())
            .or_else(|| setting(&self.profiler))
            .or_else(|| setting(&collect::settings()))
    }

    /// Returns whether rank 0 prints the table.
    pub(crate) fn report(&self) -> bool {
        self.chosen(|settings| settings.report).unwrap_or(true)
    }

    /// Returns the time between two interim profiles, in nanoseconds; 0 for none.
    pub(crate) fn interim_interval_ns(&self) -> u64 {
        let interval = self.chosen(|settings| settings.interim_interval).unwrap_or_default();
        u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns the number of interim profiles to keep, if it is set.
    pub(crate) fn interim_profiles_kept(&self) -> Option<u32> {
        self.chosen(|settings| settings.interim_profiles_kept)
    }

    /// Returns the name of the profile.
    pub(crate) fn target(&self) -> PathBuf {
        let of_profiler = self.profiler.out.clone().filter(|_| recorder::config().out.is_none());
        of_profiler.unwrap_or_else(recorder::profile_name)
    }

    /// Returns the longest time that a rank waits for the others in one step.
    pub(crate) fn deadline(&self) -> Duration {
        self.chosen(|settings| settings.deadline).unwrap_or(DEADLINE_DEFAULT)
    }

    /// Returns the plan of a flush after a snapshot that took `snapshot_ns`.
    pub(crate) fn plan(&self, snapshot_ns: u64) -> Plan {
        let mut metadata = recorder::metadata();
        metadata.mpi_version = crate::sys::library_version().map(|text| first_line(&text));
        Plan {
            target: self.target(),
            aggregators: self.chosen(|settings| settings.aggregators).unwrap_or_default(),
            series: self.chosen(|settings| settings.series).unwrap_or_default(),
            format: self.chosen(|settings| settings.format).unwrap_or_default(),
            permissions: recorder::config().permissions.unwrap_or_default(),
            state: RunState { precision: recorder::precision(), ..RunState::default() },
            metadata,
            snapshot_ns,
            message_bytes_max: usize::try_from(i32::MAX).unwrap_or(usize::MAX),
            on_profile_id: recorder::set_profile_id,
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
