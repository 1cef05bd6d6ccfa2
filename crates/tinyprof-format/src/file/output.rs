//! The output formats of a profile.

use std::path::{Path, PathBuf};

use super::Permissions;
use crate::model::FORMAT_NAME;

/// The format of the files of a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputFormat {
    /// The native format: compressed, exact, with checksums.
    #[default]
    Tprof,
    /// The [text format](crate::text) of the paper, for tools that read it. Each part is one text
    /// with all its ranks.
    Csv,
}

impl OutputFormat {
    /// Returns the name of the format in the manifest.
    #[must_use]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Tprof => FORMAT_NAME,
            Self::Csv => "tinyprof-csv",
        }
    }

    /// Returns the extension of the names of such profiles, without the dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Tprof => "tprof",
            Self::Csv => "csv",
        }
    }

    /// Returns `name` with the extension of this format, added if missing. It replaces `.tprof`,
    /// which a name may have got before the format was known.
    #[must_use]
    pub fn path(self, name: &Path) -> PathBuf {
        let ends_with = |ending: &str| name.extension().is_some_and(|e| e == ending);
        if ends_with(self.extension()) || ends_with(Self::Tprof.extension()) {
            return name.with_extension(self.extension());
        }
        let mut text = name.as_os_str().to_owned();
        text.push(".");
        text.push(self.extension());
        text.into()
    }

    /// Returns the file name of the part of an aggregator.
    pub(super) fn part_name(self, number: u32) -> String {
        match self {
            Self::Tprof => format!("part-{number:05}"),
            Self::Csv => format!("part-{number:05}.csv"),
        }
    }
}

/// The files of a profile to write: their format, and who may read them.
///
/// ```
/// use tinyprof_format::file::{OutputFiles, OutputFormat, Permissions};
///
/// let files = OutputFiles::from(OutputFormat::Csv);
/// assert_eq!(files.permissions, Permissions::Private);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputFiles {
    /// The format of the files.
    pub format: OutputFormat,
    /// The access that other users have to them.
    pub permissions: Permissions,
}

impl From<OutputFormat> for OutputFiles {
    /// Returns private files of this format.
    fn from(format: OutputFormat) -> Self {
        Self { format, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_is_added_kept_or_exchanged() {
        let path =
            |format: OutputFormat, name: &str| format.path(Path::new(name)).display().to_string();
        assert_eq!(path(OutputFormat::Tprof, "a/run"), "a/run.tprof");
        assert_eq!(path(OutputFormat::Tprof, "run.tprof"), "run.tprof");
        assert_eq!(path(OutputFormat::Tprof, "run.csv"), "run.csv.tprof");
        assert_eq!(path(OutputFormat::Csv, "run.csv"), "run.csv");
        assert_eq!(path(OutputFormat::Csv, "run.tprof"), "run.csv");
        assert_eq!(path(OutputFormat::Csv, "run-1.5"), "run-1.5.csv");
    }
}
