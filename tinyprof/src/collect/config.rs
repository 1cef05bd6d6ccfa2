//! Settings from the environment: they change a run without a rebuild.

use std::env;

use tinyprof_format::file::{OutputFiles, OutputFormat};
use tinyprof_settings::Settings;

use super::launcher;
use super::message::warn;

/// Returns the settings that the process's environment has now. A value that is not accepted gives
/// one warning and counts as not set.
pub(super) fn from_environment() -> Settings {
    Settings::read(
        |variable| env::var_os(variable),
        |setting, text| {
            // All ranks have the same environment; one of them reports what is wrong with it.
            if launcher::speaks_for_all() {
                warn(format_args!(
                    "{}={} is ignored: expected {}",
                    setting.variable,
                    text.to_string_lossy(),
                    setting.expected
                ));
            }
        },
    )
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
