//! Directories that become profiles: complete under their final name, or not there at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::OutputFormat;
use crate::error::WriteError;
use crate::model::{CallpathFile, CallpathTable, Manifest, PartFile};

/// `name` with the ending `.tprof`, added where it is missing.
#[must_use]
pub fn profile_path(name: &Path) -> PathBuf {
    OutputFormat::Tprof.path(name)
}

/// The name of a checkpoint of the profile `profile`: `NAME-checkpoint-NNNN.tprof`.
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

/// The name of the profile, without its ending, and the number of the checkpoint of which this is the file's name;
/// nothing for every other file.
#[must_use]
pub fn checkpoint_of(file_name: &str) -> Option<(&str, u32)> {
    let (name, number) = file_name.strip_suffix(".tprof")?.rsplit_once(CHECKPOINT)?;
    Some((name, number.parse().ok()?))
}

/// Between the name of a profile and the number of its checkpoint.
const CHECKPOINT: &str = "-checkpoint-";

/// Removes a profile that its writer has no more use for, such as a checkpoint that a newer one replaces.
///
/// The manifest goes first, so that whoever finds the rest of an interrupted removal finds no profile.
///
/// # Errors
/// When it cannot be removed.
pub fn remove_profile(path: &Path) -> Result<(), WriteError> {
    let manifest = path.join("manifest.json");
    fs::remove_file(&manifest).map_err(fail("remove", &manifest))?;
    fs::remove_dir_all(path).map_err(fail("remove", path))
}

/// A profile that is being written: a directory `NAME.tprof.unfinished-TOKEN`.
///
/// Dropping it leaves the directory as it is, so that what a dying run wrote can still be looked at.
#[derive(Debug)]
pub struct UnfinishedProfile {
    directory: PathBuf,
    target: PathBuf,
    format: OutputFormat,
}

impl UnfinishedProfile {
    /// Creates the directory, and the directories above it, for a profile that is to be called `target`.
    ///
    /// `token` tells apart runs that write to the same place at the same time, such as a process id; a number is
    /// added where that name is taken.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub fn create(target: &Path, token: &str) -> Result<Self, WriteError> {
        Self::create_as(OutputFormat::Tprof, target, token)
    }

    /// The same for a profile whose files are of this format, and whose name ends as that says.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub fn create_as(format: OutputFormat, target: &Path, token: &str) -> Result<Self, WriteError> {
        let target = format.path(target);
        let mut directory = PathBuf::from(unfinished_name(&target, token, 0));
        if let Some(parent) = directory.parent().filter(|p| !p.as_os_str().is_empty()) {
            fs::create_dir_all(parent).map_err(|error| {
                // The system says "file exists", which is not what a person would look for.
                let file_in_the_way = error.kind() == io::ErrorKind::AlreadyExists;
                let error = if file_in_the_way { io::ErrorKind::NotADirectory.into() } else { error };
                fail("create", parent)(error)
            })?;
        }
        // A run that was killed may have left its directory, and process ids come again, in containers soon.
        for number in 1.. {
            match fs::create_dir(&directory) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    directory = unfinished_name(&target, token, number).into();
                }
                created => {
                    created.map_err(fail("create", &directory))?;
                    break;
                }
            }
        }
        Ok(Self { directory, target, format })
    }

    /// Where the files go until the profile is complete.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes the dictionary, where the format has one: in text each part has its names.
    ///
    /// # Errors
    /// When the file cannot be written or brought to the disk.
    ///
    /// # Panics
    /// Never: a table has fewer than 2^32 rows.
    pub fn write_callpaths(&self, table: &CallpathTable) -> Result<CallpathFile, WriteError> {
        let callpaths = u32::try_from(table.len()).expect("a callpath table has fewer than 2^32 rows");
        if self.format == OutputFormat::Csv {
            return Ok(CallpathFile { callpaths, ..CallpathFile::default() });
        }
        let bytes = super::encode_callpaths(table);
        let file = "callpaths".to_owned();
        write_file(&self.directory.join(&file), &bytes)?;
        Ok(CallpathFile { file, bytes: bytes.len() as u64, crc32: crc32fast::hash(&bytes), callpaths })
    }

    /// Writes the manifest and gives the profile its final name: the wanted one, or if that is taken the first
    /// free of `NAME-1.tprof`, `NAME-2.tprof`, ... Returns the name.
    ///
    /// # Errors
    /// When the manifest cannot be written or the directory not renamed. Nothing bears a final name then.
    pub fn finish(&self, manifest: &Manifest) -> Result<PathBuf, WriteError> {
        let path = self.directory.join("manifest.json");
        let manifest = Manifest { format: self.format.name().to_owned(), ..manifest.clone() };
        let mut json = serde_json::to_vec_pretty(&manifest).map_err(|error| WriteError {
            action: "write",
            path: path.clone(),
            source: error.into(),
        })?;
        json.push(b'\n');
        write_file(&path, &json)?;
        sync_directory(&self.directory)?;
        let mut number = 0;
        loop {
            let candidate = numbered(&self.target, self.format, number);
            number += 1;
            if fs::symlink_metadata(&candidate).is_ok() {
                continue;
            }
            match fs::rename(&self.directory, &candidate) {
                Ok(()) => {
                    if let Some(parent) = candidate.parent().filter(|p| !p.as_os_str().is_empty()) {
                        sync_directory(parent)?;
                    }
                    return Ok(candidate);
                }
                // Another run took the name since we looked.
                Err(error) if taken(&error) => {}
                Err(error) => return Err(fail("rename", &self.directory)(error)),
            }
        }
    }

    /// Removes the directory and all in it: after a failure that everyone has been told of.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn discard(self) -> Result<(), WriteError> {
        fs::remove_dir_all(&self.directory).map_err(fail("remove", &self.directory))
    }
}

fn unfinished_name(target: &Path, token: &str, number: u32) -> OsString {
    let mut name = target.as_os_str().to_owned();
    name.push(format!(".unfinished-{token}"));
    if number > 0 {
        name.push(format!("-{number}"));
    }
    name
}

fn numbered(target: &Path, format: OutputFormat, number: u32) -> PathBuf {
    if number == 0 {
        return target.to_owned();
    }
    let mut stem = target.file_stem().unwrap_or_default().to_owned();
    stem.push(format!("-{number}.{}", format.extension()));
    target.with_file_name(stem)
}

fn taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(error.kind(), AlreadyExists | DirectoryNotEmpty | NotADirectory)
}

/// Writes one aggregator's part, the `number`-th, into the unfinished profile's `directory`: `bytes`, which are of
/// `format`.
///
/// # Errors
/// When the file cannot be written or brought to the disk.
pub fn write_part(
    format: OutputFormat,
    directory: &Path,
    number: u32,
    ranks: Range<u32>,
    bytes: &[u8],
) -> Result<PartFile, WriteError> {
    let file = format.part_name(number);
    write_file(&directory.join(&file), bytes)?;
    let (first_rank, ranks) = (ranks.start, ranks.end - ranks.start);
    Ok(PartFile { file, first_rank, ranks, bytes: bytes.len() as u64, crc32: crc32fast::hash(bytes) })
}

/// One write call for the whole buffer, then down to the disk.
fn write_file(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = created.map_err(fail("create", path))?;
    file.write_all(bytes).map_err(fail("write", path))?;
    file.sync_all().map_err(fail("sync", path))
}

fn sync_directory(path: &Path) -> Result<(), WriteError> {
    File::open(path).and_then(|d| d.sync_all()).map_err(fail("sync", path))
}

fn fail(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WriteError + use<> {
    let path = path.to_owned();
    move |source| WriteError { action, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_known_by_its_name() {
        assert_eq!(checkpoint_of("a-checkpoint-0012.tprof"), Some(("a", 12)));
        assert_eq!(checkpoint_of("a-checkpoint-1-checkpoint-0002.tprof"), Some(("a-checkpoint-1", 2)));
        for other in
            ["a.tprof", "a-checkpoint-.tprof", "a-checkpoint-0001", "a-checkpoint-0001.tprof.unfinished-7"]
        {
            assert_eq!(checkpoint_of(other), None, "{other}");
        }
    }
}
