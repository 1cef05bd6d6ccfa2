//! The section of a callpath's times: summaries and series of all ranks of a part.

use crate::children::{self, Children};
use crate::column;
use crate::cursor::{Cursor, Damage};
use crate::series::Elements;
use crate::summaries::{Detail, Summaries, as_float};

/// The kinds of summaries: one visit each, timed ones, estimates, and those computed from the
/// series.
const SINGLE: u8 = 0;
const TIMED: u8 = 1;
const SAMPLED: u8 = 2;
const OF_SERIES: u8 = 3;

/// The kinds of series.
const NONE: u8 = 0;
const OWN: u8 = 1;
const JOINED: u8 = 2;

/// A flag in the first byte since version 0.3; in older versions, the section begins with the tag
/// of a column.
const NEWER: u8 = 16;
/// A flag in the first byte if sums are exclusive.
const EXCLUSIVE: u8 = 32;

/// The data after the summaries of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Nothing: the summaries are those of a series, which has been read.
    End,
    /// The kind of the series.
    Series,
    /// The series of each rank.
    OwnSeries,
    /// Columns that were not requested.
    Rest,
}

/// Returns whether the sums of a section are exclusive.
pub(crate) fn is_exclusive(cursor: &Cursor<'_>) -> bool {
    cursor.rest().first().is_some_and(|first| first & (NEWER | EXCLUSIVE) == NEWER | EXCLUSIVE)
}

/// Adds the summaries of a section with inclusive sums to `to`, which is empty; `children` are
/// those of the callpath.
///
/// If the summaries are those of a series, the series is read into `series`.
pub(crate) fn read_summaries(
    cursor: &mut Cursor<'_>,
    (first_rank, ranks): (u32, usize),
    detail: Detail,
    children: &Children,
    to: &mut Summaries<u64>,
    series: &mut Elements<u64>,
) -> Result<Then, Damage> {
    let start = cursor.clone();
    let exclusive = is_exclusive(cursor);
    let first = start.clone().u8("the kind of summaries")?;
    let mut kind = None;
    if first & NEWER != 0 {
        cursor.u8("the kind of summaries")?;
        kind = Some(first & !NEWER & if exclusive { !EXCLUSIVE } else { u8::MAX });
    }
    if kind == Some(OF_SERIES) && !exclusive {
        let mut own = Elements::default();
        own.read_joined(cursor, first_rank, ranks)?;
        to.add_up(cursor, &own, first_rank, ranks)?;
        series.append(own);
        return Ok(Then::End);
    }
    if kind.is_some_and(|kind| kind > SAMPLED) {
        return Err(start.damage(format!("{first} is no kind of summaries")));
    }
    let count = to.read_places(cursor, ranks, detail)?;
    if kind == Some(SINGLE) {
        cursor.charge(2 * count, "summaries")?;
        to.visits.resize(count, 1);
        if detail == Detail::All {
            to.covered.resize(count, 1);
        }
    } else {
        to.read_visits(cursor, count, detail)?;
    }
    to.read_sums(cursor, count)?;
    if exclusive {
        if !children::ascend(to) {
            return Err(
                start.damage("summaries with exclusive sums are not in the order of executions")
            );
        }
        children.complete(to);
    }
    if detail == Detail::Sums {
        return Ok(Then::Rest);
    }
    let newer = kind.is_some();
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
        to.variances.resize(count, 0.0);
    }
    Ok(if newer { Then::Series } else { Then::OwnSeries })
}

/// Adds the number of summaries of each rank, or the number of stretches if the summaries are
/// computed from series.
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

/// Reads the data after the summaries, of which nothing may be left over.
pub(crate) fn read_series(
    cursor: &mut Cursor<'_>,
    (first_rank, ranks): (u32, usize),
    then: Then,
    series: &mut Elements<u64>,
) -> Result<(), Damage> {
    let kind = match then {
        Then::Rest => return Ok(()),
        Then::End => NONE,
        Then::OwnSeries => OWN,
        Then::Series => cursor.u8("the kind of series")?,
    };
    match kind {
        NONE => {}
        OWN => series.read_own(cursor, first_rank, ranks)?,
        JOINED => series.read_joined(cursor, first_rank, ranks)?,
        other => return Err(cursor.damage(format!("{other} is no kind of series"))),
    }
    cursor.finish("a section")
}
