//! The reader of whole profiles. It verifies every length and checksum, and its errors give file
//! and offset.

use std::path::{Path, PathBuf};

use super::manifest::{self, MANIFEST};
use super::section::{FrameError, matches_checksum};
use super::source::{Directory, Source, is_inside, read_whole};
use super::{ReadOptions, callpaths, causes, part};
use crate::bytes::{Malformed, MemoryLimit};
use crate::error::ReadError;
use crate::model::{CallpathTable, CallpathValues, Manifest, PartFile, Profile, RankFacts};

/// The bytes of a file that are read at once to verify its checksum.
const CHUNK_BYTES: u64 = 1 << 20;

/// Returns the profile in `directory`, with the values of every rank, with the default options.
///
/// # Errors
/// If the profile is unfinished, of a newer version, damaged anywhere, or too large for the
/// memory limit. The error gives the place.
pub fn read_profile(directory: &Path) -> Result<Profile, ReadError> {
    ReadOptions::default().read(directory)
}

impl ReadOptions {
    /// Returns the profile in `directory`.
    ///
    /// # Errors
    /// As [`read_profile`].
    pub fn read(self, directory: &Path) -> Result<Profile, ReadError> {
        self.read_of(&Directory::new(directory))
    }

    /// Returns the profile whose files are in `source`.
    ///
    /// # Errors
    /// As [`read_profile`].
    pub fn read_of(self, source: &dyn Source) -> Result<Profile, ReadError> {
        let manifest = manifest::read(source, self)?;
        check_parts(source, &manifest)?;
        let memory_limit = memory_limit(source, &manifest, self);
        let file = &manifest.callpaths;
        let (path, bytes) = read_file(source, &file.file, (file.bytes, file.crc32), &memory_limit)?;
        let table = callpaths::decode(&bytes, &memory_limit).map_err(|e| explain(&path, e))?;
        check_rows(path, &table, &manifest)?;
        drop(bytes);
        memory_limit.back_to(0);
        let mut values = empty_values(source, table.len(), manifest.ranks as usize, &memory_limit)?;
        let children = table.children();
        let mut rest: Vec<&mut [CallpathValues]> =
            values.iter_mut().map(Vec::as_mut_slice).collect();
        let mut ranks = Vec::with_capacity(manifest.ranks as usize);
        for file in &manifest.parts {
            let before = memory_limit.passing_bytes();
            let (path, bytes) =
                read_file(source, &file.file, (file.bytes, file.crc32), &memory_limit)?;
            let mut here = take_ranks(&mut rest, file.ranks as usize);
            let facts = part::decode(
                &bytes,
                (file.first_rank, file.ranks as usize),
                (&table, &children),
                &mut here,
                &memory_limit,
            );
            ranks.extend(facts.map_err(|e| explain(&path, e))?);
            memory_limit.back_to(before);
        }
        causes::share_activities(&mut ranks);
        Ok(Profile { manifest, callpaths: table, ranks, values })
    }
}

/// Returns the values of ranks without visits, row by row.
pub(super) fn empty_values(
    source: &dyn Source,
    callpaths: usize,
    ranks: usize,
    memory_limit: &MemoryLimit,
) -> Result<Vec<Vec<CallpathValues>>, ReadError> {
    // A row takes its list, and twice a slice of it for the part that is read. Ranks also have
    // facts.
    let row = (ranks as u64).saturating_mul(size_of::<CallpathValues>() as u64).saturating_add(64);
    let facts = (ranks as u64).saturating_mul(size_of::<RankFacts>() as u64);
    if !memory_limit.claim_kept((callpaths as u64).saturating_mul(row).saturating_add(facts)) {
        let reason = format!("{callpaths} callpaths of {ranks} ranks");
        let path = source.path(MANIFEST);
        return Err(ReadError::OverLimit { path, limit_bytes: memory_limit.limit_bytes(), reason });
    }
    Ok((0..callpaths).map(|_| vec![CallpathValues::default(); ranks]).collect())
}

/// Takes the values of the next `ranks` ranks from each row.
pub(super) fn take_ranks<'a>(
    rest: &mut [&'a mut [CallpathValues]],
    ranks: usize,
) -> Vec<&'a mut [CallpathValues]> {
    let take = |row: &mut &'a mut [CallpathValues]| {
        let (here, later) = std::mem::take(row).split_at_mut(ranks);
        *row = later;
        here
    };
    rest.iter_mut().map(take).collect()
}

/// Returns the memory allowed for the files named in the manifest, beside the manifest itself.
pub(super) fn memory_limit(
    source: &dyn Source,
    manifest: &Manifest,
    options: ReadOptions,
) -> MemoryLimit {
    let memory_limit = options.memory_limit(files_bytes(source, manifest));
    // If this is already too much, the next claim is refused.
    memory_limit.claim_kept(manifest::memory_bytes(source.length(MANIFEST).unwrap_or(0)));
    memory_limit
}

/// Returns the total length of all files named in the manifest. Missing files count as 0.
pub(super) fn files_bytes(source: &dyn Source, manifest: &Manifest) -> u64 {
    let files = manifest.parts.iter().map(|part| &part.file).chain([&manifest.callpaths.file]);
    let lengths = files.filter(|file| is_inside(file)).filter_map(|file| source.length(file).ok());
    lengths.fold(0, u64::saturating_add)
}

/// Checks that the dictionary has the number of rows given in the manifest.
pub(super) fn check_rows(
    path: PathBuf,
    table: &CallpathTable,
    manifest: &Manifest,
) -> Result<(), ReadError> {
    let (found, expected) = (table.len(), manifest.callpaths.callpaths);
    if found == expected as usize {
        return Ok(());
    }
    let reason = format!("it has {found} callpaths, the manifest says {expected}");
    Err(ReadError::Damaged { path, offset: 0, reason })
}

/// Checks that the parts in the manifest contain each rank exactly once.
pub(super) fn check_parts(source: &dyn Source, manifest: &Manifest) -> Result<(), ReadError> {
    let bad = |reason: String| Err(ReadError::BadManifest { path: source.path(MANIFEST), reason });
    let mut ranks = 0_u64;
    for part in &manifest.parts {
        if u64::from(part.first_rank) != ranks {
            return bad(format!(
                "{} begins with rank {}, but rank {ranks} is the next",
                part.file, part.first_rank
            ));
        }
        ranks += u64::from(part.ranks);
    }
    if ranks != u64::from(manifest.ranks) {
        return bad(format!(
            "its parts hold {ranks} ranks, but it says that there are {}",
            manifest.ranks
        ));
    }
    Ok(())
}

/// Verifies the length and the checksum of a part, without holding it in memory.
pub(super) fn verify_part(
    source: &dyn Source,
    part: &PartFile,
    memory_limit: &MemoryLimit,
) -> Result<(), ReadError> {
    let path = check_length(source, &part.file, part.bytes)?;
    let mut checksum = crc32fast::Hasher::new();
    let mut offset = 0;
    while offset < part.bytes {
        let bytes = (part.bytes - offset).min(CHUNK_BYTES);
        let chunk = source.read(&part.file, offset, usize::try_from(bytes).unwrap_or(0));
        checksum.update(&chunk.map_err(|source| ReadError::Io { path: path.clone(), source })?);
        offset += bytes;
    }
    if cfg!(fuzzing) || checksum.finalize() == part.crc32 {
        return Ok(());
    }
    read_file(source, &part.file, (part.bytes, part.crc32), memory_limit).map(drop)
}

fn read_file(
    source: &dyn Source,
    name: &str,
    (expected_bytes, checksum): (u64, u32),
    memory_limit: &MemoryLimit,
) -> Result<(PathBuf, Vec<u8>), ReadError> {
    let path = check_length(source, name, expected_bytes)?;
    let bytes = read_whole(source, name, memory_limit)?;
    if !matches_checksum(&bytes, checksum) {
        return Err(locate(path, name, &bytes, memory_limit));
    }
    Ok((path, bytes))
}

/// Checks that a file has the length given in the manifest, and returns its path.
pub(super) fn check_length(
    source: &dyn Source,
    name: &str,
    expected_bytes: u64,
) -> Result<PathBuf, ReadError> {
    if !is_inside(name) {
        let reason = format!("{name:?} is not the name of a file inside the profile");
        return Err(ReadError::BadManifest { path: source.path(MANIFEST), reason });
    }
    let path = source.path(name);
    match source.length(name) {
        Ok(found_bytes) if found_bytes == expected_bytes => Ok(path),
        Ok(found_bytes) => Err(ReadError::WrongLength { path, expected_bytes, found_bytes }),
        Err(source) => Err(ReadError::Io { path, source }),
    }
}

/// Finds the damage in a file whose checksum is wrong, from the checksums of its sections.
fn locate(path: PathBuf, name: &str, bytes: &[u8], memory_limit: &MemoryLimit) -> ReadError {
    let found = if name == "callpaths" {
        callpaths::decode(bytes, memory_limit).err()
    } else {
        part::locate_damage(bytes)
    };
    match found {
        Some(error) => explain(&path, error),
        None => ReadError::Damaged {
            path,
            offset: 0,
            reason: "the file does not match the checksum in the manifest, but its sections match their own: bytes \
                     between them are damaged, or it belongs to another profile"
                .to_owned(),
        },
    }
}

pub(super) fn explain(path: &Path, error: FrameError) -> ReadError {
    let path = path.to_owned();
    match error {
        FrameError::Malformed(Malformed { reason, limit_bytes: Some(limit_bytes), .. }) => {
            ReadError::OverLimit { path, limit_bytes, reason }
        }
        FrameError::Malformed(at) => {
            ReadError::Damaged { path, offset: at.offset, reason: at.reason }
        }
        FrameError::NewerVersion { major, minor } => {
            ReadError::NewerVersion { path, found: (major, minor) }
        }
    }
}
