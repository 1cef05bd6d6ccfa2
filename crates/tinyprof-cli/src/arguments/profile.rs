//! The directory of a profile, as users type it.

use std::convert::Infallible;
use std::path::PathBuf;

/// The ending of a profile's name.
pub(crate) const ENDING: &str = "tprof";

/// Returns the directory of a profile: `fft` means `fft.tprof` if there is no directory `fft`. A
/// program of that name is often beside its profile. A directory that does not exist is reported by
/// the command that reads it.
#[expect(clippy::unnecessary_wraps, reason = "a parser of values returns a result")]
pub(super) fn directory(text: &str) -> Result<PathBuf, Infallible> {
    let directory = PathBuf::from(text);
    if directory.is_dir() {
        return Ok(directory);
    }
    let with_ending = with_ending(text);
    Ok(if with_ending.is_dir() { with_ending } else { directory })
}

fn with_ending(text: &str) -> PathBuf {
    PathBuf::from(format!("{text}.{ENDING}"))
}

/// Returns true if there is a profile of this name, and no directory.
pub(crate) fn is_profile_without_ending(text: &str) -> bool {
    !text.starts_with('-') && !PathBuf::from(text).is_dir() && with_ending(text).is_dir()
}

/// Returns true if an argument is the directory of a profile and not a command.
pub(crate) fn is_profile(text: &str) -> bool {
    text.trim_end_matches('/').ends_with(&format!(".{ENDING}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_profile_is_found_beside_a_program_and_behind_a_directory_of_its_name() {
        let scratch = tempfile::tempdir().expect("a directory");
        let path = |name: &str| scratch.path().join(name);
        for name in ["fire.tprof", "wave.tprof", "wave", "sort.tprof"] {
            fs::create_dir(path(name)).expect("a directory");
        }
        fs::write(path("fire"), "a program").expect("a file");
        for (typed, expected, is_found) in [
            ("fire", "fire.tprof", true),
            ("sort", "sort.tprof", true),
            ("wave", "wave", false),
            ("fft", "fft", false),
        ] {
            let text = path(typed).display().to_string();
            assert_eq!(directory(&text), Ok(path(expected)), "{typed}");
            assert_eq!(is_profile_without_ending(&text), is_found, "{typed}");
        }
    }
}
