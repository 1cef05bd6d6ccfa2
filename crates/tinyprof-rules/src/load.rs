//! The rules that reports apply: built-in ones, and the files of users.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::rules::Rules;

/// The most bytes of a file of rules that are read.
const BYTES_MAX: u64 = 1 << 20;

/// Returns the rules: those of these files first, then those in the user's directory, then built-in
/// ones. What is wrong with any is a line in the notes.
#[must_use]
pub fn load(files: &[PathBuf]) -> (Rules, Vec<String>) {
    let (mut rules, mut notes) = (Rules::built_in(), Vec::new());
    // The last one added is asked first.
    for file in files_of_user().iter().chain(files) {
        let name = file.display().to_string();
        let problems = match text_of(file) {
            Ok(text) => rules.add(&text, &name),
            Err(error) => {
                notes.push(format!("rules are left out: {error}"));
                continue;
            }
        };
        if let [first, rest @ ..] = problems.as_slice() {
            let more =
                if rest.is_empty() { String::new() } else { format!(" ({} more)", rest.len()) };
            notes.push(format!("rules are left out: {first}{more}; see tinyprof rules check"));
        }
    }
    (rules, notes)
}

/// Returns the files of rules in the user's directory, sorted by name.
#[must_use]
pub fn files_of_user() -> Vec<PathBuf> {
    let Some(directory) = directory(env::var_os("XDG_CONFIG_HOME"), env::var_os("HOME")) else {
        return Vec::new();
    };
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

fn directory(config: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // As the specification says: a relative path is ignored.
    let config = config.map(PathBuf::from).filter(|path| path.is_absolute());
    let home = home.map(PathBuf::from).filter(|path| path.is_absolute());
    Some(config.or_else(|| Some(home?.join(".config")))?.join("tinyprof/rules"))
}

/// Returns the text of a file of rules.
///
/// # Errors
/// The reason, with the name of the file, if it cannot be read, or is too large.
pub fn text_of(file: &Path) -> Result<String, String> {
    let with_name = |what: String| format!("{}: {what}", file.display());
    let facts = fs::metadata(file).map_err(|error| with_name(error.to_string()))?;
    if !facts.is_file() {
        return Err(with_name("is no file".to_owned()));
    }
    if facts.len() > BYTES_MAX {
        return Err(with_name(format!("is larger than {BYTES_MAX} bytes")));
    }
    fs::read_to_string(file).map_err(|error| with_name(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_rules_is_that_of_the_specification() {
        let check = |config: Option<&str>, home: Option<&str>, expected: Option<&str>| {
            let found = directory(config.map(OsString::from), home.map(OsString::from));
            assert_eq!(found, expected.map(PathBuf::from));
        };
        check(Some("/c"), Some("/h"), Some("/c/tinyprof/rules"));
        check(Some(""), Some("/h"), Some("/h/.config/tinyprof/rules"));
        check(Some("relative"), Some("/h"), Some("/h/.config/tinyprof/rules"));
        check(None, None, None);
    }
}
