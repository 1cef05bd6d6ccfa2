//! The file `callpaths`: the dictionary. It is written once per profile, and sent between ranks in
//! the same encoding.
//!
//! Section 0 holds the rows. Names, modules and files are in a table of distinct strings. A row
//! refers to its parent by the difference of their row numbers (0 for a root region).
//!
//! Section 1 holds `rank_local` and constants, which only some regions have. It is omitted if no
//! region has any. Its text is not shared, so reading it takes no more memory than the length of
//! the file.

mod decode;

use std::collections::HashMap;
use std::sync::Arc;

use super::section::SectionWriter;
use crate::bytes::Sink;
use crate::error::DecodeError;
use crate::file::ReadOptions;
use crate::model::{
    Callpath, CallpathIndex, CallpathTable, FormatVersion, Lately, Mode, Region, RegionKind,
};

pub(super) use decode::{decode, decode_sections};

/// The first bytes of the file.
pub(super) const MAGIC: &[u8; 8] = b"TPRFPATH";

/// Encodes the file `callpaths`. Equal tables give equal bytes.
#[must_use]
pub fn encode_callpaths(table: &CallpathTable) -> Vec<u8> {
    let mut strings = Strings::for_regions(table.len());
    // The strings precede the rows that refer to them.
    for callpath in table.rows() {
        strings.of(&callpath.region);
    }
    let mut file = SectionWriter::new(MAGIC, FormatVersion::USUAL, &[]);
    file.section_with(0, |sink| {
        sink.varint(strings.in_order.len() as u64);
        strings.in_order.iter().for_each(|text| sink.string(text));
        sink.varint(table.len() as u64);
        for (index, callpath) in table.iter() {
            let texts = strings.of(&callpath.region);
            write_row(sink, index, callpath, texts);
        }
    });
    if let Some(extras) = encode_extras(table) {
        file.section(1, extras.as_slice());
    }
    file.finish()
}

fn write_row(sink: &mut Sink, index: CallpathIndex, callpath: &Callpath, texts: [u64; 3]) {
    let region = &callpath.region;
    sink.u64(callpath.id.to_bits());
    sink.u64(region.site.to_bits());
    sink.varint(callpath.parent.map_or(0, |p| (index.row() - p.row()) as u64));
    texts.iter().for_each(|&text| sink.varint(text));
    sink.varint(u64::from(region.line));
    sink.varint(u64::from(region.column));
    sink.u8(match region.kind {
        RegionKind::Function => 0,
        RegionKind::Scope => 1,
        RegionKind::Loop => 2,
    });
    sink.u8(match region.mode {
        Mode::Total => 0,
        Mode::Each => 1,
    });
}

/// Encodes section 1. For each row with extra data it holds the distance to the previous such row
/// (for the first: to row 0), its flags, and its constants.
fn encode_extras(table: &CallpathTable) -> Option<Sink> {
    let says_more =
        |callpath: &Callpath| callpath.region.rank_local || !callpath.region.constants.is_empty();
    let count = table.rows().iter().filter(|callpath| says_more(callpath)).count();
    let mut sink = Sink::default();
    sink.varint(count as u64);
    let mut before = 0;
    for (index, Callpath { region, .. }) in table.iter().filter(|(_, callpath)| says_more(callpath))
    {
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

/// The distinct texts of regions, in the order in which rows first refer to them.
struct Strings<'a> {
    in_order: Vec<&'a str>,
    index: HashMap<&'a str, u64>,
    lately: Lately<[u64; 3]>,
}

impl<'a> Strings<'a> {
    fn for_regions(regions: usize) -> Self {
        Self { in_order: Vec::new(), index: HashMap::new(), lately: Lately::for_regions(regions) }
    }

    /// Returns the numbers of a region's name, module and file.
    fn of(&mut self, region: &'a Arc<Region>) -> [u64; 3] {
        let Self { in_order, index, lately } = self;
        let mut intern = |text: &'a str| {
            *index.entry(text).or_insert_with(|| {
                in_order.push(text);
                in_order.len() as u64 - 1
            })
        };
        lately.of(region, |_| [intern(&region.name), intern(&region.module), intern(&region.file)])
    }
}

/// Reads the output of [`encode_callpaths`].
///
/// # Errors
/// If `bytes` are not those of a callpath table.
pub fn decode_callpaths(bytes: &[u8]) -> Result<CallpathTable, DecodeError> {
    let memory_limit = ReadOptions::default().memory_limit(bytes.len() as u64);
    Ok(decode(bytes, &memory_limit)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::section::Sections;
    use crate::model::{CallpathId, SiteId};

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
                constants: constants
                    .iter()
                    .map(|&(key, value)| (key.into(), value.into()))
                    .collect(),
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
        let table =
            table(&[(false, &[]), (true, &[]), (false, &[]), (true, &[("tag", "COMP"), ("", "")])]);
        let bytes = encode_callpaths(&table);
        assert_eq!(sections(&bytes), 2);
        assert_eq!(decode_callpaths(&bytes), Ok(table));
    }

    #[test]
    fn a_reader_accepts_sections_that_it_does_not_know() {
        let known = encode_callpaths(&table(&[(true, &[])]));
        let rows = Sections::<0>::open(&known, MAGIC).unwrap().section(0).unwrap();
        let mut file = SectionWriter::new(MAGIC, FormatVersion::USUAL, &[]);
        file.section(0, rows.clone().take(rows.remaining(), "all").unwrap());
        file.section(9, b"of a later version");
        assert_eq!(decode_callpaths(&file.finish()), Ok(table(&[(false, &[])])));
    }

    #[test]
    fn rows_that_do_not_exist_say_nothing() {
        let known = encode_callpaths(&table(&[(true, &[])]));
        let rows = Sections::<0>::open(&known, MAGIC).unwrap().section(0).unwrap();
        for extras in
            [&[1, 1, 1, 0][..], &[1, 0, 2, 0], &[1, 0, 0, 1, 5], &[9, 0, 1, 0], &[1, 0, 1, 0, 0]]
        {
            let mut file = SectionWriter::new(MAGIC, FormatVersion::USUAL, &[]);
            file.section(0, rows.clone().take(rows.remaining(), "all").unwrap());
            file.section(1, extras);
            let error = decode_callpaths(&file.finish()).expect_err("a damaged file");
            assert!(matches!(error, DecodeError::Damaged { .. }), "{error}");
        }
    }
}
