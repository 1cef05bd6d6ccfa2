//! Reads a whole profile: every length and checksum is verified, and damage names file and offset.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::section::FrameError;
use super::{callpaths, manifest, part};
use crate::error::ReadError;
use crate::model::{Manifest, Profile};

/// The profile in `directory`, with every rank's values.
///
/// # Errors
/// When the profile is unfinished, of a newer version, or damaged anywhere; the error says where.
pub fn read_profile(directory: &Path) -> Result<Profile, ReadError> {
    let manifest = manifest::read_manifest(directory)?;
    let file = &manifest.callpaths;
    let (path, bytes) = read_file(directory, &file.file, file.bytes, file.crc32)?;
    let table = callpaths::decode(&bytes).map_err(|e| explain(&path, e))?;
    let damaged =
        |path: &Path, reason: String| ReadError::Damaged { path: path.to_owned(), offset: 0, reason };
    if table.len() != file.callpaths as usize {
        let reason = format!("it has {} callpaths, the manifest says {}", table.len(), file.callpaths);
        return Err(damaged(&path, reason));
    }
    let mut ranks = Vec::new();
    let mut values = vec![Vec::new(); table.len()];
    for file in &manifest.parts {
        let (path, bytes) = read_file(directory, &file.file, file.bytes, file.crc32)?;
        let part = part::decode(&bytes, table.len(), file.ranks as usize).map_err(|e| explain(&path, e))?;
        if part.first_rank as usize != ranks.len() || part.first_rank != file.first_rank {
            let reason = format!(
                "it begins with rank {}, the manifest says {}, and rank {} is the next",
                part.first_rank,
                file.first_rank,
                ranks.len()
            );
            return Err(damaged(&path, reason));
        }
        ranks.extend(part.facts);
        for (all, here) in values.iter_mut().zip(part.values) {
            all.extend(here);
        }
    }
    check_ranks(directory, &manifest, ranks.len())?;
    Ok(Profile { manifest, callpaths: table, ranks, values })
}

fn check_ranks(directory: &Path, manifest: &Manifest, found: usize) -> Result<(), ReadError> {
    if found == manifest.ranks as usize {
        return Ok(());
    }
    let reason = format!("its parts hold {found} ranks, but it says that there are {}", manifest.ranks);
    Err(ReadError::BadManifest { path: directory.join("manifest.json"), reason })
}

fn read_file(
    directory: &Path,
    name: &str,
    expected_bytes: u64,
    checksum: u32,
) -> Result<(PathBuf, Vec<u8>), ReadError> {
    if !is_inside(name) {
        let reason = format!("{name:?} is not the name of a file inside the profile");
        return Err(ReadError::BadManifest { path: directory.join("manifest.json"), reason });
    }
    let path = directory.join(name);
    let io = |source| ReadError::Io { path: path.clone(), source };
    let found_bytes = fs::metadata(&path).map_err(io)?.len();
    if found_bytes != expected_bytes {
        return Err(ReadError::WrongLength { path, expected_bytes, found_bytes });
    }
    let bytes = fs::read(&path).map_err(io)?;
    if crc32fast::hash(&bytes) != checksum {
        return Err(locate(path, name, &bytes));
    }
    Ok((path, bytes))
}

/// Whether this is the name of a file in the profile's own directory: a manifest from a stranger must not make us read
/// files elsewhere.
pub(super) fn is_inside(name: &str) -> bool {
    let mut components = Path::new(name).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
}

/// The file as a whole is damaged: its sections' own checksums tell where.
fn locate(path: PathBuf, name: &str, bytes: &[u8]) -> ReadError {
    let found = if name == "callpaths" { callpaths::decode(bytes).err() } else { part::locate_damage(bytes) };
    match found {
        Some(error) => explain(&path, error),
        None => ReadError::Damaged {
            path,
            offset: 0,
            reason: "the file does not match the checksum in the manifest, but its own checksums agree: \
                     it may belong to another profile"
                .to_owned(),
        },
    }
}

fn explain(path: &Path, error: FrameError) -> ReadError {
    match error {
        FrameError::Malformed(at) => {
            ReadError::Damaged { path: path.to_owned(), offset: at.offset, reason: at.reason }
        }
        FrameError::NewerVersion { major, minor } => {
            ReadError::NewerVersion { path: path.to_owned(), found: (major, minor) }
        }
    }
}
