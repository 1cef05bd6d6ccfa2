//! Directories that become profiles: complete under their final name, or not there at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::names::{numbered_path, removing_name, unfinished_name};
use super::{OutputFiles, OutputFormat, Permissions};
use crate::error::WriteError;
use crate::model::{CallpathFile, CallpathTable, Manifest, PartFile};

/// The largest numbers of names tried for a profile, and for a temporary directory. A file system
/// that reports every name as taken must not hold up the program forever.
const NAMES_MAX: u32 = 10_000;
const TEMPORARY_NAMES_MAX: u32 = 1_000;

/// The number of times that a file system may report a name as taken although nothing has it.
const REFUSALS_MAX: u32 = 8;

/// Removes a profile that its writer no longer needs, such as an interim profile replaced by a
/// newer one.
///
/// It is renamed first. An interrupted removal therefore leaves a directory
/// `NAME.tprof.removing-TOKEN`, which no reader takes for a profile, and which has no manifest as
/// soon as any file is missing.
///
/// # Errors
/// If it cannot be removed. If it could not be renamed, it is complete.
pub fn remove_profile(path: &Path) -> Result<(), WriteError> {
    let token = std::process::id().to_string();
    let removing = temporary(|number| {
        let removing = removing_name(path, &token, number);
        if is_there(&removing) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::rename(path, &removing).map(|()| removing)
    })
    .map_err(fail("rename", path))?;
    let manifest = removing.join("manifest.json");
    match fs::remove_file(&manifest) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        removed => removed.map_err(fail("remove", &manifest))?,
    }
    fs::remove_dir_all(&removing).map_err(fail("remove", &removing))
}

/// A profile being written: a directory `NAME.tprof.unfinished-TOKEN`.
///
/// Dropping it keeps the directory, so that the output of a failed run can still be inspected.
#[derive(Debug)]
pub struct UnfinishedProfile {
    directory: PathBuf,
    target: PathBuf,
    files: OutputFiles,
}

impl UnfinishedProfile {
    /// Creates the directory and its parents for a profile with the final name `target`, and with
    /// the format and permissions in `files`. The extension of its name is that of the format. The
    /// parents get the permissions of the umask.
    ///
    /// `token`, such as a process id, distinguishes runs that write to the same place at the same
    /// time. If the name is taken, a number is added.
    ///
    /// # Errors
    /// If the directory cannot be created.
    pub fn create(
        files: impl Into<OutputFiles>,
        target: &Path,
        token: &str,
    ) -> Result<Self, WriteError> {
        let files = files.into();
        let target = files.format.path(target);
        if let Some(parent) = target.parent().filter(|p| !p.as_os_str().is_empty()) {
            fs::create_dir_all(parent).map_err(|error| {
                // The system reports "file exists", which would mislead the user.
                let file_in_the_way = error.kind() == io::ErrorKind::AlreadyExists;
                let error =
                    if file_in_the_way { io::ErrorKind::NotADirectory.into() } else { error };
                fail("create", parent)(error)
            })?;
        }
        // A killed run may have left its directory, and process ids are reused, in containers soon.
        let directory = temporary(|number| {
            let directory = unfinished_name(&target, token, number);
            files.permissions.create_directory(&directory).map(|()| directory)
        })
        .map_err(fail("create", &unfinished_name(&target, token, 0)))?;
        Ok(Self { directory, target, files })
    }

    /// Returns the directory that holds the files until the profile is complete.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes the dictionary, if the format has one. In text, each part contains its names.
    ///
    /// # Errors
    /// If the file cannot be written or synchronised to disk.
    ///
    /// # Panics
    /// Never: a table has fewer than 2^32 rows.
    pub fn write_callpaths(&self, table: &CallpathTable) -> Result<CallpathFile, WriteError> {
        let callpaths =
            u32::try_from(table.len()).expect("a callpath table has fewer than 2^32 rows");
        if self.files.format == OutputFormat::Csv {
            return Ok(CallpathFile { callpaths, ..CallpathFile::default() });
        }
        let bytes = super::encode_callpaths(table);
        let file = "callpaths".to_owned();
        write_file(self.files.permissions, &self.directory.join(&file), &bytes)?;
        Ok(CallpathFile {
            file,
            bytes: bytes.len() as u64,
            crc32: crc32fast::hash(&bytes),
            callpaths,
        })
    }

    /// Writes the manifest and gives the profile its final name: the requested one, or if that is
    /// taken, the first free one of `NAME-1.tprof`, `NAME-2.tprof`, ... Returns the name.
    ///
    /// # Errors
    /// If the manifest cannot be written, the directory cannot be renamed, or 10,000 names are
    /// taken. Nothing has a final name then.
    pub fn finish(&self, manifest: &Manifest) -> Result<PathBuf, WriteError> {
        let path = self.directory.join("manifest.json");
        let manifest = Manifest { format: self.files.format.name().to_owned(), ..manifest.clone() };
        let mut json = serde_json::to_vec_pretty(&manifest).map_err(|error| WriteError {
            action: "write",
            path: path.clone(),
            source: error.into(),
        })?;
        json.push(b'\n');
        write_file(self.files.permissions, &path, &json)?;
        sync_directory(&self.directory);
        // Allocated now, because nothing may allocate after the rename: nothing may fail once the
        // profile exists.
        let cannot_rename = fail("rename", &self.directory);
        let finished = self.rename().map_err(cannot_rename)?;
        if let Some(parent) = finished.parent().filter(|p| !p.as_os_str().is_empty()) {
            sync_directory(parent);
        }
        Ok(finished)
    }

    fn rename(&self) -> io::Result<PathBuf> {
        let name = |number| numbered_path(&self.target, self.files.format, number);
        let mut refusals = 0;
        for candidate in (0..NAMES_MAX).map(name) {
            if is_there(&candidate) {
                continue;
            }
            match fs::rename(&self.directory, &candidate) {
                Ok(()) => return Ok(candidate),
                // Another run took the name in the meantime.
                Err(error) if is_taken(&error) && is_there(&candidate) => {}
                Err(error) if is_taken(&error) => {
                    refusals += 1;
                    if refusals == REFUSALS_MAX {
                        let said = format!(
                            "{error}, for {refusals} names that are free, up to {}",
                            candidate.display()
                        );
                        return Err(io::Error::new(error.kind(), said));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        let (first, last) = (name(0), name(NAMES_MAX - 1));
        let said = format!(
            "all {NAMES_MAX} names from {} to {} are taken; remove some, or choose another name",
            first.display(),
            last.display()
        );
        Err(io::Error::new(io::ErrorKind::AlreadyExists, said))
    }

    /// Removes the directory and its contents, after a failure that all ranks know of.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn discard(self) -> Result<(), WriteError> {
        fs::remove_dir_all(&self.directory).map_err(fail("remove", &self.directory))
    }
}

/// Returns the first success of `make` for numbers from 0 on, trying again while a name is taken.
fn temporary<T>(make: impl Fn(u32) -> io::Result<T>) -> io::Result<T> {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty};
    for number in 0..TEMPORARY_NAMES_MAX {
        match make(number) {
            Err(error) if matches!(error.kind(), AlreadyExists | DirectoryNotEmpty) => {}
            other => return other,
        }
    }
    let said = format!("this name and {} more are taken", TEMPORARY_NAMES_MAX - 1);
    Err(io::Error::new(AlreadyExists, said))
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Returns true if a name is taken: a directory cannot be renamed to the name of a file, or of a
/// directory with files.
fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(error.kind(), AlreadyExists | DirectoryNotEmpty | NotADirectory)
}

/// Writes the `number`-th part into the unfinished profile's `directory`. Its `bytes` must be of
/// the format in `files`.
///
/// # Errors
/// If the file cannot be written or synchronised to disk.
pub fn write_part(
    files: impl Into<OutputFiles>,
    directory: &Path,
    number: u32,
    ranks: Range<u32>,
    bytes: &[u8],
) -> Result<PartFile, WriteError> {
    let OutputFiles { format, permissions } = files.into();
    let file = format.part_name(number);
    write_file(permissions, &directory.join(&file), bytes)?;
    let (first_rank, ranks) = (ranks.start, ranks.end - ranks.start);
    Ok(PartFile {
        file,
        first_rank,
        ranks,
        bytes: bytes.len() as u64,
        crc32: crc32fast::hash(bytes),
    })
}

/// Writes a file with one call for the whole buffer, then synchronises it to disk.
fn write_file(permissions: Permissions, path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let mut file = permissions.create_file(path).map_err(fail("create", path))?;
    file.write_all(bytes).map_err(fail("write", path))?;
    match file.sync_all() {
        // A file system without this operation has still written the file. Others report only now
        // that the disk is full.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
        {
            Ok(())
        }
        synced => synced.map_err(fail("sync", path)),
    }
}

/// Synchronises the names in a directory to disk, if possible. Errors are ignored.
///
/// The files of the profile are complete without it. A writable directory need not be readable, and
/// some file systems do not synchronise directories.
fn sync_directory(path: &Path) {
    drop(File::open(path).and_then(|directory| directory.sync_all()));
}

fn fail(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WriteError + use<> {
    let path = path.to_owned();
    move |source| WriteError { action, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CallpathFile, PhaseTimes, RunMetadata};

    fn manifest() -> Manifest {
        let (files, times) = (CallpathFile::default(), PhaseTimes::default());
        super::super::ManifestFacts::default().manifest(
            0,
            files,
            Vec::new(),
            RunMetadata::default(),
            times,
        )
    }

    #[test]
    fn a_name_that_is_refused_again_and_again_is_an_error() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().to_owned();
        let mut unfinished =
            UnfinishedProfile::create(OutputFormat::Tprof, &path.join("run"), "1").unwrap();
        // Nothing can exist below a file, or be renamed to a name there.
        fs::write(path.join("file"), "").unwrap();
        unfinished.target = path.join("file/run.tprof");
        let error = unfinished.finish(&manifest()).unwrap_err().to_string();
        assert!(error.contains("for 8 names that are free, up to "), "{error}");
    }

    #[test]
    fn names_end_somewhere() {
        let scratch = tempfile::tempdir().unwrap();
        for number in 0..NAMES_MAX {
            let name =
                numbered_path(&scratch.path().join("run.tprof"), OutputFormat::Tprof, number);
            fs::write(name, "").unwrap();
        }
        let unfinished =
            UnfinishedProfile::create(OutputFormat::Tprof, &scratch.path().join("run"), "1")
                .unwrap();
        let error = unfinished.finish(&manifest()).unwrap_err().to_string();
        assert!(error.contains("run-9999.tprof are taken"), "{error}");
        unfinished.discard().unwrap();
        fs::remove_file(scratch.path().join("run-9999.tprof")).unwrap();
        let unfinished =
            UnfinishedProfile::create(OutputFormat::Tprof, &scratch.path().join("run"), "1")
                .unwrap();
        assert!(unfinished.finish(&manifest()).unwrap().ends_with("run-9999.tprof"));
    }
}
