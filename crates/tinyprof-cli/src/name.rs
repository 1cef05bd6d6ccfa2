//! The name of a profile on the screen.

use std::collections::BTreeSet;
use std::path::Path;

/// Returns the directory's own name, even if it was given as `.` or with a trailing slash.
pub(crate) fn name_of(directory: &Path) -> String {
    let full = directory.canonicalize();
    let full = full.as_deref().unwrap_or(directory);
    full.file_name().unwrap_or(full.as_os_str()).to_string_lossy().into_owned()
}

/// Returns the names of these profiles: the paths that the user typed if two have the same name.
pub(crate) fn distinct_names(directories: &[&Path]) -> Vec<String> {
    let names: Vec<String> = directories.iter().map(|directory| name_of(directory)).collect();
    if names.iter().collect::<BTreeSet<_>>().len() == names.len() {
        return names;
    }
    directories.iter().map(|directory| directory.display().to_string()).collect()
}
