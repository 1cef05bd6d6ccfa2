//! The name of a profile on the screen.

use std::path::Path;

/// Returns the directory's own name, even if it was given as `.` or with a trailing slash.
pub(crate) fn name_of(directory: &Path) -> String {
    let full = directory.canonicalize();
    let full = full.as_deref().unwrap_or(directory);
    full.file_name().unwrap_or(full.as_os_str()).to_string_lossy().into_owned()
}
