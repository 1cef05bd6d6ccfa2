//! The description of a setting, as plain data.

use std::ffi::OsStr;

/// The description of a setting.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Setting {
    /// The key on a command line: `interval` in `-o interval=5s`.
    pub key: &'static str,
    /// The environment variable: `TINYPROF_INTERVAL`.
    pub variable: &'static str,
    /// The accepted values in short, or an example: `tprof|csv`, `5s`. `PATH` for a path.
    pub values: &'static str,
    /// The accepted values for a message: `expected tprof or csv`.
    pub expected: &'static str,
    /// The meaning, a phrase in Markdown.
    pub meaning: &'static str,
    /// The default, a phrase in Markdown.
    pub default: &'static str,
    /// True if the setting has an effect only in programs with `tinyprof-mpi`.
    pub needs_mpi: bool,
    /// The method of the builder that sets it, if any.
    pub method: Option<&'static str>,
    pub(crate) accepts: fn(&OsStr) -> bool,
}

impl Setting {
    /// Returns true if `value` is a value of this setting.
    #[must_use]
    pub fn accepts(&self, value: &OsStr) -> bool {
        (self.accepts)(value)
    }
}
