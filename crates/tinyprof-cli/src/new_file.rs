//! Files that the command makes.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

/// Creates a file. An existing one is never overwritten.
///
/// # Errors
/// The reason, and what to do.
pub(crate) fn create(path: &Path) -> Result<File, String> {
    OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            format!(
                "{} exists already and is left as it is; name another file, or remove it",
                path.display()
            )
        }
        _ => format!("cannot create {}: {error}", path.display()),
    })
}

/// Creates a file, or empties an existing one.
///
/// # Errors
/// The reason.
pub(crate) fn replace(path: &Path) -> Result<File, String> {
    File::create(path).map_err(|error| format!("cannot create {}: {error}", path.display()))
}
