//! The directory of a profile, as users type it.

use std::convert::Infallible;
use std::path::PathBuf;

/// The ending of a profile's name.
const ENDING: &str = "tprof";

/// Returns the directory of a profile: `fft` means `fft.tprof` if there is no `fft`. A directory
/// that does not exist is reported by the command that reads it.
#[expect(clippy::unnecessary_wraps, reason = "a parser of values returns a result")]
pub(super) fn directory(text: &str) -> Result<PathBuf, Infallible> {
    let directory = PathBuf::from(text);
    if directory.exists() {
        return Ok(directory);
    }
    let with_ending = with_ending(text);
    Ok(if with_ending.is_dir() { with_ending } else { directory })
}

fn with_ending(text: &str) -> PathBuf {
    PathBuf::from(format!("{text}.{ENDING}"))
}

/// Returns true if there is a profile of this name, and nothing else.
pub(crate) fn is_profile_without_ending(text: &str) -> bool {
    !text.starts_with('-') && !PathBuf::from(text).exists() && with_ending(text).is_dir()
}

/// Returns true if an argument is the directory of a profile and not a command.
pub(crate) fn is_profile(text: &str) -> bool {
    text.trim_end_matches('/').ends_with(&format!(".{ENDING}"))
}
