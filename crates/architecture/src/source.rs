//! The files that the rules look at.

use std::fs;
use std::io;
use std::path::Path;

/// A file, with its path from the root of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path, with `/` between its parts.
    pub path: String,
    /// The content.
    pub text: String,
}

impl Source {
    /// Makes a file that is on no disk.
    #[must_use]
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}

/// Directories without sources of ours.
const SKIPPED: [&str; 4] = ["target", "node_modules", ".git", ".venv"];

/// Reads the files below `directory` whose names end in one of `endings`, in the order of their
///          paths.
///
/// # Errors
/// If a file or directory cannot be read.
pub fn sources(directory: &Path, endings: &[&str]) -> io::Result<Vec<Source>> {
    let mut found = Vec::new();
    collect(directory, directory, endings, &mut found)?;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn collect(root: &Path, at: &Path, endings: &[&str], found: &mut Vec<Source>) -> io::Result<()> {
    for entry in fs::read_dir(at)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                collect(root, &path, endings, found)?;
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            let relative = path.strip_prefix(root).unwrap_or(&path);
            let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
            found.push(Source { path: parts.join("/"), text: fs::read_to_string(&path)? });
        }
    }
    Ok(())
}
