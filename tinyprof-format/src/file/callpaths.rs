//! The file `callpaths`: the dictionary, written once per profile, and sent between ranks in the same bytes.
//!
//! One section. Names, modules and files are a table of distinct strings; a row names its parent by the
//! difference of their row numbers (0 for a root region).

use std::collections::HashMap;

use super::section::{FrameError, SectionWriter, Sections};
use crate::bytes::{Cursor, Malformed, Sink};
use crate::model::{CallpathId, CallpathTable, Mode, Region, RegionKind, SiteId};

const MAGIC: &[u8; 8] = b"TPRFPATH";

/// The fewest bytes that a row can take; bounds the allocation for a count that nobody vouches for.
const ROW_BYTES_MIN: usize = 24;

/// The bytes of the file `callpaths`. Equal tables give equal bytes.
#[must_use]
pub fn encode_callpaths(table: &CallpathTable) -> Vec<u8> {
    let mut strings = Strings::default();
    let mut rows = Sink::default();
    for (index, callpath) in table.iter() {
        let region = &callpath.region;
        rows.u64(callpath.id.to_bits());
        rows.u64(region.site.to_bits());
        rows.varint(callpath.parent.map_or(0, |p| (index.row() - p.row()) as u64));
        for text in [&region.name, &region.module, &region.file] {
            rows.varint(strings.intern(text));
        }
        rows.varint(u64::from(region.line));
        rows.varint(u64::from(region.column));
        rows.u8(match region.kind {
            RegionKind::Function => 0,
            RegionKind::Scope => 1,
            RegionKind::Loop => 2,
        });
        rows.u8(match region.mode {
            Mode::Total => 0,
            Mode::Each => 1,
        });
    }
    let mut body = Sink::default();
    body.varint(strings.in_order.len() as u64);
    strings.in_order.iter().for_each(|text| body.string(text));
    body.varint(table.len() as u64);
    body.bytes(rows.as_slice());
    let mut file = SectionWriter::new(MAGIC, &[]);
    file.section(0, body.as_slice());
    file.finish()
}

#[derive(Default)]
struct Strings<'a> {
    in_order: Vec<&'a str>,
    index: HashMap<&'a str, u64>,
}

impl<'a> Strings<'a> {
    fn intern(&mut self, text: &'a str) -> u64 {
        *self.index.entry(text).or_insert_with(|| {
            self.in_order.push(text);
            self.in_order.len() as u64 - 1
        })
    }
}

/// Reads what [`encode_callpaths`] wrote.
///
/// # Errors
/// Text that says what is wrong and at which offset, if these are not the bytes of a callpath table.
pub fn decode_callpaths(bytes: &[u8]) -> Result<CallpathTable, String> {
    decode(bytes).map_err(|error| match error {
        FrameError::Malformed(at) => format!("damaged at offset {}: {}", at.offset, at.reason),
        FrameError::NewerVersion { major, minor } => format!("of a newer format version, {major}.{minor}"),
    })
}

pub(super) fn decode(bytes: &[u8]) -> Result<CallpathTable, FrameError> {
    let file = Sections::<0>::open(bytes, MAGIC)?;
    if file.keys().next() != Some(0) {
        let reason = "the callpath table is missing".to_owned();
        return Err(Malformed { offset: 0, reason }.into());
    }
    let mut cursor = file.section(0)?;
    let table = read_rows(&mut cursor)?;
    cursor.finish("the callpath table")?;
    Ok(table)
}

fn read_rows(cursor: &mut Cursor<'_>) -> Result<CallpathTable, Malformed> {
    let count = cursor.count(cursor.remaining(), "the number of strings")?;
    let strings = (0..count).map(|_| cursor.string("a string")).collect::<Result<Vec<_>, _>>()?;
    let count = cursor.count(cursor.remaining() / ROW_BYTES_MIN, "the number of callpaths")?;
    let mut ids: Vec<CallpathId> = Vec::with_capacity(count);
    let mut triples = Vec::with_capacity(count);
    for row in 0..count {
        let id = CallpathId::from_bits(cursor.u64("a callpath id")?);
        let site = SiteId::from_bits(cursor.u64("a site id")?);
        let parent = match cursor.count(row, "the distance to the parent row")? {
            0 => None,
            distance => Some(ids[row - distance]),
        };
        let region = read_region(cursor, site, &strings)?;
        ids.push(id);
        triples.push((id, parent, region));
    }
    let table = CallpathTable::from_parents(triples);
    if table.rows().iter().map(|c| c.id).ne(ids) {
        return Err(cursor.malformed("the callpaths are not in canonical order"));
    }
    Ok(table)
}

fn read_region(cursor: &mut Cursor<'_>, site: SiteId, strings: &[String]) -> Result<Region, Malformed> {
    let mut text = |what: &str| -> Result<String, Malformed> {
        let Some(last) = strings.len().checked_sub(1) else {
            return Err(cursor.malformed("a callpath names a string, but there is none"));
        };
        Ok(strings[cursor.count(last, what)?].clone())
    };
    let (name, module, file) = (text("a name")?, text("a module")?, text("a file")?);
    let line = cursor.varint_u32("a line")?;
    let column = cursor.varint_u32("a column")?;
    let kind = match cursor.u8("a kind")? {
        0 => RegionKind::Function,
        1 => RegionKind::Scope,
        2 => RegionKind::Loop,
        other => return Err(cursor.malformed(format!("{other} is no kind of region"))),
    };
    let mode = match cursor.u8("a mode")? {
        0 => Mode::Total,
        1 => Mode::Each,
        other => return Err(cursor.malformed(format!("{other} is no mode"))),
    };
    Ok(Region { site, name, module, file, line, column, kind, mode })
}
