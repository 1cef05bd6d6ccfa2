//! The section of a callpath's times: summaries and series of all ranks of a part.

use crate::column;
use crate::cursor::{Cursor, Damage};
use crate::series::Elements;
use crate::summaries::{Detail, Summaries, as_float};

/// The kinds of summaries: one visit each, timed ones, estimates, and those that the series tells.
const SINGLE: u8 = 0;
const TIMED: u8 = 1;
const SAMPLED: u8 = 2;
const OF_SERIES: u8 = 3;

/// The kinds of series.
const NONE: u8 = 0;
const OWN: u8 = 1;
const JOINED: u8 = 2;

/// In the first byte since version 0.3; before, the section begins with the tag of a column.
const NEWER: u8 = 16;

/// Adds the summaries of a section; the cursor then stands before the kind of the series.
///
/// Where the summaries are those of a series, that is read into `series` instead, and nothing is left to be read.
pub(crate) fn read_summaries(
    cursor: &mut Cursor<'_>,
    first_rank: u32,
    ranks: usize,
    detail: Detail,
    to: &mut Summaries<u64>,
    series: &mut Elements<u64>,
) -> Result<bool, Damage> {
    let start = cursor.clone();
    let first = cursor.clone().u8("the kind of summaries")?;
    let mut kind = None;
    if first & NEWER != 0 {
        kind = Some(cursor.u8("the kind of summaries")? & !NEWER);
    }
    if kind == Some(OF_SERIES) {
        series.read_joined(cursor, first_rank, ranks)?;
        to.add_up(cursor, series, first_rank, ranks)?;
        return Ok(true);
    }
    if kind.is_some_and(|kind| kind > SAMPLED) {
        return Err(start.damage(format!("{} is no kind of summaries", first & !NEWER)));
    }
    let count = to.read_places(cursor, ranks, detail)?;
    if kind == Some(SINGLE) {
        cursor.charge(2 * count, "summaries")?;
        to.visits.resize(to.visits.len() + count, 1);
        if detail == Detail::All {
            to.covered.resize(to.covered.len() + count, 1);
        }
    } else {
        to.read_visits(cursor, count, detail)?;
    }
    to.read_sums(cursor, count)?;
    if detail == Detail::Sums {
        return Ok(false);
    }
    let kind = match kind {
        Some(kind) => kind,
        None => cursor.u8("the kind of summaries")?,
    };
    match kind {
        SINGLE => to.spread_of_sums(cursor, count, as_float)?,
        TIMED | SAMPLED => to.read_spread(cursor, count)?,
        other => return Err(start.damage(format!("{other} is no kind of summaries"))),
    }
    if kind == SAMPLED {
        column::floats(cursor, count, "the variances", &mut to.variances)?;
    } else {
        to.variances.resize(to.variances.len() + count, 0.0);
    }
    Ok(false)
}

/// Adds how many summaries each rank has; of series that tell the summaries, how many stretches.
pub(crate) fn read_counts(
    cursor: &mut Cursor<'_>,
    ranks: usize,
    counts: &mut Vec<u64>,
) -> Result<(), Damage> {
    if cursor.clone().u8("the kind of summaries")? & NEWER != 0 {
        cursor.u8("the kind of summaries")?;
    }
    column::integers(cursor, ranks, "the numbers of summaries", counts)
}

/// Adds summaries and series of a section, of which nothing may be left over.
pub(crate) fn read_all(
    cursor: &mut Cursor<'_>,
    first_rank: u32,
    ranks: usize,
    to: &mut Summaries<u64>,
    series: &mut Elements<u64>,
) -> Result<(), Damage> {
    let newer = cursor.clone().u8("the kind of summaries")? & NEWER != 0;
    let mut own = Elements::default();
    if read_summaries(cursor, first_rank, ranks, Detail::All, to, &mut own)? {
        series.append(own);
        return cursor.finish("a section");
    }
    match if newer { cursor.u8("the kind of series")? } else { OWN } {
        NONE => {}
        OWN => series.read_own(cursor, first_rank, ranks)?,
        JOINED => series.read_joined(cursor, first_rank, ranks)?,
        other => return Err(cursor.damage(format!("{other} is no kind of series"))),
    }
    cursor.finish("a section")
}
