//! Names of profiles and interim profiles, and temporary names while they are written or removed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::OutputFormat;

/// Returns `name` with the extension `.tprof`, added if missing.
#[must_use]
pub fn profile_path(name: &Path) -> PathBuf {
    OutputFormat::Tprof.path(name)
}

/// Returns the name of a profile without its extension, if it has that, and with `ending`.
///
/// ```
/// # use std::path::Path;
/// use tinyprof_format::file::name_with;
///
/// for name in ["runs/heat", "runs/heat.tprof"] {
///     assert_eq!(name_with(Path::new(name), "-rank-3"), Path::new("runs/heat-rank-3"));
/// }
/// assert_eq!(name_with(Path::new("v1.2"), "-rank-3"), Path::new("v1.2-rank-3"));
/// ```
#[must_use]
pub fn name_with(profile: &Path, ending: &str) -> PathBuf {
    let has_extension = profile.extension().is_some_and(|own| own == "tprof");
    let name = if has_extension { profile.with_extension("") } else { profile.to_owned() };
    let mut name = name.into_os_string();
    name.push(ending);
    name.into()
}

/// Returns the name of an interim profile of the profile `profile`: `NAME-interim-NNNN.tprof`.
///
/// # Example
///
/// ```
/// # use std::path::Path;
/// use tinyprof_format::file::{interim_of, interim_path};
///
/// let path = interim_path(Path::new("runs/heat.tprof"), 12);
/// assert_eq!(path, Path::new("runs/heat-interim-0012.tprof"));
/// assert_eq!(interim_of("heat-interim-0012.tprof"), Some(("heat", 12)));
/// ```
#[must_use]
pub fn interim_path(profile: &Path, number: u32) -> PathBuf {
    let mut name = profile_path(profile).file_stem().unwrap_or_default().to_owned();
    name.push(format!("{INTERIM}{number:04}.tprof"));
    profile.with_file_name(name)
}

/// Returns the name of the profile, without its extension, and the number of the interim profile
/// with this file name; none for any other file. Older versions called them checkpoints, in names
/// too.
#[must_use]
pub fn interim_of(file_name: &str) -> Option<(&str, u32)> {
    let stem = file_name.strip_suffix(".tprof")?;
    let (name, number) = stem.rsplit_once(INTERIM).or_else(|| stem.rsplit_once(OLD_INTERIM))?;
    Some((name, number.parse().ok()?))
}

/// Returns the name of a part of the profile `profile`: `NAME-part-NNNN.tprof`.
///
/// ```
/// # use std::path::Path;
/// use tinyprof_format::file::part_path;
///
/// let path = part_path(Path::new("runs/heat.tprof"), 2);
/// assert_eq!(path, Path::new("runs/heat-part-0002.tprof"));
/// ```
#[must_use]
pub fn part_path(profile: &Path, number: u32) -> PathBuf {
    let mut name = profile_path(profile).file_stem().unwrap_or_default().to_owned();
    name.push(format!("-part-{number:04}.tprof"));
    profile.with_file_name(name)
}

/// The text between the name of a profile and the number of its interim profile.
const INTERIM: &str = "-interim-";
/// The same in names that older versions have given.
const OLD_INTERIM: &str = "-checkpoint-";

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
    fn an_interim_profile_is_known_by_its_name() {
        assert_eq!(interim_of("a-interim-0012.tprof"), Some(("a", 12)));
        assert_eq!(interim_of("a-checkpoint-0012.tprof"), Some(("a", 12)), "an older one");
        assert_eq!(interim_of("a-interim-1-interim-0002.tprof"), Some(("a-interim-1", 2)));
        for other in
            ["a.tprof", "a-interim-.tprof", "a-interim-0001", "a-interim-0001.tprof.unfinished-7"]
        {
            assert_eq!(interim_of(other), None, "{other}");
        }
    }
}
