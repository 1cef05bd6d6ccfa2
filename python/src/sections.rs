//! Files of sections: header, sections with lengths and checksums, an index at the end.

use std::collections::HashSet;

use crate::cursor::{Budget, Cursor, Damage};

const FOOTER_MAGIC: &[u8] = b"TPRFEND\n";
const FOOTER_BYTES: usize = 24;
const ENTRY_BYTES: usize = 24;

/// The newest layout that this reader knows: major, minor.
pub(crate) const NEWEST: (u16, u16) = (1, 2);

/// An error in a file.
#[derive(Debug)]
pub(crate) enum FileError {
    Damaged(Damage),
    NewerVersion((u16, u16)),
}

impl From<Damage> for FileError {
    fn from(damage: Damage) -> Self {
        Self::Damaged(damage)
    }
}

/// The place of a section in its file, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) key: u32,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    crc32: u32,
}

/// A file whose header and index have been read.
#[derive(Debug)]
pub(crate) struct SectionFile {
    pub(crate) version: (u16, u16),
    pub(crate) header: Vec<u32>,
    pub(crate) sections: Vec<Section>,
}

impl SectionFile {
    /// Reads header and index of `bytes`, whose header has `fields` numbers after the version.
    pub(crate) fn open(bytes: &[u8], magic: &[u8], fields: usize) -> Result<Self, FileError> {
        let budget = Budget::new(0);
        let start = Cursor::new(bytes, 0, &budget);
        let mut cursor = start.clone();
        if cursor.take(magic.len(), "the magic number")? != magic {
            let name = String::from_utf8_lossy(magic);
            return Err(start.damage(format!("expected the magic number {name:?}")).into());
        }
        let version = (cursor.u16("the version")?, cursor.u16("the version")?);
        if version.0 > NEWEST.0 {
            return Err(FileError::NewerVersion(version));
        }
        let header =
            (0..fields).map(|_| cursor.u32("the header")).collect::<Result<Vec<_>, _>>()?;
        let covered = bytes.len() - cursor.remaining();
        if cursor.u32("the header's checksum")? != crc32fast::hash(&bytes[..covered]) {
            return Err(start.damage("the header does not match its checksum").into());
        }
        let sections = read_index(bytes, covered + 4)?;
        Ok(Self { version, header, sections })
    }

    /// Returns whether the file was written by a later version than this reader knows.
    pub(crate) fn is_newer(&self) -> bool {
        self.version > NEWEST
    }
}

impl Section {
    /// Returns a cursor over the bytes of the section, which [`SectionFile::open`] has checked to
    /// exist.
    pub(crate) fn cursor<'a>(&self, bytes: &'a [u8], budget: &'a Budget) -> Cursor<'a> {
        Cursor::new(self.bytes(bytes), self.offset, budget)
    }

    fn bytes<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        bytes.get(place(self.offset)..place(self.offset + self.length)).unwrap_or_default()
    }

    /// Returns an error unless the section matches its checksum.
    pub(crate) fn verify(&self, bytes: &[u8]) -> Result<(), Damage> {
        if crc32fast::hash(self.bytes(bytes)) == self.crc32 {
            return Ok(());
        }
        let reason = format!("section {} does not match its checksum", self.key);
        Err(Damage::at(self.offset, reason))
    }
}

fn read_index(bytes: &[u8], first_section: usize) -> Result<Vec<Section>, Damage> {
    let budget = Budget::new(0);
    let Some(footer_start) =
        bytes.len().checked_sub(FOOTER_BYTES).filter(|&at| at >= first_section)
    else {
        let reason = "the file ends before its index: it was cut off".to_owned();
        return Err(Damage::at(bytes.len() as u64, reason));
    };
    let start = Cursor::new(&bytes[footer_start..], footer_start as u64, &budget);
    let mut footer = start.clone();
    let offset = footer.u64("the index's offset")?;
    let count = footer.u32("the number of sections")? as usize;
    let crc32 = footer.u32("the index's checksum")?;
    if footer.take(FOOTER_MAGIC.len(), "the footer")? != FOOTER_MAGIC {
        return Err(
            start.damage("the file does not end with an index: it was cut off or overwritten")
        );
    }
    let index = usize::try_from(offset).ok().filter(|&at| at >= first_section);
    let index = index.and_then(|at| bytes.get(at..footer_start));
    let Some(index) = index.filter(|index| Some(index.len()) == count.checked_mul(ENTRY_BYTES))
    else {
        return Err(start.damage(format!("an index of {count} sections cannot be at {offset}")));
    };
    if crc32fast::hash(index) != crc32 {
        return Err(Damage::at(offset, "the index does not match its checksum".to_owned()));
    }
    let mut cursor = Cursor::new(index, offset, &budget);
    let mut end = first_section as u64;
    let mut keys = HashSet::new();
    let mut sections = Vec::with_capacity(count);
    for _ in 0..count {
        let here = cursor.clone();
        let section = Section {
            key: cursor.u32("a section's key")?,
            offset: cursor.u64("a section's offset")?,
            length: cursor.u64("a section's length")?,
            crc32: cursor.u32("a section's checksum")?,
        };
        let next = section.offset.checked_add(section.length).filter(|&next| next <= offset);
        let Some(next) = next.filter(|_| section.offset >= end) else {
            let Section { key, offset, length, .. } = section;
            return Err(
                here.damage(format!("section {key} of {length} bytes cannot be at {offset}"))
            );
        };
        if !keys.insert(section.key) {
            return Err(here.damage(format!("section {} is there twice", section.key)));
        }
        end = next;
        sections.push(section);
    }
    Ok(sections)
}
