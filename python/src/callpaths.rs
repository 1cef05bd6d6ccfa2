//! The dictionary, which contains every callpath once.

use crate::cursor::{Budget, Cursor, Damage};
use crate::sections::{FileError, SectionFile};

const MAGIC: &[u8] = b"TPRFPATH";

/// The smallest size of a row, in bytes.
const ROW_BYTES_MIN: usize = 24;

/// The memory charged for a row. The Python object made from it is charged to the caller.
const ROW_BYTES: u64 = size_of::<Callpath>() as u64;

/// The dictionary. Texts are stored once, as most regions occur in many rows.
#[derive(Debug, Default)]
pub(crate) struct Callpaths {
    pub(crate) rows: Vec<Callpath>,
    pub(crate) strings: Vec<String>,
}

/// One callpath and the region at its end.
#[derive(Debug)]
pub(crate) struct Callpath {
    pub(crate) id: u64,
    pub(crate) site: u64,
    /// The row of the parent plus one, or 0 for a root region.
    behind_parent: u32,
    /// The indices of name, module and file among the strings.
    pub(crate) texts: [u32; 3],
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) kind: u8,
    pub(crate) mode: u8,
    pub(crate) rank_local: bool,
    pub(crate) constants: Vec<(String, String)>,
}

impl Callpath {
    /// Returns the row of the parent, or `None` for a root region.
    pub(crate) fn parent(&self) -> Option<usize> {
        self.behind_parent.checked_sub(1).map(|row| row as usize)
    }
}

/// Decodes the rows of the file `callpaths`.
pub(crate) fn decode(bytes: &[u8], budget: &Budget) -> Result<Callpaths, FileError> {
    let file = SectionFile::open(bytes, MAGIC, 0)?;
    let start = Cursor::new(bytes, 0, budget);
    let Some(section) = file.sections.first().filter(|section| section.key == 0) else {
        return Err(start.damage("the callpath table is missing").into());
    };
    let mut cursor = section.cursor(bytes, budget);
    let mut callpaths = read_rows(&mut cursor)?;
    cursor.finish("the callpath table")?;
    if let Some(section) = file.sections.iter().find(|section| section.key == 1) {
        let mut cursor = section.cursor(bytes, budget);
        read_extras(&mut cursor, &mut callpaths.rows)?;
        cursor.finish("what regions say besides")?;
    }
    Ok(callpaths)
}

fn read_rows(cursor: &mut Cursor<'_>) -> Result<Callpaths, Damage> {
    let count = cursor.count(cursor.remaining(), "the number of strings")?;
    cursor.charge_bytes((count * size_of::<String>()) as u64, "the strings")?;
    let mut strings = Vec::with_capacity(count);
    for _ in 0..count {
        let text = cursor.string("a string")?;
        cursor.charge_bytes(text.len() as u64, "the strings")?;
        strings.push(text.to_owned());
    }
    let most = (cursor.remaining() / ROW_BYTES_MIN).min(u32::MAX as usize);
    let count = cursor.count(most, "the number of callpaths")?;
    cursor.charge_bytes(count as u64 * ROW_BYTES, "the callpaths")?;
    let mut rows = Vec::with_capacity(count);
    for row in 0..count {
        let id = cursor.u64("a callpath id")?;
        let site = cursor.u64("a site id")?;
        let distance = cursor.count(row, "the distance to the parent row")?;
        let behind_parent = if distance == 0 { 0 } else { row - distance + 1 };
        let mut text = |what: &str| {
            let start = cursor.clone();
            let number = cursor.varint(what)?;
            let known =
                u32::try_from(number).ok().filter(|&known| (known as usize) < strings.len());
            known.ok_or_else(|| {
                start.damage(format!("{what} is string {number}, which is not there"))
            })
        };
        rows.push(Callpath {
            id,
            site,
            behind_parent: u32::try_from(behind_parent).unwrap_or(0),
            texts: [text("a name")?, text("a module")?, text("a file")?],
            line: cursor.varint_u32("a line")?,
            column: cursor.varint_u32("a column")?,
            kind: one_of(cursor, 3, "kind of region")?,
            mode: one_of(cursor, 2, "mode")?,
            rank_local: false,
            constants: Vec::new(),
        });
    }
    Ok(Callpaths { rows, strings })
}

fn one_of(cursor: &mut Cursor<'_>, choices: u8, what: &str) -> Result<u8, Damage> {
    let start = cursor.clone();
    let found = cursor.u8(what)?;
    if found < choices { Ok(found) } else { Err(start.damage(format!("{found} is no {what}"))) }
}

fn read_extras(cursor: &mut Cursor<'_>, rows: &mut [Callpath]) -> Result<(), Damage> {
    let mut row = 0;
    for _ in 0..cursor.count(cursor.remaining(), "the number of regions that say more")? {
        let Some(last) = rows.len().checked_sub(row + 1) else {
            return Err(cursor.damage("a callpath that does not exist says more"));
        };
        row += cursor.count(last, "the distance to the next row that says more")?;
        rows[row].rank_local = one_of(cursor, 2, "set of flags")? == 1;
        for _ in 0..cursor.count(cursor.remaining(), "the number of constants")? {
            let key = cursor.string("the name of a constant")?.to_owned();
            rows[row].constants.push((key, cursor.string("a constant")?.to_owned()));
        }
    }
    Ok(())
}
