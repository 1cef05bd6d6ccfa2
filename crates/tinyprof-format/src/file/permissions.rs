//! Files and directories of a profile, created with the requested access.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Access to a written profile. Names of functions, paths and the command line may be confidential.
///
/// ```
/// use tinyprof_format::file::Permissions;
///
/// assert_eq!(Permissions::default(), Permissions::Private);
/// assert_eq!(Permissions::parse(" Umask "), Some(Permissions::Umask));
/// assert_eq!(Permissions::parse("0644"), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Permissions {
    /// Access for the user alone: mode 0700 for the directory, 0600 for its files.
    #[default]
    Private,
    /// Access as given by the umask of the process.
    Umask,
}

impl Permissions {
    /// The environment variable that sets the permissions.
    pub const VARIABLE: &'static str = "TINYPROF_PERMISSIONS";
    /// The values of the variable, for messages.
    pub const EXPECTED: &'static str = "private or umask";

    /// Parses the value of the variable; none for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "private" => Some(Self::Private),
            "umask" => Some(Self::Umask),
            _ => None,
        }
    }

    pub(super) fn create_directory(self, path: &Path) -> io::Result<()> {
        DirBuilder::new().mode(self.mode(0o700, 0o777)).create(path)
    }

    pub(super) fn create_file(self, path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).mode(self.mode(0o600, 0o666)).open(path)
    }

    const fn mode(self, private: u32, umask: u32) -> u32 {
        match self {
            Self::Private => private,
            Self::Umask => umask,
        }
    }
}
