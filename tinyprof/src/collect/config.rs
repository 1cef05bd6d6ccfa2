//! Settings from the environment: they change a run without a rebuild.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tinyprof_format::file::{OutputFiles, OutputFormat, Permissions};
use tinyprof_format::model::Precision;

use super::launcher;
use super::message::warn;
use crate::record::clock::ClockChoice;
use crate::record::filter::Filter;

/// The number that keeps all interim profiles: none is removed, not even after the run.
pub const ALL_INTERIM_PROFILES: u32 = u32::MAX;

/// The settings in the environment. A value that cannot be read gives one warning and counts as not
/// set.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `TINYPROF`: recording (`on`, `off`). Default: on.
    pub recording: bool,
    /// `TINYPROF_OUT`: the name of the profile; `.tprof` is added where it is missing.
    pub out: Option<PathBuf>,
    /// `TINYPROF_BUDGET`: the share of each thread's time that timing may take (`1%`, `0.5%`,
    /// `off`), from 0 to 1; 1 means no limit.
    pub budget: Option<f64>,
    /// `TINYPROF_REPORT`: the table on standard error at the end (`on`, `off`).
    pub report: Option<bool>,
    /// `TINYPROF_INTERVAL`: the time between two interim profiles (`5s`, `500ms`, `2m`); zero for
    /// `off`.
    pub interim_interval: Option<Duration>,
    /// `TINYPROF_KEEP`: how many of the newest interim profiles to keep (a number from 1 on);
    /// [`ALL_INTERIM_PROFILES`](super::ALL_INTERIM_PROFILES) for `all`.
    pub interim_profiles_kept: Option<u32>,
    /// `TINYPROF_PRECISION`: the precision of the times in the profile (`exact`, `8bit`).
    pub precision: Option<Precision>,
    /// `TINYPROF_FORMAT`: the format of the final profile (`tprof`, `csv`: the paper's text
    /// format). Interim profiles, and profiles that a rank writes alone, are always `tprof`.
    pub format: Option<OutputFormat>,
    /// `TINYPROF_PERMISSIONS`: read access to the profiles (`private`, `umask`). Default: private.
    pub permissions: Permissions,
    /// `TINYPROF_SIGNAL`: the signal that prints the on-demand report (`usr1`, `usr2`, `off`).
    pub report_on_signal: Option<ReportSignal>,
    /// `TINYPROF_DEADLINE`: the longest time (`5s`, `500ms`, `2m`, `1h`) that the program may be
    /// held up while the profiler waits for a disk, another rank, or a reader of standard error.
    pub deadline: Option<Duration>,
    /// `TINYPROF_CLOCK`: the clock for visits (`auto`, `monotonic`, `fenced`). Default: auto.
    pub clock: ClockChoice,
    /// `TINYPROF_FILTER`: the regions to record, as patterns with `*` (`-*fields_at*`,
    /// `-*,+solve*`).
    pub filter: Option<String>,
}

/// A variable's name, and how its text is read.
#[derive(Clone, Copy, Debug)]
pub struct Setting<T> {
    /// The name of the environment variable.
    pub variable: &'static str,
    /// The accepted values, for the warning: `on or off`.
    pub expected: &'static str,
    /// Reads the text; `None` if it cannot be understood.
    pub read: fn(&str) -> Option<T>,
}

impl<T> Setting<T> {
    /// Returns the value of the variable if it is set and can be read; warns if it is set to
    /// something else. `lookup` returns a variable's value, usually [`std::env::var_os`].
    pub fn value(&self, lookup: impl Fn(&str) -> Option<OsString>) -> Option<T> {
        let text = lookup(self.variable)?;
        let value = text.to_str().and_then(|text| (self.read)(text.trim()));
        // All ranks have the same environment; one of them reports what is wrong with it.
        if value.is_none() && launcher::speaks_for_all() {
            let (variable, expected) = (self.variable, self.expected);
            warn(format_args!(
                "{variable}={} is ignored: expected {expected}",
                text.to_string_lossy()
            ));
        }
        value
    }
}

/// The signal on which a process prints its on-demand report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportSignal {
    /// No signal.
    Off,
    /// `SIGUSR1`.
    Usr1,
    /// `SIGUSR2`, for use where the first is taken: MPICH reserves it for itself.
    Usr2,
}

const SWITCH: fn(&str) -> Option<bool> = |text| match text.to_ascii_lowercase().as_str() {
    "on" | "1" | "true" | "yes" => Some(true),
    "off" | "0" | "false" | "no" => Some(false),
    _ => None,
};

/// A percentage above 0 and up to 100; `off` for no limit.
const BUDGET: Setting<f64> = Setting {
    variable: "TINYPROF_BUDGET",
    expected: "a percentage, as in 1%, or off",
    read: |text| {
        if text.eq_ignore_ascii_case("off") {
            return Some(1.0);
        }
        let percent: f64 = text.strip_suffix('%')?.trim_end().parse().ok()?;
        (percent > 0.0 && percent <= 100.0).then_some(percent / 100.0)
    },
};

/// The deadline unless another one is set.
pub(super) const DEADLINE_DEFAULT: Duration = Duration::from_secs(30);

const DEADLINE: Setting<Duration> = Setting {
    variable: "TINYPROF_DEADLINE",
    expected: "a time above 0, as in 5s, 500ms or 2m",
    read: duration,
};

/// Reads a time above 0 with its unit: `ms`, `s`, `m` or `h`.
fn duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit_s = match &text[digits.len()..] {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let duration =
        Duration::try_from_secs_f64(digits.trim_end().parse::<f64>().ok()? * unit_s).ok()?;
    (!duration.is_zero()).then_some(duration)
}

/// A time with its unit; `off` for none.
const INTERVAL: Setting<Duration> = Setting {
    variable: "TINYPROF_INTERVAL",
    expected: "a time with its unit, as in 5s, 500ms or 2m, or off",
    read: |text| {
        if text.eq_ignore_ascii_case("off") {
            return Some(Duration::ZERO);
        }
        duration(text)
    },
};

const INTERIM_PROFILES: Setting<u32> = Setting {
    variable: "TINYPROF_KEEP",
    expected: "all or a number from 1 on",
    read: |text| match text.to_ascii_lowercase().as_str() {
        "all" => Some(ALL_INTERIM_PROFILES),
        number => number.parse().ok().filter(|&n| n > 0),
    },
};

const FORMAT: Setting<OutputFormat> = Setting {
    variable: "TINYPROF_FORMAT",
    expected: "tprof or csv",
    read: |text| match text.to_ascii_lowercase().as_str() {
        "tprof" => Some(OutputFormat::Tprof),
        "csv" => Some(OutputFormat::Csv),
        _ => None,
    },
};

const PERMISSIONS: Setting<Permissions> = Setting {
    variable: Permissions::VARIABLE,
    expected: Permissions::EXPECTED,
    read: Permissions::parse,
};

const PRECISION: Setting<Precision> = Setting {
    variable: "TINYPROF_PRECISION",
    expected: "exact or 8bit",
    read: |text| match text.to_ascii_lowercase().as_str() {
        "exact" => Some(Precision::Exact),
        "8bit" => Some(Precision::EightBit),
        _ => None,
    },
};

const SIGNAL: Setting<ReportSignal> = Setting {
    variable: "TINYPROF_SIGNAL",
    expected: "usr1, usr2 or off",
    read: |text| match text.to_ascii_lowercase().as_str() {
        "usr1" | "sigusr1" => Some(ReportSignal::Usr1),
        "usr2" | "sigusr2" => Some(ReportSignal::Usr2),
        "off" => Some(ReportSignal::Off),
        _ => None,
    },
};

const CLOCK: Setting<ClockChoice> = Setting {
    variable: "TINYPROF_CLOCK",
    expected: "auto, monotonic or fenced",
    read: |text| match text.to_ascii_lowercase().as_str() {
        "auto" => Some(ClockChoice::Auto),
        "monotonic" => Some(ClockChoice::Monotonic),
        "fenced" => Some(ClockChoice::Fenced),
        _ => None,
    },
};

const FILTER: Setting<String> = Setting {
    variable: "TINYPROF_FILTER",
    expected: "patterns with a comma between them, as in -*fields_at*,+main",
    read: |text| Filter::parse(text).map(|_| text.to_owned()),
};

impl Config {
    /// Returns the settings of a process in which nothing is recorded.
    pub(super) const fn off() -> Self {
        Self {
            recording: false,
            out: None,
            budget: None,
            report: None,
            interim_interval: None,
            interim_profiles_kept: None,
            precision: None,
            format: None,
            permissions: Permissions::Private,
            report_on_signal: None,
            deadline: None,
            clock: ClockChoice::Auto,
            filter: None,
        }
    }

    /// Returns the longest time that the program may be held up.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        self.deadline.unwrap_or(DEADLINE_DEFAULT)
    }

    /// Returns the settings that the process's environment has now.
    #[must_use]
    pub fn from_environment() -> Self {
        Self::from_lookup(|variable| env::var_os(variable))
    }

    /// Returns output files of this format, with the permissions that the environment asks for.
    #[must_use]
    pub fn files(&self, format: OutputFormat) -> OutputFiles {
        OutputFiles { format, permissions: self.permissions }
    }

    fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let switch =
            |variable| Setting { variable, expected: "on or off", read: SWITCH }.value(&lookup);
        Self {
            recording: switch("TINYPROF").unwrap_or(true),
            out: lookup("TINYPROF_OUT").filter(|name| !name.is_empty()).map(PathBuf::from),
            budget: BUDGET.value(&lookup),
            report: switch("TINYPROF_REPORT"),
            interim_interval: INTERVAL.value(&lookup),
            interim_profiles_kept: INTERIM_PROFILES.value(&lookup),
            precision: PRECISION.value(&lookup),
            format: FORMAT.value(&lookup),
            permissions: PERMISSIONS.value(&lookup).unwrap_or_default(),
            report_on_signal: SIGNAL.value(&lookup),
            deadline: DEADLINE.value(&lookup),
            clock: CLOCK.value(&lookup).unwrap_or_default(),
            filter: FILTER.value(&lookup),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Config {
        Config::from_lookup(|name| {
            variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).into())
        })
    }

    #[test]
    fn nothing_set_means_record_and_report() {
        let defaults = Config {
            recording: true,
            out: None,
            budget: None,
            report: None,
            interim_interval: None,
            interim_profiles_kept: None,
            precision: None,
            format: None,
            permissions: Permissions::Private,
            report_on_signal: None,
            deadline: None,
            clock: ClockChoice::Auto,
            filter: None,
        };
        assert_eq!(read(&[]), defaults);
        assert_eq!(read(&[("TINYPROF_OUT", "")]).out, None);
    }

    #[test]
    fn switches_are_read_and_nonsense_is_the_default() {
        assert!(!read(&[("TINYPROF", "off")]).recording);
        assert!(!read(&[("TINYPROF", " OFF ")]).recording);
        assert!(read(&[("TINYPROF", "perhaps")]).recording);
        assert_eq!(read(&[("TINYPROF_REPORT", "0")]).report, Some(false));
        assert_eq!(read(&[("TINYPROF_REPORT", "")]).report, None);
        assert_eq!(read(&[("TINYPROF_BUDGET", "0.5 %")]).budget, Some(0.005));
        assert_eq!(read(&[("TINYPROF_BUDGET", "off")]).budget, Some(1.0));
        for nonsense in ["1", "0%", "-1%", "101%", "NaN%"] {
            assert_eq!(read(&[("TINYPROF_BUDGET", nonsense)]).budget, None);
        }
        assert_eq!(read(&[("TINYPROF_FORMAT", "CSV")]).format, Some(OutputFormat::Csv));
        assert_eq!(read(&[("TINYPROF_FORMAT", "xml")]).format, None);
        assert_eq!(read(&[("TINYPROF_OUT", "a/b")]).out, Some("a/b".into()));
    }

    #[test]
    fn an_interval_is_a_time_with_its_unit() {
        let interval = |text| read(&[("TINYPROF_INTERVAL", text)]).interim_interval;
        assert_eq!(interval("5s"), Some(Duration::from_secs(5)));
        assert_eq!(interval(" 250 ms "), Some(Duration::from_millis(250)));
        assert_eq!(interval("1.5m"), Some(Duration::from_secs(90)));
        assert_eq!(interval("Off"), Some(Duration::ZERO));
        for nonsense in ["", "5", "0s", "-1s", "s", "5d", "5 s s", "NaNs", "1e99m", "\u{b5}s"] {
            assert_eq!(interval(nonsense), None, "{nonsense}");
        }
        let kept = |text| read(&[("TINYPROF_KEEP", text)]).interim_profiles_kept;
        assert_eq!((kept("all"), kept("3")), (Some(ALL_INTERIM_PROFILES), Some(3)));
        assert_eq!((kept("0"), kept("-1"), kept("some")), (None, None, None));
    }

    #[test]
    fn a_filter_is_kept_as_it_is_written() {
        let filter = |text| read(&[("TINYPROF_FILTER", text)]).filter;
        assert_eq!(filter(" -*fields_at*, +main "), Some("-*fields_at*, +main".to_owned()));
        assert_eq!((filter("-a,,b"), filter("-"), filter("")), (None, None, None));
    }

    #[test]
    fn a_precision_is_exact_or_of_eight_bits() {
        let precision = |text| read(&[("TINYPROF_PRECISION", text)]).precision;
        assert_eq!(
            (precision("exact"), precision(" 8Bit ")),
            (Some(Precision::Exact), Some(Precision::EightBit))
        );
        assert_eq!((precision("8"), precision("")), (None, None));
    }

    #[test]
    fn a_profile_is_private_unless_the_umask_is_asked_for() {
        let files = |text| read(&[("TINYPROF_PERMISSIONS", text)]).files(OutputFormat::Csv);
        let umask = OutputFiles { format: OutputFormat::Csv, permissions: Permissions::Umask };
        assert_eq!((files("umask"), files(" UMASK ")), (umask, umask));
        ["private", "0644", ""]
            .iter()
            .for_each(|text| assert_eq!(files(text), OutputFormat::Csv.into(), "{text}"));
    }

    #[test]
    fn a_signal_is_asked_for_by_its_name() {
        let signal = |text| read(&[("TINYPROF_SIGNAL", text)]).report_on_signal;
        assert_eq!(
            (signal(" USR1 "), signal("sigusr2"), signal("off")),
            (Some(ReportSignal::Usr1), Some(ReportSignal::Usr2), Some(ReportSignal::Off))
        );
        assert_eq!((signal("hup"), signal("on"), signal("")), (None, None, None));
    }

    #[test]
    fn a_clock_is_chosen_by_its_name() {
        for (text, clock) in [
            ("auto", ClockChoice::Auto),
            ("Monotonic", ClockChoice::Monotonic),
            (" fenced ", ClockChoice::Fenced),
            ("sundial", ClockChoice::Auto),
        ] {
            assert_eq!(read(&[("TINYPROF_CLOCK", text)]).clock, clock, "{text}");
        }
    }
}
