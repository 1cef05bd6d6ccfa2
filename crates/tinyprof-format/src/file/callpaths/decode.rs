//! The decoder of the dictionary. A region that several rows share is kept once.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::MAGIC;
use crate::bytes::{Cursor, Malformed, MemoryLimit};
use crate::file::section::{FrameError, Sections};
use crate::model::{
    Callpath, CallpathId, CallpathIndex, CallpathTable, Identity, Link, Mode, Region, RegionKind,
    SiteId,
};

/// The smallest possible size of a row, in bytes. It bounds the allocation for an untrusted count.
const ROW_BYTES_MIN: usize = 24;

/// Memory of a row in the table, beside its region.
const ROW_BYTES: usize = size_of::<Callpath>() + size_of::<Identity>();

/// Additional memory of a row while the table is made, see [`CallpathTable::place`].
const ROW_PASSING_BYTES: usize = size_of::<Link>() + 136;

/// Memory of a region, which several rows may share, beside its texts.
const REGION_BYTES: usize = size_of::<Region>() + 2 * size_of::<usize>();

/// Additional memory of a region while the rows are read: its entry in a hash table that is half
/// empty and may be growing.
const REGION_PASSING_BYTES: usize = 4 * size_of::<(RegionKey, Arc<Region>)>();

/// Memory of a constant: its entry in a map whose nodes have room for eleven.
const CONSTANT_BYTES: usize = 11 * 2 * size_of::<String>() + 16;

/// The smallest possible size of a row in section 1, in bytes.
const EXTRA_BYTES_MIN: usize = 3;

/// A region as encoded in a row, with numbers for its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RegionKey {
    site: SiteId,
    /// Name, module and file.
    texts: [u32; 3],
    line: u32,
    column: u32,
    kind: RegionKind,
    mode: Mode,
}

pub(in crate::file) fn decode(
    bytes: &[u8],
    memory_limit: &MemoryLimit,
) -> Result<CallpathTable, FrameError> {
    let file = Sections::<0>::open(bytes, MAGIC)?;
    if file.keys().next() != Some(0) {
        return Err(Malformed::at(0, "the callpath table is missing").into());
    }
    let extras = file.keys().position(|key| key == 1);
    let extras = extras.map(|position| file.section_within(position, memory_limit)).transpose()?;
    Ok(decode_sections(file.section_within(0, memory_limit)?, extras)?)
}

/// Decodes the table from its two sections. The second may be missing.
pub(in crate::file) fn decode_sections(
    mut rows: Cursor<'_>,
    mut extras: Option<Cursor<'_>>,
) -> Result<CallpathTable, Malformed> {
    let start = rows.clone();
    rows.passing(|rows| {
        let mut links = read_rows(rows)?;
        rows.finish("the callpath table")?;
        if let Some(extras) = &mut extras {
            read_extras(extras, &mut links)?;
            extras.finish("what regions say besides")?;
        }
        let (table, placed) = CallpathTable::place(&links);
        if (0..).zip(&placed).any(|(row, at)| at.map(CallpathIndex::number) != Some(row)) {
            return Err(start.malformed("the callpaths are not in canonical order"));
        }
        Ok(table)
    })
}

fn read_rows(cursor: &mut Cursor<'_>) -> Result<Vec<Link>, Malformed> {
    let count = cursor.count(cursor.remaining(), "the number of strings")?;
    cursor.claim_temporary(count, size_of::<&str>(), "the strings")?;
    let mut strings = Vec::with_capacity(count);
    for _ in 0..count {
        strings.push(cursor.text("a string")?);
    }
    let count = cursor.count(cursor.remaining() / ROW_BYTES_MIN, "the number of callpaths")?;
    cursor.claim_kept(count, ROW_BYTES, "the callpaths")?;
    cursor.claim_temporary(count, ROW_PASSING_BYTES, "the callpaths")?;
    let mut rows: Vec<Link> = Vec::with_capacity(count);
    let mut regions: HashMap<RegionKey, Arc<Region>> = HashMap::new();
    for row in 0..count {
        let row = CallpathIndex::new(row).number();
        let id = CallpathId::from_bits(cursor.u64("a callpath id")?);
        let site = SiteId::from_bits(cursor.u64("a site id")?);
        let distance = cursor.count(row as usize, "the distance to the parent row")?;
        let parent = row - CallpathIndex::new(distance).number();
        let parent = (distance > 0).then_some(parent);
        let key = read_region(cursor, site, strings.len())?;
        let region = match regions.get(&key) {
            Some(known) => Arc::clone(known),
            None => {
                let region = Arc::new(region(cursor, &key, &strings)?);
                regions.insert(key, Arc::clone(&region));
                region
            }
        };
        rows.push(Link { id, parent, region });
    }
    Ok(rows)
}

fn read_region(
    cursor: &mut Cursor<'_>,
    site: SiteId,
    strings: usize,
) -> Result<RegionKey, Malformed> {
    let mut text = |what: &str| -> Result<u32, Malformed> {
        let Some(last) = strings.checked_sub(1) else {
            return Err(cursor.malformed("a callpath names a string, but there is none"));
        };
        cursor.count(last, what).map(|number| CallpathIndex::new(number).number())
    };
    let texts = [text("a name")?, text("a module")?, text("a file")?];
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
    Ok(RegionKey { site, texts, line, column, kind, mode })
}

/// Returns the region of a key seen for the first time.
fn region(cursor: &Cursor<'_>, key: &RegionKey, strings: &[&str]) -> Result<Region, Malformed> {
    cursor.claim_kept(1, REGION_BYTES, "the regions")?;
    cursor.claim_temporary(1, REGION_PASSING_BYTES, "the regions")?;
    let [name, module, file] = key.texts.map(|number| strings[number as usize]);
    for text in [name, module, file] {
        // Many regions may refer to one long string.
        cursor.claim_kept(1, text.len(), "the names of the regions")?;
    }
    let (name, module, file) = (name.to_owned(), module.to_owned(), file.to_owned());
    let RegionKey { site, line, column, kind, mode, .. } = *key;
    let (rank_local, constants) = (false, BTreeMap::new());
    Ok(Region { site, name, module, file, line, column, kind, mode, rank_local, constants })
}

/// A region without and with its extra data.
type Completed = (Arc<Region>, Arc<Region>);

fn read_extras(cursor: &mut Cursor<'_>, rows: &mut [Link]) -> Result<(), Malformed> {
    let count = cursor
        .count(cursor.remaining() / EXTRA_BYTES_MIN, "the number of regions that say more")?;
    let mut row = 0;
    // In profiles of our writers, all rows of a region have the same extra data. The keys are the
    // addresses of the regions that are kept with them.
    let mut completed: HashMap<usize, Completed> = HashMap::new();
    for _ in 0..count {
        let Some(last) = rows.len().checked_sub(row + 1) else {
            return Err(cursor.malformed("a callpath that does not exist says more"));
        };
        row += cursor.count(last, "the distance to the next row that says more")?;
        let rank_local = match cursor.u8("a region's flags")? {
            0 => false,
            1 => true,
            other => return Err(cursor.malformed(format!("{other} is no set of flags"))),
        };
        let known = &rows[row].region;
        let before = completed.get(&Arc::as_ptr(known).addr()).map(|(_, region)| region);
        let start = cursor.clone();
        let is_as_before = match before {
            Some(before) => before.rank_local == rank_local && repeats(cursor, &before.constants)?,
            None => false,
        };
        let region = match before {
            Some(before) if is_as_before => Arc::clone(before),
            _ => {
                *cursor = start;
                let constants = read_constants(cursor)?;
                let texts = known.name.len() + known.module.len() + known.file.len();
                cursor.claim_kept(1, REGION_BYTES + texts, "the regions")?;
                cursor.claim_temporary(1, 4 * size_of::<(usize, Completed)>(), "the regions")?;
                let region = Arc::new(Region { rank_local, constants, ..Region::clone(known) });
                completed
                    .insert(Arc::as_ptr(known).addr(), (Arc::clone(known), Arc::clone(&region)));
                region
            }
        };
        rows[row].region = region;
    }
    Ok(())
}

fn read_constants(cursor: &mut Cursor<'_>) -> Result<BTreeMap<String, String>, Malformed> {
    let count = cursor.count(cursor.remaining() / 2, "the number of constants")?;
    cursor.claim_kept(count, CONSTANT_BYTES, "the constants")?;
    let mut constants = BTreeMap::new();
    for _ in 0..count {
        let (key, value) = (cursor.text("the name of a constant")?, cursor.text("a constant")?);
        cursor.claim_kept(1, key.len() + value.len(), "the constants")?;
        constants.insert(key.to_owned(), value.to_owned());
    }
    Ok(constants)
}

/// Returns true if these constants follow in the order in which they are written. Allocates
/// nothing.
fn repeats(
    cursor: &mut Cursor<'_>,
    constants: &BTreeMap<String, String>,
) -> Result<bool, Malformed> {
    if cursor.count(cursor.remaining() / 2, "the number of constants")? != constants.len() {
        return Ok(false);
    }
    for (key, value) in constants {
        if cursor.text("the name of a constant")? != key || cursor.text("a constant")? != value {
            return Ok(false);
        }
    }
    Ok(true)
}
