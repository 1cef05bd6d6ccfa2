//! Sections: byte ranges of a file, each with a length and a checksum of its own.
//!
//! ```text
//! header   magic 8 | major u16 | minor u16 | file's own fields | crc32 of all before u32
//! sections for each: its frame, then its bytes
//! index    for each section: key u32 | offset u64 | length u64 | crc32 u32
//! footer   index offset u64 | sections u32 | crc32 of the index u32 | magic 8
//!
//! frame  key u32 | length u64 | crc32 of the section u32 | crc32 of the frame's 16 bytes before
//!          u32
//! ```
//!
//! The index is at the end, so that a part is written in one pass and one section is read without
//! the others. The frames repeat its contents, at 20 bytes each, so that a file whose end is
//! damaged or missing can be salvaged: see `salvage.rs`. Before version 1.0 there were no frames.

use std::collections::HashSet;

use crate::bytes::{Cursor, Malformed, MemoryLimit, Sink};
use crate::error::DecodeError;
use crate::model::FormatVersion;

const FOOTER_MAGIC: &[u8; 8] = b"TPRFEND\n";
const INDEX_ENTRY_BYTES: usize = 24;
pub(super) const FOOTER_BYTES: usize = 24;

/// The length of a frame, in bytes.
pub(super) const FRAME_BYTES: usize = 20;

/// A writer of a file of sections.
#[derive(Debug)]
pub(super) struct SectionWriter {
    sink: Sink,
    header_bytes: usize,
    sections: u32,
}

impl SectionWriter {
    /// Begins a file with `magic`, its version, and the numbers of its header.
    pub(super) fn new(magic: &[u8; 8], version: FormatVersion, header: &[u32]) -> Self {
        let mut sink = Sink::default();
        sink.bytes(magic);
        sink.u16(version.major);
        sink.u16(version.minor);
        header.iter().for_each(|&field| sink.u32(field));
        let checksum = crc32fast::hash(sink.as_slice());
        sink.u32(checksum);
        Self { header_bytes: sink.len(), sink, sections: 0 }
    }

    pub(super) fn section(&mut self, key: u32, bytes: &[u8]) {
        self.section_with(key, |sink| sink.bytes(bytes));
    }

    /// Appends a section. `write` appends its bytes in place, so that they are not copied.
    pub(super) fn section_with(&mut self, key: u32, write: impl FnOnce(&mut Sink)) {
        let start = self.sink.len() + FRAME_BYTES;
        self.sink.bytes(&[0; FRAME_BYTES]);
        write(&mut self.sink);
        let bytes = &self.sink.as_slice()[start..];
        let frame = frame(key, bytes.len() as u64, crc32fast::hash(bytes));
        self.sink.overwrite(start - FRAME_BYTES, &frame);
        self.sections += 1;
    }

    /// Appends the index, which is rebuilt from the frames so that no list is kept while writing.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let index_offset = self.sink.len();
        self.sink.reserve(self.sections as usize * INDEX_ENTRY_BYTES + FOOTER_BYTES);
        let mut at = self.header_bytes;
        for _ in 0..self.sections {
            let mut entry = [0; INDEX_ENTRY_BYTES];
            let frame = &self.sink.as_slice()[at..at + FRAME_BYTES];
            at += FRAME_BYTES;
            entry[..4].copy_from_slice(&frame[..4]);
            entry[4..12].copy_from_slice(&(at as u64).to_le_bytes());
            entry[12..].copy_from_slice(&frame[4..16]);
            let mut length = [0; 8];
            length.copy_from_slice(&frame[4..12]);
            self.sink.bytes(&entry);
            at += usize::try_from(u64::from_le_bytes(length)).unwrap_or(0);
        }
        let checksum = crc32fast::hash(&self.sink.as_slice()[index_offset..]);
        self.sink.u64(index_offset as u64);
        self.sink.u32(self.sections);
        self.sink.u32(checksum);
        self.sink.bytes(FOOTER_MAGIC);
        self.sink.into_vec()
    }
}

/// Returns the frame of a section with this key, length and checksum.
pub(super) fn frame(key: u32, length: u64, checksum: u32) -> [u8; FRAME_BYTES] {
    let mut frame = [0; FRAME_BYTES];
    frame[..4].copy_from_slice(&key.to_le_bytes());
    frame[4..12].copy_from_slice(&length.to_le_bytes());
    frame[12..16].copy_from_slice(&checksum.to_le_bytes());
    let own = crc32fast::hash(&frame[..16]);
    frame[16..].copy_from_slice(&own.to_le_bytes());
    frame
}

/// Returns true if `bytes` have this CRC-32. Always true when fuzzing, since a fuzzer would never
/// guess it.
pub(super) fn matches_checksum(bytes: &[u8], checksum: u32) -> bool {
    cfg!(fuzzing) || crc32fast::hash(bytes) == checksum
}

/// An error in the frame of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FrameError {
    Malformed(Malformed),
    NewerVersion { major: u16, minor: u16 },
}

impl From<Malformed> for FrameError {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl From<FrameError> for DecodeError {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Malformed(malformed) => malformed.into(),
            FrameError::NewerVersion { major, minor } => {
                Self::NewerVersion { found: (major, minor) }
            }
        }
    }
}

/// The contents of the header of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header<const FIELDS: usize> {
    /// The version of the writer.
    pub(super) version: FormatVersion,
    /// The numbers that are specific to the file.
    pub(super) fields: [u32; FIELDS],
}

impl<const FIELDS: usize> Header<FIELDS> {
    /// The length of a header, in bytes.
    pub(super) const BYTES: usize = 16 + 4 * FIELDS;

    /// Reads a header from the first bytes of a file.
    pub(super) fn read(bytes: &[u8], magic: &[u8; 8]) -> Result<Self, FrameError> {
        let mut cursor = Cursor::new(bytes, 0);
        let start = cursor.clone();
        if cursor.take(magic.len(), "the magic number")? != magic {
            let name = String::from_utf8_lossy(magic);
            return Err(start.malformed(format!("expected the magic number {name:?}")).into());
        }
        let (major, minor) = (cursor.u16("the version")?, cursor.u16("the version")?);
        if major > FormatVersion::CURRENT.major {
            return Err(FrameError::NewerVersion { major, minor });
        }
        let mut fields = [0; FIELDS];
        for field in &mut fields {
            *field = cursor.u32("the header")?;
        }
        let covered = &bytes[..bytes.len() - cursor.remaining()];
        if !matches_checksum(covered, cursor.u32("the header's checksum")?) {
            return Err(start.malformed("the header does not match its checksum").into());
        }
        Ok(Self { version: FormatVersion { major, minor }, fields })
    }
}

/// One section, as listed in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexEntry {
    pub(super) key: u32,
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) checksum: u32,
}

impl IndexEntry {
    /// Checks that `bytes` have the checksum of the section.
    pub(super) fn verify(&self, bytes: &[u8]) -> Result<(), Malformed> {
        if matches_checksum(bytes, self.checksum) {
            return Ok(());
        }
        Err(Malformed::at(self.offset, format!("section {} does not match its checksum", self.key)))
    }
}

/// A file of sections whose header, footer and index have been checked.
#[derive(Debug)]
pub(super) struct Sections<'a, const FIELDS: usize> {
    bytes: &'a [u8],
    pub(super) header: Header<FIELDS>,
    index: Vec<IndexEntry>,
}

impl<'a, const FIELDS: usize> Sections<'a, FIELDS> {
    pub(super) fn open(bytes: &'a [u8], magic: &[u8; 8]) -> Result<Self, FrameError> {
        let header = Header::read(bytes, magic)?;
        Ok(Self { bytes, header, index: read_index(bytes, Header::<FIELDS>::BYTES)? })
    }

    /// Returns the keys of the sections in the order of the file.
    pub(super) fn keys(&self) -> impl Iterator<Item = u32> {
        self.index.iter().map(|entry| entry.key)
    }

    /// Returns the sections in the order of the file.
    pub(super) fn entries(&self) -> &[IndexEntry] {
        &self.index
    }

    /// Returns the section at `position` of the index, after verifying its checksum.
    pub(super) fn section(&self, position: usize) -> Result<Cursor<'a>, Malformed> {
        let entry = self.index[position];
        Ok(Cursor::new(self.verified(entry)?, entry.offset))
    }

    /// Returns a section as [`section`](Self::section) does, with a limit on the memory that it may
    /// claim.
    pub(super) fn section_within(
        &self,
        position: usize,
        memory_limit: &'a MemoryLimit,
    ) -> Result<Cursor<'a>, Malformed> {
        let entry = self.index[position];
        Ok(Cursor::within(memory_limit, self.verified(entry)?, entry.offset))
    }

    fn verified(&self, entry: IndexEntry) -> Result<&'a [u8], Malformed> {
        let range = usize::try_from(entry.offset).ok().zip(usize::try_from(entry.length).ok());
        let range =
            range.and_then(|(start, length)| self.bytes.get(start..start.checked_add(length)?));
        let bytes = range
            .ok_or_else(|| Malformed::at(entry.offset, "a section lies outside of the file"))?;
        entry.verify(bytes)?;
        Ok(bytes)
    }
}

fn read_index(bytes: &[u8], first_section: usize) -> Result<Vec<IndexEntry>, Malformed> {
    let Some(footer_start) =
        bytes.len().checked_sub(FOOTER_BYTES).filter(|&at| at >= first_section)
    else {
        return Err(Malformed::at(
            bytes.len() as u64,
            "the file ends before its index: it was cut off",
        ));
    };
    let footer = Footer::read(&bytes[footer_start..], footer_start as u64, first_section as u64)?;
    let index =
        usize::try_from(footer.index_offset).ok().and_then(|at| bytes.get(at..footer_start));
    footer.index(index.unwrap_or_default(), first_section as u64)
}

/// The last bytes of a file, which give the offset of its index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Footer {
    pub(super) index_offset: u64,
    sections: u32,
    checksum: u32,
}

impl Footer {
    /// Reads a footer from its bytes, which begin at offset `at` of the file. The index ends there.
    pub(super) fn read(bytes: &[u8], at: u64, first_section: u64) -> Result<Self, Malformed> {
        let mut cursor = Cursor::new(bytes, at);
        let start = cursor.clone();
        let index_offset = cursor.u64("the index's offset")?;
        let sections = cursor.u32("the number of sections")?;
        let checksum = cursor.u32("the index's checksum")?;
        if cursor.take(FOOTER_MAGIC.len(), "the footer")? != FOOTER_MAGIC {
            return Err(start
                .malformed("the file does not end with an index: it was cut off or overwritten"));
        }
        let index_bytes = at.checked_sub(index_offset).filter(|_| index_offset >= first_section);
        if index_bytes != Some(u64::from(sections) * INDEX_ENTRY_BYTES as u64) {
            let reason = format!("an index of {sections} sections cannot be at {index_offset}");
            return Err(start.malformed(reason));
        }
        Ok(Self { index_offset, sections, checksum })
    }

    /// Reads the index from its bytes. The sections of a file must be in order, must not overlap,
    /// and must have different keys. Otherwise a small file could claim the same bytes many times.
    pub(super) fn index(
        &self,
        bytes: &[u8],
        first_section: u64,
    ) -> Result<Vec<IndexEntry>, Malformed> {
        if !matches_checksum(bytes, self.checksum) {
            return Err(Malformed::at(self.index_offset, "the index does not match its checksum"));
        }
        let mut cursor = Cursor::new(bytes, self.index_offset);
        let mut index: Vec<IndexEntry> = Vec::with_capacity(bytes.len() / INDEX_ENTRY_BYTES);
        let mut keys = HashSet::new();
        let mut end = first_section;
        for _ in 0..self.sections {
            let start = cursor.clone();
            let entry = IndexEntry {
                key: cursor.u32("a section's key")?,
                offset: cursor.u64("a section's offset")?,
                length: cursor.u64("a section's length")?,
                checksum: cursor.u32("a section's checksum")?,
            };
            let next =
                entry.offset.checked_add(entry.length).filter(|&next| next <= self.index_offset);
            let (Some(next), true) = (next, entry.offset >= end) else {
                let reason = format!("section {} overlaps another or the index", entry.key);
                return Err(start.malformed(reason));
            };
            if !keys.insert(entry.key) {
                return Err(start.malformed(format!("section {} is there twice", entry.key)));
            }
            end = next;
            index.push(entry);
        }
        Ok(index)
    }
}
