//! Written files on the disk.

use std::path::Path;

/// Returns the size of all files in a directory, in bytes.
///
/// # Errors
/// Fails if the directory cannot be read.
pub fn directory_bytes(path: &Path) -> Result<u64, String> {
    let files = std::fs::read_dir(path).and_then(|entries| {
        entries
            .map(|entry| entry.and_then(|e| e.metadata()).map(|m| m.len()))
            .sum::<std::io::Result<u64>>()
    });
    files.map_err(|error| format!("cannot read {}: {error}", path.display()))
}
