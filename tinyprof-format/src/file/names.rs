//! Names of profiles and checkpoints, and temporary names while they are written or removed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::OutputFormat;

/// Returns `name` with the extension `.tprof`, added if missing.
#[must_use]
pub fn profile_path(name: &Path) -> PathBuf {
    OutputFormat::Tprof.path(name)
}

/// Returns the name of a checkpoint of the profile `profile`: `NAME-checkpoint-NNNN.tprof`.
///
/// # Example
///
/// ```
/// # use std::path::Path;
/// use tinyprof_format::file::{checkpoint_of, checkpoint_path};
///
/// let path = checkpoint_path(Path::new("runs/heat.tprof"), 12);
/// assert_eq!(path, Path::new("runs/heat-checkpoint-0012.tprof"));
/// assert_eq!(checkpoint_of("heat-checkpoint-0012.tprof"), Some(("heat", 12)));
/// ```
#[must_use]
pub fn checkpoint_path(profile: &Path, number: u32) -> PathBuf {
    let mut name = profile_path(profile).file_stem().unwrap_or_default().to_owned();
    name.push(format!("{CHECKPOINT}{number:04}.tprof"));
    profile.with_file_name(name)
}

/// Returns the name of the profile, without its extension, and the number of the checkpoint with
/// this file name; none for any other file.
#[must_use]
pub fn checkpoint_of(file_name: &str) -> Option<(&str, u32)> {
    let (name, number) = file_name.strip_suffix(".tprof")?.rsplit_once(CHECKPOINT)?;
    Some((name, number.parse().ok()?))
}

/// The text between the name of a profile and the number of its checkpoint.
const CHECKPOINT: &str = "-checkpoint-";

/// Returns the name of the `number`-th directory in which a run with `token` writes the profile
/// `target`.
pub(super) fn unfinished_name(target: &Path, token: &str, number: u32) -> PathBuf {
    with_mark(target, "unfinished", token, number)
}

/// Returns the name to which a process with `token` renames the profile `path` before it removes
/// it.
pub(super) fn removing_name(path: &Path, token: &str, number: u32) -> PathBuf {
    with_mark(path, "removing", token, number)
}

/// Returns `NAME.tprof.MARK-TOKEN`. No reader takes such a name for that of a profile.
fn with_mark(path: &Path, mark: &str, token: &str, number: u32) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(format!(".{mark}-{token}"));
    if number > 0 {
        name.push(format!("-{number}"));
    }
    name.into()
}

/// Returns the `number`-th candidate for the name of a profile: `NAME.tprof`, `NAME-1.tprof`, ...
#[must_use]
pub fn numbered_path(target: &Path, format: OutputFormat, number: u32) -> PathBuf {
    if number == 0 {
        return target.to_owned();
    }
    let mut stem = target.file_stem().unwrap_or_default().to_owned();
    stem.push(format!("-{number}.{}", format.extension()));
    target.with_file_name(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_known_by_its_name() {
        assert_eq!(checkpoint_of("a-checkpoint-0012.tprof"), Some(("a", 12)));
        assert_eq!(
            checkpoint_of("a-checkpoint-1-checkpoint-0002.tprof"),
            Some(("a-checkpoint-1", 2))
        );
        for other in [
            "a.tprof",
            "a-checkpoint-.tprof",
            "a-checkpoint-0001",
            "a-checkpoint-0001.tprof.unfinished-7",
        ] {
            assert_eq!(checkpoint_of(other), None, "{other}");
        }
    }
}
