//! The newest interim profile of a job, `NAME-interim-NNNN.tprof`, and its profile once the job has
//! ended.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tinyprof_format::file::interim_of;

use super::sample::Sample;
use super::seen::{JobLine, Seen};
use crate::{memory, sys};

/// The interim profiles in a directory. The last one read is kept until there is a newer one.
#[derive(Debug)]
pub(super) struct InterimProfiles {
    directory: PathBuf,
    read: Option<(PathBuf, Sample)>,
}

impl InterimProfiles {
    pub(super) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), read: None }
    }

    /// Returns the newest interim profile of the job whose profile is called `wanted`, or of the
    /// only job.
    pub(super) fn look(&mut self, wanted: Option<&str>) -> Seen {
        let wanted = wanted.map(|name| name.strip_suffix(".tprof").unwrap_or(name));
        let mut newest: BTreeMap<String, (u32, PathBuf)> = BTreeMap::new();
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            let Some((name, number)) = interim_of(&file) else { continue };
            // An interim profile without a manifest is being removed.
            if entry.path().join("manifest.json").exists() {
                let place = newest.entry(name.to_owned()).or_default();
                *place = std::mem::take(place).max((number, entry.path()));
            }
        }
        if let Some(wanted) = wanted {
            newest.retain(|name, _| name == wanted);
        }
        match newest.len() {
            0 => self.ended(wanted),
            1 => newest.pop_first().map_or(Seen::Nothing, |(name, (number, path))| {
                self.read(&name, &format!("interim profile {number}"), path)
            }),
            _ => Seen::Several(
                newest.into_iter().map(|(name, (number, _))| line(name, number)).collect(),
            ),
        }
    }

    /// Handles the lack of interim profiles: they are removed once the profile of the whole run
    /// exists.
    fn ended(&mut self, wanted: Option<&str>) -> Seen {
        let Some(name) = wanted else { return Seen::Nothing };
        let path = self.directory.join(format!("{name}.tprof"));
        if !path.join("manifest.json").exists() {
            return Seen::Nothing;
        }
        match self.read(name, "its profile", path) {
            Seen::Running(sample) => Seen::Ended(Some(sample)),
            other => other,
        }
    }

    fn read(&mut self, name: &str, source: &str, path: PathBuf) -> Seen {
        let since = fs::metadata(path.join("manifest.json")).map_or(Duration::ZERO, |metadata| {
            let whole = Duration::from_secs(u64::try_from(metadata.mtime()).unwrap_or(0));
            whole + Duration::from_nanos(u64::try_from(metadata.mtime_nsec()).unwrap_or(0))
        });
        if self.read.as_ref().is_none_or(|(known, _)| *known != path) {
            let profile = match memory::read_options().read(&path) {
                Ok(profile) => profile,
                Err(error) => return Seen::Unreadable(error.to_string()),
            };
            let launched = Duration::from_secs(profile.manifest.metadata.launchdate);
            let mut sample = Sample::of_profile(&profile);
            let elapsed = since.checked_sub(launched).filter(|_| !launched.is_zero());
            sample.picture.name = format!("{name}.tprof");
            sample.picture.elapsed_ns = elapsed.map(nanoseconds);
            (sample.source, sample.moment_ns) = (source.to_owned(), nanoseconds(since));
            self.read = Some((path, sample));
        }
        let age = sys::since_1970().saturating_sub(since);
        match &self.read {
            Some((_, sample)) => {
                let mut sample = sample.clone();
                sample.picture.age_ns = nanoseconds(age);
                Seen::Running(Box::new(sample))
            }
            None => Seen::Nothing,
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn line(name: String, number: u32) -> JobLine {
    JobLine { what: format!("{name}.tprof, interim profile {number}"), id: name }
}
