//! Parsers of values, for settings and for arguments of commands.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::pattern;

/// The name of a profile that is not to be written: nothing is recorded then.
pub const NO_PROFILE: &str = "/dev/null";

/// Parses a time above 0 with its unit: `ms`, `s`, `m` or `h`.
///
/// ```
/// use std::time::Duration;
/// use tinyprof_settings::parse::duration;
///
/// assert_eq!(duration("1.5m"), Some(Duration::from_secs(90)));
/// assert_eq!((duration("5"), duration("0s")), (None, None));
/// ```
#[must_use]
pub fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = number_and_unit(text);
    let unit_s = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let duration = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * unit_s).ok()?;
    (!duration.is_zero()).then_some(duration)
}

/// The error that a text is not a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BytesError {
    /// The unit is none of `B`, `KiB`, `MiB`, `GiB` and `TiB`.
    Unit,
    /// The text before the unit is not a whole number.
    Number,
    /// The size is 0, or more than 64 bits can hold.
    Size,
}

impl fmt::Display for BytesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unit => "expected a size with its unit, as in 512MiB or 4GiB",
            Self::Number => "expected a whole number before the unit",
            Self::Size => "expected a size that can be",
        })
    }
}

impl std::error::Error for BytesError {}

/// Parses a number of bytes, such as `512MiB`, `4GiB` or `1000000`.
///
/// ```
/// use tinyprof_settings::parse::{BytesError, bytes};
///
/// assert_eq!(bytes("512MiB"), Ok(512 << 20));
/// assert_eq!(bytes("4GB"), Err(BytesError::Unit));
/// ```
///
/// # Errors
/// If the text is something else.
pub fn bytes(text: &str) -> Result<u64, BytesError> {
    let (number, unit) = number_and_unit(text);
    let shift = match unit {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        "TiB" => 40,
        _ => return Err(BytesError::Unit),
    };
    let number: u64 = number.parse().map_err(|_| BytesError::Number)?;
    number.checked_mul(1 << shift).filter(|&n| n > 0).ok_or(BytesError::Size)
}

/// Splits a text into a number and the letters after it.
fn number_and_unit(text: &str) -> (&str, &str) {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    (number.trim_end(), &text[number.len()..])
}

/// Returns true if the text is a list of patterns: `-*fields_at*,+main`.
#[must_use]
pub fn is_filter(text: &str) -> bool {
    pattern::is_list(text)
}

/// Parses a text, without the spaces around it.
pub(crate) fn text<T>(value: &OsStr, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    parse(value.to_str()?.trim())
}

/// Parses one of several words, in any case.
pub(crate) fn word<T>(value: &OsStr, of_word: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    text(value, |text| of_word(&text.to_ascii_lowercase()))
}

/// Parses `on` or `off`.
pub(crate) fn switch(value: &OsStr) -> Option<bool> {
    word(value, |word| match word {
        "on" | "1" | "true" | "yes" => Some(true),
        "off" | "0" | "false" | "no" => Some(false),
        _ => None,
    })
}

/// The shortest time, interval or deadline, that makes sense.
const TIME_MIN: Duration = Duration::from_millis(1);

/// Parses a time from 1 ms to `hours_max`.
pub(crate) fn duration_up_to(text: &str, hours_max: u64) -> Option<Duration> {
    let most = Duration::from_secs(hours_max * 3600);
    duration(text).filter(|time| (TIME_MIN..=most).contains(time))
}

/// Parses the name of a profile: a directory that can be created.
pub(crate) fn profile_name(value: &OsStr) -> Option<PathBuf> {
    let name = path(value)?;
    let is_device = name.starts_with("/dev") && !name.starts_with("/dev/shm");
    let is_none = name.as_os_str() == NO_PROFILE;
    (is_none || (name.file_name().is_some() && !is_device)).then_some(name)
}

/// Parses a path, which may be of any bytes but not empty.
pub(crate) fn path(value: &OsStr) -> Option<PathBuf> {
    (!value.is_empty()).then(|| value.into())
}

/// Parses a percentage from 0.001 to 100 as a share from 0 to 1; 1 for `off`.
pub(crate) fn share(value: &OsStr) -> Option<f64> {
    word(value, |text| {
        if text == "off" {
            return Some(1.0);
        }
        let percent: f64 = text.strip_suffix('%')?.trim_end().parse().ok()?;
        (0.001..=100.0).contains(&percent).then_some(percent / 100.0)
    })
}

/// Parses a number from 1 to a million.
pub(crate) fn count(text: &str) -> Option<u32> {
    text.parse().ok().filter(|n| (1..=1_000_000).contains(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_nonsense_is_refused() {
        assert_eq!(bytes("512MiB"), Ok(512 << 20));
        assert_eq!((bytes("4 GiB"), bytes("7")), (Ok(4 << 30), Ok(7)));
        for nonsense in ["", "GiB", "0", "-1GiB", "4GB", "1.5GiB", "99999999TiB"] {
            assert!(bytes(nonsense).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn times_have_units_and_nonsense_is_refused() {
        assert_eq!(duration("250 ms"), Some(Duration::from_millis(250)));
        assert_eq!(duration("2h"), Some(Duration::from_secs(7200)));
        for nonsense in ["", "5", "0s", "-1s", "s", "5d", "5 s s", "NaNs", "1e99m", "\u{b5}s"] {
            assert_eq!(duration(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_filter_has_no_empty_pattern() {
        for filter in ["-*fields_at*, +main", "main", "- a"] {
            assert!(is_filter(filter), "{filter}");
        }
        for nonsense in ["", "-", "-a,,b", "a,", " + "] {
            assert!(!is_filter(nonsense), "{nonsense}");
        }
    }
}
