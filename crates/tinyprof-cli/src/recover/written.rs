//! Detection of complete profiles for jobs that left segments, because the job or a `recover` was
//! killed right after writing.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use tinyprof_format::file::{Directory, OutputFormat, Source, numbered_path, profile_path};
use tinyprof_format::model::ProfileId;

/// The longest manifest that is read.
const MANIFEST_BYTES_MAX: u64 = 64 << 20;
/// The number of names to try in a directory that cannot be listed.
const NAMES_MAX: u32 = 10_000;

/// Returns the complete profile with one of these ids from the directories of `targets`, which are
/// names of profiles.
///
/// Profiles are identified by their ids alone, whatever their name: the wanted name may have been
/// taken.
pub(super) fn written(ids: &BTreeSet<ProfileId>, targets: &BTreeSet<PathBuf>) -> Option<PathBuf> {
    if ids.is_empty() {
        return None;
    }
    let mut directories: Vec<&Path> = Vec::new();
    let mut found = None;
    for target in targets {
        let directory =
            target.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !directories.contains(&directory) {
            directories.push(directory);
            found = found.or_else(|| in_directory(ids, directory, target));
        }
    }
    found
}

fn in_directory(ids: &BTreeSet<ProfileId>, directory: &Path, target: &Path) -> Option<PathBuf> {
    let is_wanted = |path: &PathBuf| id_of(path).is_some_and(|id| ids.contains(&id));
    let Ok(entries) = fs::read_dir(directory) else {
        return [OutputFormat::Tprof, OutputFormat::Csv].into_iter().find_map(|format| {
            let target = format.path(&profile_path(target));
            let names = (0..NAMES_MAX).map(|number| numbered_path(&target, format, number));
            names.take_while(|name| fs::symlink_metadata(name).is_ok()).find(is_wanted)
        });
    };
    let endings = [OutputFormat::Tprof, OutputFormat::Csv].map(OutputFormat::extension);
    let is_profile = |path: &PathBuf| {
        let ending = path.extension().and_then(OsStr::to_str);
        ending.is_some_and(|ending| endings.contains(&ending))
    };
    let mut paths: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(is_profile).collect();
    paths.sort();
    paths.into_iter().find(is_wanted)
}

/// Returns the id of a profile whose files are all present, in any format.
fn id_of(path: &Path) -> Option<ProfileId> {
    let profile = Directory::new(path);
    let length =
        profile.length("manifest.json").ok().filter(|&length| length <= MANIFEST_BYTES_MAX)?;
    let text = profile.read("manifest.json", 0, usize::try_from(length).ok()?).ok()?;
    let json: serde_json::Value = serde_json::from_slice(&text).ok()?;
    let id = json.get("profile_id")?.as_str()?.parse().ok()?;
    let parts = json.get("parts").and_then(serde_json::Value::as_array);
    let mut files = parts.into_iter().flatten().chain(json.get("callpaths"));
    let is_there = |file: &serde_json::Value| {
        let name = file.get("file").and_then(serde_json::Value::as_str).unwrap_or_default();
        let bytes = file.get("bytes").and_then(serde_json::Value::as_u64);
        // The text format has no dictionary, and marks that by an empty name.
        name.is_empty()
            || bytes.is_some_and(|bytes| profile.length(name).is_ok_and(|found| found == bytes))
    };
    files.all(is_there).then_some(id)
}
