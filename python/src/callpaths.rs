//! The dictionary: every callpath once.

use crate::cursor::{Budget, Cursor, Damage};
use crate::sections::{FileError, SectionFile};

const MAGIC: &[u8] = b"TPRFPATH";

/// The fewest bytes that a row can take.
const ROW_BYTES_MIN: usize = 24;

/// One callpath and the region at its end.
#[derive(Debug)]
pub(crate) struct Callpath {
    pub(crate) id: u64,
    pub(crate) site: u64,
    pub(crate) parent: Option<usize>,
    pub(crate) name: String,
    pub(crate) module: String,
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) kind: u8,
    pub(crate) mode: u8,
    pub(crate) rank_local: bool,
    pub(crate) constants: Vec<(String, String)>,
}

/// The rows of the file `callpaths`.
pub(crate) fn decode(bytes: &[u8], budget: &Budget) -> Result<Vec<Callpath>, FileError> {
    let file = SectionFile::open(bytes, MAGIC, 0)?;
    let start = Cursor::new(bytes, 0, budget);
    let Some(section) = file.sections.first().filter(|section| section.key == 0) else {
        return Err(start.damage("the callpath table is missing").into());
    };
    let mut cursor = section.cursor(bytes, budget);
    let mut rows = read_rows(&mut cursor)?;
    cursor.finish("the callpath table")?;
    if let Some(section) = file.sections.iter().find(|section| section.key == 1) {
        let mut cursor = section.cursor(bytes, budget);
        read_extras(&mut cursor, &mut rows)?;
        cursor.finish("what regions say besides")?;
    }
    Ok(rows)
}

fn read_rows(cursor: &mut Cursor<'_>) -> Result<Vec<Callpath>, Damage> {
    let count = cursor.count(cursor.remaining(), "the number of strings")?;
    let strings = (0..count).map(|_| cursor.string("a string")).collect::<Result<Vec<_>, _>>()?;
    let count = cursor.count(cursor.remaining() / ROW_BYTES_MIN, "the number of callpaths")?;
    let mut rows = Vec::with_capacity(count);
    for row in 0..count {
        let id = cursor.u64("a callpath id")?;
        let site = cursor.u64("a site id")?;
        let distance = cursor.count(row, "the distance to the parent row")?;
        let mut text = |what: &str| {
            let start = cursor.clone();
            let number = cursor.varint(what)?;
            let text = usize::try_from(number).ok().and_then(|number| strings.get(number));
            let text =
                text.ok_or_else(|| start.damage(format!("{what} is string {number}, which is not there")))?;
            // A long string may be that of many rows.
            cursor.charge(text.len() / 8 + 1, what)?;
            Ok::<_, Damage>((*text).to_owned())
        };
        rows.push(Callpath {
            id,
            site,
            parent: (distance > 0).then(|| row - distance),
            name: text("a name")?,
            module: text("a module")?,
            file: text("a file")?,
            line: cursor.varint_u32("a line")?,
            column: cursor.varint_u32("a column")?,
            kind: one_of(cursor, 3, "kind of region")?,
            mode: one_of(cursor, 2, "mode")?,
            rank_local: false,
            constants: Vec::new(),
        });
    }
    Ok(rows)
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
