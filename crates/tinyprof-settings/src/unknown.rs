//! Variables that look like settings and are none.

use crate::near::{changes, is_near};
use crate::setting::Setting;
use crate::table::SETTINGS;

/// The beginning of the names of all variables.
const PREFIX: &str = "TINYPROF_";

/// The ends of variables that are no settings of a recording: the scripts and tests of this
/// repository read them, or the command, or `tinyprof run` sets them.
const OF_OURS: &[&str] = &[
    "BIN",
    "HATCHET",
    "MPI4PY",
    "MPIEXEC",
    "PAGER",
    "PAGES",
    "ROLL_CALL",
    "RUN",
    "SHARED_DATA",
    "UPDATE_DOCS",
];
/// The beginnings of the ends of more such variables.
const OF_OURS_BEGIN: &[&str] = &["BENCH_", "PEERS_", "TEST_"];

/// Returns whether a variable of the environment has a name like a setting's, and is none.
///
/// ```
/// use tinyprof_settings::is_unknown;
///
/// assert!(is_unknown("TINYPROF_INTERVALL"));
/// assert!(!is_unknown("TINYPROF_INTERVAL") && !is_unknown("TINYPROF_MPIEXEC"));
/// assert!(!is_unknown("PATH"));
/// ```
#[must_use]
pub fn is_unknown(variable: &str) -> bool {
    let Some(end) = variable.strip_prefix(PREFIX) else { return false };
    !SETTINGS.iter().any(|setting| setting.variable == variable)
        && !OF_OURS.contains(&end)
        && !OF_OURS_BEGIN.iter().any(|begin| end.starts_with(begin))
}

/// Returns the setting that was probably meant by the name of an unknown variable.
#[must_use]
pub fn nearest(variable: &str) -> Option<&'static Setting> {
    let end = |variable: &str| variable.strip_prefix(PREFIX).unwrap_or_default().to_owned();
    let asked_for = end(variable).to_ascii_uppercase();
    let near = SETTINGS.iter().map(|setting| {
        let known = end(setting.variable);
        (changes(&asked_for, &known), known, setting)
    });
    near.filter(|(changed, known, _)| is_near(*changed, known))
        .min_by_key(|(changed, ..)| *changed)
        .map(|(.., setting)| setting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_setting_is_the_one_that_was_meant() {
        let check = |variable: &str, expected: Option<&str>| {
            assert!(is_unknown(variable), "{variable}");
            assert_eq!(nearest(variable).map(|found| found.variable), expected, "{variable}");
        };
        check("TINYPROF_INTERVALL", Some("TINYPROF_INTERVAL"));
        check("TINYPROF_BUGDET", Some("TINYPROF_BUDGET"));
        check("TINYPROF_SEGMENTDIR", Some("TINYPROF_SEGMENT_DIR"));
        check("TINYPROF_out", Some("TINYPROF_OUT"));
        check("TINYPROF_MPII", Some("TINYPROF_MPI"));
        check("TINYPROF_CHECKPOINTS", None);
        check("TINYPROF_", None);
    }

    #[test]
    fn no_setting_and_nothing_of_the_scripts_is_unknown() {
        assert!(SETTINGS.iter().all(|setting| !is_unknown(setting.variable)));
        for variable in ["TINYPROF_MPIEXEC", "TINYPROF_PEERS_MPICH", "TINYPROF_UPDATE_DOCS"] {
            assert!(!is_unknown(variable), "{variable}");
        }
        assert!(!is_unknown("TINYPROF") && !is_unknown("TINYPROFILE"));
    }
}
