//! Verification of a profile: all lengths and checksums, and then the meaning of the bytes.

use std::path::Path;

use serde::Serialize;

use super::section::{FrameError, Sections};
use super::source::{Directory, Source as _, is_inside, read_whole};
use super::{BufferedDirectory, ProfileReader, ReadOptions, callpaths, manifest, part, read};
use crate::bytes::MemoryLimit;
use crate::error::ReadError;
use crate::model::{CallpathIndex, CallpathTable};

/// The greatest depth of callpaths that are shown with their parents. Deeper ones are shown by
/// name.
const DEEPEST_PATH: u32 = 64;

/// The part of the memory limit in which a profile is read as a whole.
const WHOLE_PART: u64 = 4;

/// The part of the memory limit in which files are kept to be read again.
const BUFFER_PART: u64 = 8;

/// The longest callpath shown, in bytes. All damaged sections may belong to one very long callpath.
const PATH_BYTES_MAX: usize = 200;

/// The errors in the files of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Check {
    /// The files named in the manifest, in its order.
    pub files: Vec<FileCheck>,
    /// An inconsistency between files that are intact by themselves.
    pub contradiction: Option<String>,
    /// The data that could not be verified within the reader's memory limit, and advice. This is
    /// not damage.
    pub over_limit: Option<String>,
}

/// The errors in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileCheck {
    /// The name inside the profile.
    pub file: String,
    /// The length in bytes; 0 if it cannot be read.
    pub bytes: u64,
    /// The number of sections in its index; 0 if the index is damaged.
    pub sections: usize,
    /// All damage.
    pub damage: Vec<Damage>,
}

/// One damaged place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Damage {
    /// The offset of the damaged section or field from the start of the file, in bytes; none for
    /// the file as a whole.
    pub offset: Option<u64>,
    /// The contents of the damaged section; none if it is not a section.
    pub section: Option<String>,
    /// The expected and the actual contents.
    pub reason: String,
}

impl Check {
    /// Returns true if everything was verified and there are no errors.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.over_limit.is_none() && self.damage_count() == 0
    }

    /// Returns the number of damaged places.
    #[must_use]
    pub fn damage_count(&self) -> usize {
        let damaged: usize = self.files.iter().map(|file| file.damage.len()).sum();
        damaged + usize::from(self.contradiction.is_some())
    }
}

impl ReadOptions {
    /// Verifies the profile in `directory` and lists all damage, not only the first.
    ///
    /// # Errors
    /// If there is no readable manifest, since the expected contents are then unknown, and if
    /// nothing is damaged but not everything could be verified within the memory limit.
    pub fn check(self, directory: &Path) -> Result<Check, ReadError> {
        let source = Directory::new(directory);
        let manifest = manifest::read(&source, self)?;
        let memory_limit = &read::memory_limit(&source, &manifest, self);
        let mut table = None;
        let file = &manifest.callpaths;
        let (dictionary, mut over_limit) = check_file(
            &source,
            &file.file,
            (file.bytes, file.crc32),
            memory_limit,
            |bytes, damage| {
                let sections = Sections::<0>::open(bytes, callpaths::MAGIC)?;
                check_sections(&sections, damage, |key| {
                    let names = ["the callpath table", "what regions say besides"];
                    names.get(key as usize).map(|&name| name.to_owned())
                });
                table = if damage.is_empty() {
                    Some(callpaths::decode(bytes, memory_limit)?)
                } else {
                    None
                };
                Ok(sections.keys().count())
            },
        );
        let mut files = vec![dictionary];
        for file in &manifest.parts {
            let look_inside = |bytes: &[u8], damage: &mut Vec<Damage>| {
                let sections = Sections::<3>::open(bytes, part::MAGIC)?;
                check_sections(&sections, damage, |key| {
                    let callpaths = sections.header.fields[2] as usize;
                    part::section_name(key, callpaths, |row| path(table.as_ref(), row))
                });
                Ok(sections.keys().count())
            };
            let (file, limit) = check_file(
                &source,
                &file.file,
                (file.bytes, file.crc32),
                memory_limit,
                look_inside,
            );
            files.push(file);
            over_limit = over_limit.or(limit);
        }
        // The reader below may use the same amount again.
        drop(table);
        let mut check = Check { files, contradiction: None, over_limit: None };
        if check.damage_count() == 0 && over_limit.is_none() {
            match self.read_all(directory) {
                Err(error @ ReadError::OverLimit { .. }) => over_limit = Some(error),
                read => check.contradiction = read.err().map(|error| error.to_string()),
            }
        }
        match over_limit {
            Some(error) if check.damage_count() == 0 => Err(error),
            over_limit => {
                Ok(Check { over_limit: over_limit.map(|error| error.to_string()), ..check })
            }
        }
    }
}

impl ReadOptions {
    /// Reads all values: of a small profile together, which also finds sections of no callpath;
    /// else callpath by callpath.
    fn read_all(self, directory: &Path) -> Result<(), ReadError> {
        let of_small = self.with_memory_bytes(self.memory_bytes() / WHOLE_PART);
        match of_small.read(directory) {
            Err(ReadError::OverLimit { .. }) => {}
            read => return read.map(drop),
        }
        let source = BufferedDirectory::new(directory, self.memory_bytes() / BUFFER_PART);
        let reader = ProfileReader::of_source(source, self)?;
        reader.ranks()?;
        reader.each_causes(|_, _| Ok::<(), ReadError>(()))?;
        reader.each_events(|_, _| Ok::<(), ReadError>(()))?;
        reader.rank_commands()?;
        reader.each_callpath(reader.callpaths().children().roots(), |_, _| Ok(()))
    }
}

/// Returns a callpath for display. In a hostile profile, whole paths would be of quadratic length.
fn path(table: Option<&CallpathTable>, row: usize) -> String {
    let found =
        table.filter(|table| row < table.len()).map(|table| (table, CallpathIndex::new(row)));
    let mut path = match found {
        Some((table, index)) if table.get(index).depth <= DEEPEST_PATH => table.path(index),
        Some((table, index)) => format!("...<{}", table.get(index).region.name),
        None => format!("callpath {row}"),
    };
    if path.len() > PATH_BYTES_MAX {
        path = path.chars().take(PATH_BYTES_MAX / 4).chain("...".chars()).collect();
    }
    path
}

/// Checks one file. `look_inside` lists the damage of its sections and returns their number. Also
/// returns an error if the file needs more memory than the memory limit has.
fn check_file(
    source: &Directory,
    name: &str,
    (bytes, crc32): (u64, u32),
    memory_limit: &MemoryLimit,
    look_inside: impl FnOnce(&[u8], &mut Vec<Damage>) -> Result<usize, FrameError>,
) -> (FileCheck, Option<ReadError>) {
    let mut check = FileCheck { file: name.to_owned(), ..FileCheck::default() };
    let mut whole_file = |reason: String| {
        check.damage.push(Damage { offset: None, section: None, reason });
    };
    if !is_inside(name) {
        whole_file("this is not the name of a file inside the profile".to_owned());
        return (check, None);
    }
    let before = memory_limit.passing_bytes();
    let found = match read_whole(source, name, memory_limit) {
        Ok(found) => found,
        Err(ReadError::Io { source, .. }) => {
            whole_file(format!("cannot be read: {source}"));
            return (check, None);
        }
        Err(error @ ReadError::OverLimit { .. }) => return (check, Some(error)),
        Err(error) => {
            whole_file(error.to_string());
            return (check, None);
        }
    };
    let length = found.len() as u64;
    if length != bytes {
        let what = if length < bytes { "cut off" } else { "longer than it should be" };
        whole_file(format!("has {length} bytes where the manifest says {bytes}: it is {what}"));
    }
    check.bytes = length;
    let mut inside = Vec::new();
    let mut over_limit = None;
    match look_inside(&found, &mut inside) {
        Ok(sections) => check.sections = sections,
        Err(error) => match read::explain(&source.path(name), error) {
            error @ ReadError::OverLimit { .. } => over_limit = Some(error),
            error => inside.push(of_read(error)),
        },
    }
    memory_limit.back_to(before);
    check.damage.extend(inside);
    if check.damage.is_empty() && crc32fast::hash(&found) != crc32 {
        let reason = "its sections are whole, but it does not match the checksum in the manifest: bytes between \
                      sections are damaged, or it belongs to another profile";
        check.damage.push(Damage { offset: None, section: None, reason: reason.to_owned() });
    }
    (check, over_limit)
}

fn check_sections<const HEADER: usize>(
    sections: &Sections<'_, HEADER>,
    damage: &mut Vec<Damage>,
    name: impl Fn(u32) -> Option<String>,
) {
    for (position, key) in sections.keys().enumerate() {
        if let Err(at) = sections.section(position) {
            damage.push(Damage { offset: Some(at.offset), section: name(key), reason: at.reason });
        }
    }
}

fn of_read(error: ReadError) -> Damage {
    match error {
        ReadError::Damaged { offset, reason, .. } => {
            Damage { offset: Some(offset), section: None, reason }
        }
        ReadError::NewerVersion { found: (major, minor), .. } => {
            let reason = format!(
                "is of format version {major}.{minor}, newer than this reader; update tinyprof"
            );
            Damage { offset: None, section: None, reason }
        }
        error => Damage { offset: None, section: None, reason: error.to_string() },
    }
}
