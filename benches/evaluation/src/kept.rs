//! The file of a part's measurements: first a line on date and machine, then one line per row. It
//! is written when the part is complete, and records whether it is still valid.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Returns rows as they are kept.
///
/// # Errors
/// If one cannot be written as JSON.
pub(crate) fn values<T: Serialize>(rows: Vec<T>) -> Result<Vec<serde_json::Value>, String> {
    let value = |row| serde_json::to_value(row).map_err(|error| error.to_string());
    rows.into_iter().map(value).collect()
}

/// The parameters of a measurement: for equal parameters the existing rows are reused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wanted {
    /// The commit of the measured code.
    pub(crate) commit: String,
    /// Repetitions of each case.
    pub(crate) repetitions: u32,
    /// Duration of the always-on run, in seconds; 0 for all other parts.
    pub(crate) always_on_s: u64,
    /// True if the sizes are those of a trial.
    pub(crate) small: bool,
}

/// The machine of the measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Conditions {
    pub(crate) date: String,
    pub(crate) machine: String,
    pub(crate) processors: u32,
    /// The kernel and the compiler.
    pub(crate) system: String,
    pub(crate) mpi: String,
    /// A remark on these numbers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) note: String,
}

/// The first line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    #[serde(flatten)]
    pub(crate) wanted: Wanted,
    #[serde(flatten)]
    pub(crate) place: Conditions,
    /// The load average before the measurement.
    pub(crate) load: String,
    pub(crate) took_s: u64,
}

/// A part's file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept<T> {
    pub(crate) head: Head,
    pub(crate) rows: Vec<T>,
}

/// Returns the path of a part's file.
pub(crate) fn path(results: &Path, part: &str) -> PathBuf {
    results.join(format!("{part}.jsonl"))
}

/// Returns the rows of a part, or `None` if it was never measured.
pub(crate) fn read<T: DeserializeOwned>(
    results: &Path,
    part: &str,
) -> Result<Option<Kept<T>>, String> {
    let path = path(results, part);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    let wrong = |number: usize, error: serde_json::Error| {
        format!("line {number} of {}: {error}; remove the file to measure anew", path.display())
    };
    let mut lines = text.lines().zip(1..);
    let (first, _) = lines.next().unwrap_or_default();
    let head = serde_json::from_str(first).map_err(|error| wrong(1, error))?;
    let row = |(line, number)| serde_json::from_str(line).map_err(|error| wrong(number, error));
    Ok(Some(Kept { head, rows: lines.map(row).collect::<Result<_, _>>()? }))
}

/// Returns true if there are rows of exactly the wanted measurement.
pub(crate) fn is_there(results: &Path, part: &str, wanted: &Wanted) -> bool {
    read::<serde_json::Value>(results, part)
        .is_ok_and(|kept| kept.is_some_and(|kept| kept.head.wanted == *wanted))
}

/// Writes the rows, replacing existing ones.
pub(crate) fn write<T: Serialize>(
    results: &Path,
    part: &str,
    kept: &Kept<T>,
) -> Result<(), String> {
    let path = path(results, part);
    let to_text = || -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string(&kept.head)?;
        for row in &kept.rows {
            text.push('\n');
            text.push_str(&serde_json::to_string(row)?);
        }
        Ok(text + "\n")
    };
    let text = to_text().map_err(|error| error.to_string())?;
    let new = path.with_extension("new");
    let written = std::fs::create_dir_all(results)
        .and_then(|()| std::fs::write(&new, text))
        .and_then(|()| std::fs::rename(&new, &path));
    written.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn head(commit: &str) -> Head {
        Head {
            wanted: Wanted { commit: commit.into(), repetitions: 3, always_on_s: 0, small: false },
            place: Conditions { processors: 2, ..Conditions::default() },
            load: "0.10".into(),
            took_s: 7,
        }
    }

    #[test]
    fn what_was_measured_is_there_again_for_the_same_wish_alone() {
        let scratch = tempfile::tempdir().unwrap();
        let results = scratch.path().join("results");
        assert_eq!(read::<u32>(&results, "weak").unwrap(), None);
        let kept = Kept { head: head("abc"), rows: vec![1_u32, 2] };
        write(&results, "weak", &kept).unwrap();
        assert_eq!(read(&results, "weak").unwrap(), Some(kept.clone()));
        let is_there = |wanted: &Wanted| is_there(&results, "weak", wanted);
        assert!(is_there(&kept.head.wanted));
        assert!(!is_there(&Wanted { commit: "abd".into(), ..kept.head.wanted.clone() }));
        assert!(!is_there(&Wanted { repetitions: 4, ..kept.head.wanted.clone() }));
        assert!(!is_there(&Wanted { small: true, ..kept.head.wanted.clone() }));
        assert!(!super::is_there(&results, "strong", &kept.head.wanted));
    }

    #[test]
    fn a_broken_file_is_not_there_and_says_which_line() {
        let scratch = tempfile::tempdir().unwrap();
        let kept = Kept { head: head("abc"), rows: vec![1_u32] };
        write(scratch.path(), "weak", &kept).unwrap();
        let path = path(scratch.path(), "weak");
        let text = std::fs::read_to_string(&path).unwrap() + "{";
        std::fs::write(&path, text).unwrap();
        assert!(!is_there(scratch.path(), "weak", &kept.head.wanted));
        assert!(read::<u32>(scratch.path(), "weak").unwrap_err().contains("line 3 of "));
    }
}
