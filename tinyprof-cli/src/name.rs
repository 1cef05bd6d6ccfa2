//! What a profile is called on the screen.

use std::path::Path;

/// The directory's own name, also where it was given as `.` or with a slash at the end.
pub(crate) fn name_of(directory: &Path) -> String {
    let full = directory.canonicalize();
    let full = full.as_deref().unwrap_or(directory);
    full.file_name().unwrap_or(full.as_os_str()).to_string_lossy().into_owned()
}
