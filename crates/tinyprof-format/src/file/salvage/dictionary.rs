//! The dictionary of a damaged profile, or a dictionary of unnamed callpaths in its place.

use super::found;
use crate::bytes::{Cursor, MemoryLimit};
use crate::error::ReadError;
use crate::file::callpaths::{self, MAGIC};
use crate::file::read::explain;
use crate::file::section::{FrameError, Header, IndexEntry, Sections};
use crate::file::source::{Source, is_inside, read_whole};
use crate::model::{
    CallpathFile, CallpathId, CallpathTable, Children, Mode, Region, RegionKind, Salvage, SiteId,
};

/// The memory of an unnamed callpath.
const UNNAMED_BYTES: u64 = 1_024;

/// The callpaths of a profile being salvaged.
pub(super) struct Dictionary {
    pub(super) table: CallpathTable,
    pub(super) children: Children,
    /// True if `children` are known, false if the dictionary is lost.
    pub(super) is_whole: bool,
}

pub(super) fn salvage(
    source: &dyn Source,
    file: &CallpathFile,
    memory_limit: &MemoryLimit,
    salvage: &mut Salvage,
) -> Result<Dictionary, ReadError> {
    if let Some((table, has_constants)) = read(source, file, memory_limit)? {
        salvage.constants_lost = !has_constants;
        let children = table.children();
        return Ok(Dictionary { table, children, is_whole: true });
    }
    salvage.callpaths_unnamed = file.callpaths;
    if !memory_limit.claim_kept(u64::from(file.callpaths) * UNNAMED_BYTES) {
        let reason = format!("{} callpaths without names", file.callpaths);
        let path = source.path(&file.file);
        return Err(ReadError::OverLimit { path, limit_bytes: memory_limit.limit_bytes(), reason });
    }
    // Ids ascend, so each callpath keeps its row.
    let unnamed =
        (0..file.callpaths).map(|row| (CallpathId::from_bits(row.into()), None, unnamed(row)));
    let table = CallpathTable::from_parents(unnamed);
    let children = table.children();
    Ok(Dictionary { table, children, is_whole: false })
}

/// Returns the table, and true if the section with extra data of regions could be read; none if the
/// rows could not.
fn read(
    source: &dyn Source,
    file: &CallpathFile,
    memory_limit: &MemoryLimit,
) -> Result<Option<(CallpathTable, bool)>, ReadError> {
    if !is_inside(&file.file) {
        return Ok(None);
    }
    let before = memory_limit.passing_bytes();
    let bytes = match read_whole(source, &file.file, memory_limit) {
        Ok(bytes) => bytes,
        Err(error @ ReadError::OverLimit { .. }) => return Err(error),
        Err(_) => return Ok(None),
    };
    let path = source.path(&file.file);
    let newer = |error: FrameError| match error {
        FrameError::NewerVersion { .. } => Err(explain(&path, error)),
        FrameError::Malformed(at) if at.limit_bytes.is_some() => Err(explain(&path, at.into())),
        FrameError::Malformed(_) => Ok(None),
    };
    let entries = match Sections::<0>::open(&bytes, MAGIC) {
        Ok(file) => file.entries().to_vec(),
        Err(error @ FrameError::NewerVersion { .. }) => return newer(error),
        Err(FrameError::Malformed(_)) => found::sections(&bytes, Header::<0>::BYTES),
    };
    let section = |key: u32| -> Option<Cursor<'_>> {
        let entry = entries.iter().find(|entry| entry.key == key)?;
        Some(Cursor::within(memory_limit, section_bytes(&bytes, entry)?, entry.offset))
    };
    let expects_constants = entries.iter().any(|entry| entry.key == 1);
    let Some(rows) = section(0) else { return Ok(None) };
    let constants = section(1);
    let has_constants = constants.is_some() || !expects_constants;
    let table = match callpaths::decode_sections(rows.clone(), constants) {
        Ok(table) => Ok(Some((table, has_constants))),
        Err(at) if at.limit_bytes.is_some() => newer(at.into()),
        Err(_) => match callpaths::decode_sections(rows, None) {
            Ok(table) => Ok(Some((table, false))),
            Err(at) => newer(at.into()),
        },
    }?;
    memory_limit.back_to(before);
    Ok(table.filter(|(table, _)| file.callpaths == 0 || table.len() == file.callpaths as usize))
}

/// Returns the bytes of a section if they match its checksum.
pub(super) fn section_bytes<'a>(bytes: &'a [u8], entry: &IndexEntry) -> Option<&'a [u8]> {
    let start = usize::try_from(entry.offset).ok()?;
    let end = start.checked_add(usize::try_from(entry.length).ok()?)?;
    bytes.get(start..end).filter(|bytes| entry.verify(bytes).is_ok())
}

fn unnamed(row: u32) -> Region {
    let name = format!("[callpath {row}]");
    let known = Region::named(SiteId::from_bits(row.into()), name);
    Region { kind: RegionKind::Scope, mode: Mode::Each, ..known }
}
