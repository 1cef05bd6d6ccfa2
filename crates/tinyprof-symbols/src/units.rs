//! Hides from a reader of debug information the units that do not describe the wanted addresses.
//!
//! `addr2line` reads the ranges of all units before the first look-up. Programs of Rust have
//! thousands, and that takes longer than what is done besides when such a program ends. Where
//! `.debug_aranges` tells which units are needed, these and those that they refer to stay, and each
//! row of others becomes one unit that no reader can open.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use addr2line::gimli::{
    self, Abbreviations, AttributeValue, DebugAbbrev, DebugAranges, DebugInfo, DebugInfoOffset,
    EndianSlice, Endianity as _, RunTimeEndian, UnitHeader, constants,
};

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
/// Units of `.debug_info` by their offsets.
type Units<'a> = BTreeMap<usize, UnitHeader<Slice<'a>>>;

/// The bytes of a unit's head in the 32-bit format of version 4.
const HEAD_BYTES: usize = 11;
type Head = [u8; HEAD_BYTES];

/// The sections that tell which units are needed.
pub(crate) struct Sections<'a> {
    pub(crate) info: &'a [u8],
    pub(crate) abbreviations: &'a [u8],
    pub(crate) ranges: &'a [u8],
    pub(crate) endian: RunTimeEndian,
}

/// Returns what to write into `.debug_info`, and where, so that of its units only those are there
/// that describe these addresses; none if they cannot be told from the others.
pub(crate) fn hidden(
    sections: &Sections<'_>,
    addresses: &BTreeSet<u64>,
) -> Option<Vec<(usize, Head)>> {
    let mut open: Vec<usize> = describing(sections, addresses).ok()??.into_iter().collect();
    let units = units(sections).ok()?;
    let mut needed = BTreeSet::new();
    while let Some(at) = open.pop() {
        if needed.insert(at) {
            open.extend(referred_to(units.get(&at)?, &units, sections).ok()?);
        }
    }
    let mut row: Option<Range<usize>> = None;
    let mut heads = Vec::new();
    for (&at, unit) in &units {
        let end = at + unit.length_including_self();
        if needed.contains(&at) {
            heads
                .extend(row.take().map(|row| Some((row.start, head(row.len(), sections.endian)?))));
        } else {
            row = Some(row.map_or(at, |row| row.start)..end);
        }
    }
    heads.extend(row.map(|row| Some((row.start, head(row.len(), sections.endian)?))));
    heads.into_iter().collect()
}

/// Returns the addresses in a range.
pub(crate) fn within(addresses: &BTreeSet<u64>, range: Range<u64>) -> impl Iterator<Item = &u64> {
    // Most ranges are before or behind all of them, which is quicker to see than to look for.
    let before = addresses.last().is_some_and(|last| range.start <= *last);
    let behind = addresses.first().is_some_and(|first| range.end > *first);
    let found = (before && behind && range.start < range.end).then(|| addresses.range(range));
    found.into_iter().flatten()
}

/// Returns the units that describe these addresses; none if some are in no unit, which then may be
/// one whose ranges are not listed.
fn describing(
    sections: &Sections<'_>,
    addresses: &BTreeSet<u64>,
) -> gimli::Result<Option<BTreeSet<usize>>> {
    let (mut units, mut left) = (BTreeSet::new(), addresses.clone());
    let mut lists = DebugAranges::new(sections.ranges, sections.endian).headers();
    while let Some(list) = lists.next()? {
        let mut ranges = list.entries();
        while let Some(range) = ranges.next()? {
            let range = range.range();
            if within(addresses, range.begin..range.end).next().is_some() {
                units.insert(list.debug_info_offset().0);
                left.retain(|address| !(range.begin..range.end).contains(address));
            }
        }
    }
    Ok(left.is_empty().then_some(units))
}

fn units<'a>(sections: &Sections<'a>) -> gimli::Result<Units<'a>> {
    let mut units = Units::new();
    let mut all = DebugInfo::new(sections.info, sections.endian).units();
    while let Some(unit) = all.next()? {
        units.extend(unit.debug_info_offset().map(|at| (at.0, unit)));
    }
    Ok(units)
}

/// Returns the units that the entries of a unit refer to.
fn referred_to(
    unit: &UnitHeader<Slice<'_>>,
    units: &Units<'_>,
    sections: &Sections<'_>,
) -> gimli::Result<BTreeSet<usize>> {
    let all = DebugAbbrev::new(sections.abbreviations, sections.endian);
    let abbreviations = unit.abbreviations(&all)?;
    let mut found = BTreeSet::new();
    if !may_refer(&abbreviations) {
        return Ok(found);
    }
    let mut entries = unit.entries_raw(&abbreviations, None)?;
    while !entries.is_empty() {
        let Some(entry) = entries.read_abbreviation()? else { continue };
        for kind in entry.attributes() {
            if kind.form() != constants::DW_FORM_ref_addr {
                entries.skip_attributes(&[*kind])?;
                continue;
            }
            if let AttributeValue::DebugInfoRef(DebugInfoOffset(to)) =
                entries.read_attribute(*kind)?.value()
            {
                found.extend(units.range(..=to).next_back().map(|(at, _)| *at));
            }
        }
    }
    Ok(found)
}

/// Returns whether some entry of a unit refers to another unit.
fn may_refer(abbreviations: &Abbreviations) -> bool {
    let refers = |kind: &gimli::AttributeSpecification| kind.form() == constants::DW_FORM_ref_addr;
    // Their numbers begin with 1, and have no gaps where a compiler wrote them.
    (1..)
        .map_while(|number| abbreviations.get(number))
        .any(|entry| entry.attributes().iter().any(refers))
}

/// Returns the head of a unit of this size, whose abbreviations are nowhere; none if there are
/// too many for it.
fn head(bytes: usize, endian: RunTimeEndian) -> Option<Head> {
    const VERSION: u16 = 4;
    const NOWHERE: u32 = u32::MAX;
    const ADDRESS_BYTES: u8 = 8;
    /// Longer ones are of the 64-bit format.
    const LENGTH_MAX: u32 = 0xffff_ffef;
    let length = u32::try_from(bytes.checked_sub(size_of::<u32>())?).ok()?;
    let mut head = [0; HEAD_BYTES];
    endian.write_u32(&mut head[0..4], length);
    endian.write_u16(&mut head[4..6], VERSION);
    endian.write_u32(&mut head[6..10], NOWHERE);
    head[10] = ADDRESS_BYTES;
    (bytes >= HEAD_BYTES && length <= LENGTH_MAX).then_some(head)
}
