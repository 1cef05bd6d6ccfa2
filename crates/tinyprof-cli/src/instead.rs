//! Suggestions where a directory is not a profile.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use tinyprof_format::error::ReadError;

use crate::arguments::profile::{ENDING, is_profile};
use crate::name::name_of;
use crate::near::{changes, is_near, nearest};

/// The most profiles that are named.
const NAMED_MAX: usize = 8;

/// Returns what to add to an error about a directory: a profile of a similar name, or those in it.
pub(crate) fn suggestion(error: &(dyn Error + 'static)) -> Option<String> {
    match error.downcast_ref::<ReadError>()? {
        ReadError::NotFound { directory } => similar(directory).as_deref().map(meant),
        ReadError::NoManifest { directory, unfinished: false } => {
            inside(directory).or_else(|| beside(directory).as_deref().map(meant))
        }
        _ => None,
    }
}

fn meant(profile: &Path) -> String {
    format!("did you mean {}?", profile.display())
}

/// Returns the profile beside a missing one whose name is most similar.
fn similar(missing: &Path) -> Option<PathBuf> {
    let beside = missing.parent().filter(|parent| *parent != Path::new(""));
    let all = profiles(beside.unwrap_or(Path::new(".")));
    let typed = name_of(missing);
    let wanted = stem(&typed);
    // Of a short name, the ending alone is no similarity.
    let shares_letters =
        |name: &String| changes(wanted, stem(name)) < stem(name).chars().count().max(1);
    let names: Vec<String> = all.iter().map(|one| name_of(one)).filter(shares_letters).collect();
    let name = nearest(&format!("{wanted}.{ENDING}"), names.iter().map(String::as_str))?;
    Some(missing.with_file_name(name))
}

/// Returns a name without the ending of profiles, which may be left out or mistyped.
fn stem(name: &str) -> &str {
    let is_ending = |ending: &str| is_near(changes(ending, ENDING), ENDING);
    name.rsplit_once('.').filter(|(_, ending)| is_ending(ending)).map_or(name, |(stem, _)| stem)
}

/// Returns the profile that is called like a directory, beside it.
fn beside(directory: &Path) -> Option<PathBuf> {
    let profile = directory.with_file_name(format!("{}.{ENDING}", name_of(directory)));
    profile.is_dir().then_some(profile)
}

/// Returns a sentence that names the profiles inside a directory, if there are any.
fn inside(directory: &Path) -> Option<String> {
    let all = profiles(directory);
    let named: Vec<String> =
        all.iter().take(NAMED_MAX).map(|one| one.display().to_string()).collect();
    let more = match all.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(", and {more} others"),
    };
    (!named.is_empty()).then(|| format!("profiles in it: {}{more}", named.join(", ")))
}

/// Returns the profiles in a directory, sorted; none if it cannot be read.
fn profiles(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_one = |path: &PathBuf| path.to_str().is_some_and(is_profile) && path.is_dir();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_one).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_profile_and_a_directory_of_profiles_name_what_was_meant() {
        let scratch = tempfile::tempdir().expect("a directory");
        let path = |name: &str| scratch.path().join(name);
        for name in ["fire.tprof", "wave.tprof", "notes"] {
            fs::create_dir(path(name)).expect("a directory");
        }
        let of = |name: &str| {
            let error = tinyprof_format::file::read_manifest(&path(name)).expect_err("no profile");
            suggestion(&error)
        };
        let expected = format!("did you mean {}?", path("fire.tprof").display());
        assert_eq!(of("fier.tprof").as_deref(), Some(expected.as_str()));
        assert_eq!(of("fier").as_deref(), Some(expected.as_str()));
        assert_eq!(of("fire.tpro").as_deref(), Some(expected.as_str()));
        assert_eq!(of("fire.prof").as_deref(), Some(expected.as_str()));
        assert_eq!(of("multigrid.tprof"), None, "nothing is near");
        let listed = of("").expect("profiles are there");
        assert!(listed.ends_with("wave.tprof") && listed.contains("fire.tprof, "), "{listed}");
        assert_eq!(of("notes"), None, "nothing is inside");
        fs::create_dir(path("fire")).expect("a directory");
        assert_eq!(of("fire").as_deref(), Some(expected.as_str()), "nothing is inside");
        fs::create_dir(path("rr.tprof")).expect("a directory");
        assert_eq!(of("cc"), None, "only the ending is the same");

        for number in 0..20 {
            fs::create_dir(path(&format!("run-{number:02}.tprof"))).expect("a directory");
        }
        assert!(of("").expect("profiles are there").ends_with(", and 15 others"));
    }
}
