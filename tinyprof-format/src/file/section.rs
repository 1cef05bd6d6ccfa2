//! Sections: stretches of a file with a length and a checksum of their own.
//!
//! ```text
//! header   magic 8 | major u16 | minor u16 | file's own fields | crc32 of all before u32
//! sections bytes, one after the other
//! index    for each section: key u32 | offset u64 | length u64 | crc32 u32
//! footer   index offset u64 | sections u32 | crc32 of the index u32 | magic 8
//! ```
//!
//! The index stands at the end, so that a part is written in one pass and one section is read without the rest.

use crate::bytes::{Cursor, Malformed, Sink};
use crate::model::FormatVersion;

const FOOTER_MAGIC: &[u8; 8] = b"TPRFEND\n";
const INDEX_ENTRY_BYTES: usize = 24;
const FOOTER_BYTES: usize = 24;

/// Writes a file of sections.
#[derive(Debug)]
pub(super) struct SectionWriter {
    sink: Sink,
    index: Sink,
    sections: u32,
}

impl SectionWriter {
    /// Begins a file with `magic`, the current version, and the numbers of its header.
    pub(super) fn new(magic: &[u8; 8], header: &[u32]) -> Self {
        let mut sink = Sink::default();
        sink.bytes(magic);
        sink.u16(FormatVersion::CURRENT.major);
        sink.u16(FormatVersion::CURRENT.minor);
        header.iter().for_each(|&field| sink.u32(field));
        let checksum = crc32fast::hash(sink.as_slice());
        sink.u32(checksum);
        Self { sink, index: Sink::default(), sections: 0 }
    }

    pub(super) fn section(&mut self, key: u32, bytes: &[u8]) {
        self.index.u32(key);
        self.index.u64(self.sink.len() as u64);
        self.index.u64(bytes.len() as u64);
        self.index.u32(crc32fast::hash(bytes));
        self.sink.bytes(bytes);
        self.sections += 1;
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        let index_offset = self.sink.len() as u64;
        self.sink.bytes(self.index.as_slice());
        self.sink.u64(index_offset);
        self.sink.u32(self.sections);
        self.sink.u32(crc32fast::hash(self.index.as_slice()));
        self.sink.bytes(FOOTER_MAGIC);
        self.sink.into_vec()
    }
}

/// What can be wrong with the frame of a file.
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

#[derive(Debug, Clone, Copy)]
struct IndexEntry {
    key: u32,
    offset: u64,
    length: u64,
    checksum: u32,
}

/// A file of sections whose header, footer and index have been checked.
#[derive(Debug)]
pub(super) struct Sections<'a, const HEADER: usize> {
    bytes: &'a [u8],
    /// The minor version of the writer.
    pub(super) minor: u16,
    /// The numbers of the header.
    pub(super) header: [u32; HEADER],
    index: Vec<IndexEntry>,
}

impl<'a, const HEADER: usize> Sections<'a, HEADER> {
    pub(super) fn open(bytes: &'a [u8], magic: &[u8; 8]) -> Result<Self, FrameError> {
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
        let mut header = [0; HEADER];
        for field in &mut header {
            *field = cursor.u32("the header")?;
        }
        let covered = bytes.len() - cursor.remaining();
        let found = crc32fast::hash(&bytes[..covered]);
        if cursor.u32("the header's checksum")? != found {
            return Err(start.malformed("the header does not match its checksum").into());
        }
        Ok(Self { bytes, minor, header, index: read_index(bytes, covered + 4)? })
    }

    /// The sections' keys in the order of the file.
    pub(super) fn keys(&self) -> impl Iterator<Item = u32> {
        self.index.iter().map(|entry| entry.key)
    }

    /// The section at `position` of the index, its checksum verified.
    pub(super) fn section(&self, position: usize) -> Result<Cursor<'a>, Malformed> {
        let entry = self.index[position];
        let damaged = |reason: String| Malformed { offset: entry.offset, reason };
        let range = usize::try_from(entry.offset)
            .ok()
            .zip(usize::try_from(entry.length).ok())
            .and_then(|(start, length)| self.bytes.get(start..start.checked_add(length)?));
        let Some(bytes) = range else {
            return Err(damaged(format!(
                "section {} of {} bytes lies outside of the file",
                entry.key, entry.length
            )));
        };
        if crc32fast::hash(bytes) != entry.checksum {
            return Err(damaged(format!("section {} does not match its checksum", entry.key)));
        }
        Ok(Cursor::new(bytes, entry.offset))
    }
}

fn read_index(bytes: &[u8], first_section: usize) -> Result<Vec<IndexEntry>, Malformed> {
    let Some(footer_start) = bytes.len().checked_sub(FOOTER_BYTES).filter(|&at| at >= first_section) else {
        let reason = "the file ends before its index: it was cut off".to_owned();
        return Err(Malformed { offset: bytes.len() as u64, reason });
    };
    let mut footer = Cursor::new(&bytes[footer_start..], footer_start as u64);
    let start = footer.clone();
    let index_offset = footer.u64("the index's offset")?;
    let sections = footer.u32("the number of sections")?;
    let checksum = footer.u32("the index's checksum")?;
    if footer.take(FOOTER_MAGIC.len(), "the footer")? != FOOTER_MAGIC {
        return Err(start.malformed("the file does not end with an index: it was cut off or overwritten"));
    }
    let index_bytes = usize::try_from(index_offset).ok().filter(|&at| at >= first_section);
    let index_bytes = index_bytes.and_then(|at| bytes.get(at..footer_start));
    let Some(index_bytes) = index_bytes.filter(|b| Some(b.len()) == index_length(sections)) else {
        return Err(start.malformed(format!("an index of {sections} sections cannot be at {index_offset}")));
    };
    if crc32fast::hash(index_bytes) != checksum {
        let reason = "the index does not match its checksum".to_owned();
        return Err(Malformed { offset: index_offset, reason });
    }
    let mut cursor = Cursor::new(index_bytes, index_offset);
    (0..sections)
        .map(|_| {
            Ok(IndexEntry {
                key: cursor.u32("a section's key")?,
                offset: cursor.u64("a section's offset")?,
                length: cursor.u64("a section's length")?,
                checksum: cursor.u32("a section's checksum")?,
            })
        })
        .collect()
}

fn index_length(sections: u32) -> Option<usize> {
    usize::try_from(sections).ok()?.checked_mul(INDEX_ENTRY_BYTES)
}
