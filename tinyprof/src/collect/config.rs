//! Settings from the environment: they change a run without a rebuild.

use std::env;

use tinyprof_format::file::{OutputFiles, OutputFormat};
use tinyprof_settings::parse::NO_PROFILE;
use tinyprof_settings::{Settings, is_unknown, nearest};

use super::launcher;
use super::message::warn;

/// Returns the settings that the process's environment has now. A variable that is unknown, or
/// whose value is not accepted, gives one warning and counts as not set. All ranks have the same
/// environment; one of them reports what is wrong with it.
pub(super) fn from_environment() -> Settings {
    let speaks = launcher::speaks_for_all();
    if speaks {
        env::vars_os().for_each(|(variable, _)| warn_of_unknown(&variable.to_string_lossy()));
    }
    let settings = Settings::read(
        |variable| env::var_os(variable),
        |setting, text| {
            if speaks {
                warn(format_args!(
                    "{}={} is ignored: expected {}",
                    setting.variable,
                    text.to_string_lossy(),
                    setting.expected
                ));
            }
        },
    );
    if settings.out.as_deref() != Some(NO_PROFILE.as_ref()) || !settings.is_recording() {
        return settings;
    }
    if speaks {
        warn(format_args!(
            "nothing is recorded: TINYPROF_OUT={NO_PROFILE} asks for no profile; TINYPROF=off does so without this line"
        ));
    }
    Settings { recording: Some(false), ..settings }
}

/// Warns of a variable that looks like a setting and is none.
fn warn_of_unknown(variable: &str) {
    if !is_unknown(variable) {
        return;
    }
    match nearest(variable) {
        Some(meant) => warn(format_args!(
            "{variable} is ignored: there is no such setting; did you mean {}?",
            meant.variable
        )),
        None => warn(format_args!("{variable} is ignored: there is no such setting")),
    }
}

/// Returns output files of this format, with the permissions that the user asks for.
pub(super) fn output_files(settings: &Settings, format: OutputFormat) -> OutputFiles {
    OutputFiles { format, permissions: settings.permissions.unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use tinyprof_format::file::Permissions;

    use super::*;
    use crate::record::filter::Filter;

    #[test]
    fn a_profile_is_private_unless_the_umask_is_asked_for() {
        let of = |permissions| {
            output_files(&Settings { permissions, ..Settings::NONE }, OutputFormat::Csv)
        };
        let umask = OutputFiles { format: OutputFormat::Csv, permissions: Permissions::Umask };
        assert_eq!(of(Some(Permissions::Umask)), umask);
        assert_eq!(of(None), OutputFormat::Csv.into());
    }

    #[test]
    fn a_filter_that_is_accepted_can_be_installed() {
        for text in ["-*fields_at*, +main", "main", "- a", "", "-", "-a,,b", "a,", " + ", ","] {
            let is_accepted = tinyprof_settings::parse::is_filter(text);
            assert_eq!(is_accepted, Filter::parse(text).is_some(), "{text}");
        }
    }
}
