//! The file `callpaths`: the dictionary, written once per profile, and sent between ranks in the same bytes.
//!
//! Section 0 holds the rows. Names, modules and files are a table of distinct strings; a row names its parent by the
//! difference of their row numbers (0 for a root region).
//!
//! Section 1 holds what only some regions say: `rank_local`, and constants. It is left out where no region says
//! any. Its text is not shared, so that reading it takes no more memory than the file is long.

use std::collections::{BTreeMap, HashMap};

use super::section::{FrameError, SectionWriter, Sections};
use crate::bytes::{Budget, Cursor, Malformed, Sink};
use crate::file::ReadLimits;
use crate::model::{Callpath, CallpathId, CallpathTable, Link, Mode, Region, RegionKind, SiteId};

/// The first bytes of the file.
pub(super) const MAGIC: &[u8; 8] = b"TPRFPATH";

/// The fewest bytes that a row can take; bounds the allocation for a count that nobody vouches for.
const ROW_BYTES_MIN: usize = 24;

/// What a row takes in memory at most while its table is made, beside its texts.
const ROW_MEMORY_BYTES: usize = 1_024;

/// The same of a constant: its place in a map, of which a node has room for eleven.
const CONSTANT_MEMORY_BYTES: usize = 11 * 2 * size_of::<String>() + 16;

/// The same of a row of section 1.
const EXTRA_BYTES_MIN: usize = 3;

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
    if let Some(extras) = encode_extras(table) {
        file.section(1, extras.as_slice());
    }
    file.finish()
}

/// Section 1: for each row that has something to say, its distance to the one before (the first: to row 0), its
/// flags, and its constants.
fn encode_extras(table: &CallpathTable) -> Option<Sink> {
    let says_more = |callpath: &Callpath| callpath.region.rank_local || !callpath.region.constants.is_empty();
    let count = table.rows().iter().filter(|callpath| says_more(callpath)).count();
    let mut sink = Sink::default();
    sink.varint(count as u64);
    let mut before = 0;
    for (index, Callpath { region, .. }) in table.iter().filter(|(_, callpath)| says_more(callpath)) {
        sink.varint((index.row() - before) as u64);
        before = index.row();
        sink.u8(u8::from(region.rank_local));
        sink.varint(region.constants.len() as u64);
        for (key, value) in &region.constants {
            sink.string(key);
            sink.string(value);
        }
    }
    (count > 0).then_some(sink)
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
    let budget = ReadLimits::default().budget(bytes.len() as u64);
    decode(bytes, &budget).map_err(|error| match error {
        FrameError::Malformed(at) => format!("damaged at offset {}: {}", at.offset, at.reason),
        FrameError::NewerVersion { major, minor } => format!("of a newer format version, {major}.{minor}"),
    })
}

pub(super) fn decode(bytes: &[u8], budget: &Budget) -> Result<CallpathTable, FrameError> {
    let file = Sections::<0>::open(bytes, MAGIC)?;
    if file.keys().next() != Some(0) {
        return Err(Malformed::at(0, "the callpath table is missing").into());
    }
    let extras = file.keys().position(|key| key == 1);
    let extras = extras.map(|position| file.section_within(position, budget)).transpose()?;
    Ok(decode_sections(file.section_within(0, budget)?, extras)?)
}

/// The table of the two sections, of which the second may not be there.
pub(super) fn decode_sections(
    mut rows: Cursor<'_>,
    extras: Option<Cursor<'_>>,
) -> Result<CallpathTable, Malformed> {
    let start = rows.clone();
    let mut links = read_rows(&mut rows)?;
    rows.finish("the callpath table")?;
    if let Some(mut extras) = extras {
        read_extras(&mut extras, &mut links)?;
        extras.finish("what regions say besides")?;
    }
    let (table, placed) = CallpathTable::place(links);
    if placed.iter().enumerate().any(|(row, at)| at.is_none_or(|at| at.row() != row)) {
        return Err(start.malformed("the callpaths are not in canonical order"));
    }
    Ok(table)
}

fn read_rows(cursor: &mut Cursor<'_>) -> Result<Vec<Link>, Malformed> {
    let count = cursor.count(cursor.remaining(), "the number of strings")?;
    cursor.keep(count, size_of::<String>(), "the strings")?;
    let mut strings = Vec::with_capacity(count);
    for _ in 0..count {
        let text = cursor.string("a string")?;
        cursor.keep(1, text.len(), "the strings")?;
        strings.push(text);
    }
    let count = cursor.count(cursor.remaining() / ROW_BYTES_MIN, "the number of callpaths")?;
    cursor.keep(count, ROW_MEMORY_BYTES, "the callpaths")?;
    let mut rows: Vec<Link> = Vec::with_capacity(count);
    for row in 0..count {
        let id = CallpathId::from_bits(cursor.u64("a callpath id")?);
        let site = SiteId::from_bits(cursor.u64("a site id")?);
        let parent = match cursor.count(row, "the distance to the parent row")? {
            0 => None,
            distance => Some(row - distance),
        };
        let region = read_region(cursor, site, &strings)?;
        rows.push(Link { id, parent, region });
    }
    Ok(rows)
}

fn read_extras(cursor: &mut Cursor<'_>, rows: &mut [Link]) -> Result<(), Malformed> {
    let count = cursor.count(cursor.remaining() / EXTRA_BYTES_MIN, "the number of regions that say more")?;
    let mut row = 0;
    for _ in 0..count {
        let Some(last) = rows.len().checked_sub(row + 1) else {
            return Err(cursor.malformed("a callpath that does not exist says more"));
        };
        row += cursor.count(last, "the distance to the next row that says more")?;
        let region = &mut rows[row].region;
        region.rank_local = match cursor.u8("a region's flags")? {
            0 => false,
            1 => true,
            other => return Err(cursor.malformed(format!("{other} is no set of flags"))),
        };
        let constants = cursor.count(cursor.remaining() / 2, "the number of constants")?;
        cursor.keep(constants, CONSTANT_MEMORY_BYTES, "the constants")?;
        for _ in 0..constants {
            let key = cursor.string("the name of a constant")?;
            region.constants.insert(key, cursor.string("a constant")?);
        }
    }
    Ok(())
}

fn read_region(cursor: &mut Cursor<'_>, site: SiteId, strings: &[String]) -> Result<Region, Malformed> {
    let mut text = |what: &str| -> Result<String, Malformed> {
        let Some(last) = strings.len().checked_sub(1) else {
            return Err(cursor.malformed("a callpath names a string, but there is none"));
        };
        let text = &strings[cursor.count(last, what)?];
        // A long string may be that of many rows.
        cursor.keep(1, text.len(), "the names of the callpaths")?;
        Ok(text.clone())
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
    let (rank_local, constants) = (false, BTreeMap::new());
    Ok(Region { site, name, module, file, line, column, kind, mode, rank_local, constants })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(extras: &[(bool, &[(&str, &str)])]) -> CallpathTable {
        CallpathTable::from_parents((1..).zip(extras).map(|(site, (rank_local, constants))| {
            let site = SiteId::from_bits(site);
            let region = Region {
                site,
                name: "solve".into(),
                module: "app".into(),
                file: "src/main.rs".into(),
                line: 3,
                column: 1,
                kind: RegionKind::Function,
                mode: Mode::Total,
                rank_local: *rank_local,
                constants: constants.iter().map(|&(key, value)| (key.into(), value.into())).collect(),
            };
            (CallpathId::root(site), None, region)
        }))
    }

    fn sections(bytes: &[u8]) -> usize {
        Sections::<0>::open(bytes, MAGIC).unwrap().keys().count()
    }

    #[test]
    fn what_only_some_regions_say_is_kept_and_costs_nothing_where_none_does() {
        let plain = encode_callpaths(&table(&[(false, &[]), (false, &[])]));
        assert_eq!(sections(&plain), 1);
        let table = table(&[(false, &[]), (true, &[]), (false, &[]), (true, &[("tag", "COMP"), ("", "")])]);
        let bytes = encode_callpaths(&table);
        assert_eq!(sections(&bytes), 2);
        assert_eq!(decode_callpaths(&bytes), Ok(table));
    }

    #[test]
    fn a_reader_accepts_sections_that_it_does_not_know() {
        let known = encode_callpaths(&table(&[(true, &[])]));
        let rows = Sections::<0>::open(&known, MAGIC).unwrap().section(0).unwrap();
        let mut file = SectionWriter::new(MAGIC, &[]);
        file.section(0, rows.clone().take(rows.remaining(), "all").unwrap());
        file.section(9, b"of a later version");
        assert_eq!(decode_callpaths(&file.finish()), Ok(table(&[(false, &[])])));
    }

    #[test]
    fn rows_that_do_not_exist_say_nothing() {
        let known = encode_callpaths(&table(&[(true, &[])]));
        let rows = Sections::<0>::open(&known, MAGIC).unwrap().section(0).unwrap();
        for extras in [&[1, 1, 1, 0][..], &[1, 0, 2, 0], &[1, 0, 0, 1, 5], &[9, 0, 1, 0], &[1, 0, 1, 0, 0]] {
            let mut file = SectionWriter::new(MAGIC, &[]);
            file.section(0, rows.clone().take(rows.remaining(), "all").unwrap());
            file.section(1, extras);
            let error = decode_callpaths(&file.finish()).expect_err("a damaged file");
            assert!(error.contains("damaged at offset"), "{error}");
        }
    }
}
