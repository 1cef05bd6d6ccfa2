//! Reader of text profiles, damaged or not.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::error::TextError;
use super::names::{NULL, unescape};
use super::paths::{self, RowPosition};
use super::records::{Record, records};
use super::row::{RowTimes, row_times};
use super::salvage::{Problem, ProblemKind, Salvage, excerpt};
use super::times;
use crate::model::{
    CallpathFile, CallpathId, CallpathTable, CallpathValues, FORMAT_NAME, FormatVersion,
    InterimTimes, Losses, Manifest, Mode, PeakMemory, PhaseTimes, Precision, Profile, RankFacts,
    Region, RegionKind, RunMetadata,
};

/// The maximum length of a column's name after unescaping: each row with a value in the column
/// keeps a copy.
const COLUMN_NAME_BYTES_MAX: usize = 255;

/// The maximum number of table cells for each byte of text. An undamaged text has at most one.
const CELLS_PER_BYTE: usize = 4;

/// The contents of a text profile, and its damage.
#[derive(Debug)]
pub struct Imported {
    /// The profile. It has times only; places in the source, hosts and facts of the run are empty.
    /// It is marked as incomplete if anything was lost.
    pub profile: Profile,
    /// The damage that was found.
    pub salvage: Salvage,
}

/// Reads a profile from the paper's text format, see [the module](super).
///
/// Only damaged values are lost, and [`Imported::salvage`] reports them. A value that cannot be
/// assigned to its rank with certainty is dropped, never guessed.
///
/// # Errors
/// If this is not such a text, or so damaged that nothing can be read.
///
/// # Cost
/// Time and memory are proportional to the length of the text, for any text.
pub fn read_text(text: &[u8]) -> Result<Imported, TextError> {
    let Some(header) = records(text, usize::MAX).next() else {
        return Err(TextError::NoHeader { found: String::new() });
    };
    let mut salvage = Salvage::default();
    let columns = Columns::of(&header, &mut salvage)?;
    let mut rows = Vec::new();
    for record in records(text, columns.count).skip(1) {
        if let Some(row) = columns.row(&record, &mut salvage) {
            rows.push(row);
        } else {
            let found = format!("{} of {} columns", record.fields.len(), columns.count);
            let id = excerpt(record.fields.get(columns.id).copied().unwrap_or_default());
            salvage.add(problem(record.line, &id, ProblemKind::MissingColumn, found));
        }
    }
    if rows.is_empty() {
        return Err(TextError::NoRows { rows: salvage.rows_lost });
    }
    let placed = place(&rows, &mut salvage);
    let ranks = usual_ranks(&rows);
    let callpaths = rows.len() + placed.ancestors.len();
    if callpaths
        .checked_mul(ranks)
        .is_none_or(|cells| cells > text.len().saturating_mul(CELLS_PER_BYTE))
    {
        return Err(TextError::TooUneven { callpaths, ranks });
    }
    let (table, values) = fill(&rows, placed, ranks, &mut salvage);
    salvage.problems.sort_by_key(|p| p.line);
    let manifest = manifest(&table, &values, ranks, &salvage);
    Ok(Imported {
        profile: Profile {
            manifest,
            callpaths: table,
            ranks: vec![RankFacts::default(); ranks],
            values,
        },
        salvage,
    })
}

/// The positions of the columns.
struct Columns {
    count: usize,
    id: usize,
    times: usize,
    parent: Option<usize>,
    is_loop: Option<usize>,
    constants: Vec<(usize, String)>,
}

/// A row, split into its columns.
struct Row<'a> {
    line: u64,
    id: Cow<'a, str>,
    parent: Option<Cow<'a, str>>,
    constants: BTreeMap<String, String>,
    is_loop: u8,
    times: &'a [u8],
    cut: bool,
}

impl Columns {
    fn of(header: &Record<'_>, salvage: &mut Salvage) -> Result<Self, TextError> {
        let names: Vec<Cow<'_, str>> =
            header.fields.iter().map(|f| String::from_utf8_lossy(f)).collect();
        let position = |name: &str| names.iter().position(|n| n == name);
        let (Some(id), Some(times)) = (position("id"), position("times")) else {
            return Err(TextError::NoHeader { found: excerpt(&header.fields.join(&b',')) });
        };
        let (parent, is_loop) = (position("parent"), position("is_loop"));
        let known = [Some(id), Some(times), parent, is_loop];
        let others = names.iter().enumerate().filter(|(at, _)| !known.contains(&Some(*at)));
        let (others, too_long): (Vec<_>, Vec<_>) =
            others.partition(|(_, name)| unescape(name).0.len() <= COLUMN_NAME_BYTES_MAX);
        for (_, name) in too_long {
            let found = excerpt(name.as_bytes());
            salvage.add(problem(header.line, "", ProblemKind::ColumnNotRead, found));
        }
        let constants = others.into_iter().map(|(at, name)| (at, unescape(name).0)).collect();
        Ok(Self { count: names.len(), id, times, parent, is_loop, constants })
    }

    /// Returns a row; none if a mandatory column is missing.
    fn row<'a>(&self, record: &Record<'a>, salvage: &mut Salvage) -> Option<Row<'a>> {
        let field = |at: usize| record.fields.get(at).copied();
        let text = |at: usize| field(at).map(String::from_utf8_lossy);
        let (id, times) = (text(self.id)?, field(self.times)?);
        if id.is_empty() {
            return None;
        }
        let mut constants = BTreeMap::new();
        for (at, key) in &self.constants {
            let Some(value) = text(*at).filter(|value| !matches!(&**value, "" | NULL)) else {
                continue;
            };
            if value.contains('|') {
                let lost = times::values(value.as_bytes());
                let found = problem(record.line, &id, ProblemKind::MetricNotRead, key.clone());
                salvage.add(Problem { values_lost: lost, ..found });
            } else {
                constants.insert(key.clone(), unescape(&value).0);
            }
        }
        let is_loop = match self.is_loop.and_then(field) {
            Some(b"1") => 1,
            Some(b"2") => 2,
            _ => 0,
        };
        let parent = self.parent.map(|at| text(at).unwrap_or_default());
        Some(Row { line: record.line, id, parent, constants, is_loop, times, cut: record.cut })
    }
}

fn problem(line: u64, id: &str, kind: ProblemKind, found: String) -> Problem {
    Problem { line, id: excerpt(id.as_bytes()), rank: None, kind, values_lost: 0, found }
}

fn place(rows: &[Row<'_>], salvage: &mut Salvage) -> paths::RowPositions {
    let texts: Vec<(&str, Option<&str>)> =
        rows.iter().map(|row| (&*row.id, row.parent.as_deref())).collect();
    let placed = paths::place(&texts);
    for (row, kind, found) in &placed.problems {
        salvage.add(problem(rows[*row].line, &rows[*row].id, *kind, excerpt(found.as_bytes())));
    }
    placed
}

/// Returns the number of ranks that most rows have places for.
fn usual_ranks(rows: &[Row<'_>]) -> usize {
    let mut rows_with: BTreeMap<usize, usize> = BTreeMap::new();
    for row in rows {
        *rows_with.entry(times::ranks(row.times)).or_default() += 1;
    }
    rows_with.into_iter().max_by_key(|&(ranks, rows)| (rows, ranks)).map_or(0, |(ranks, _)| ranks)
}

/// Returns the table and its values, row by row and then by rank.
fn fill(
    rows: &[Row<'_>],
    placed: paths::RowPositions,
    ranks: usize,
    salvage: &mut Salvage,
) -> (CallpathTable, Vec<Vec<CallpathValues>>) {
    let mut triples = Vec::new();
    let mut measured: HashMap<CallpathId, Vec<CallpathValues>> = HashMap::new();
    let mut seen = HashSet::new();
    for (row, place) in rows.iter().zip(placed.rows) {
        if !seen.insert(place.id) {
            let found = "its values are lost, too".to_owned();
            salvage.add(problem(row.line, &row.id, ProblemKind::Duplicate, found));
            continue;
        }
        let RowTimes { values, problems } = row_times(row.times, ranks, row.is_loop == 1, row.cut);
        for found in problems {
            salvage.add(Problem { line: row.line, id: excerpt(row.id.as_bytes()), ..found });
        }
        let each = row.is_loop == 1 || values.iter().any(|v| !v.series.is_empty());
        triples.push((
            place.id,
            place.parent,
            region(&place, row.is_loop, each, row.constants.clone()),
        ));
        measured.insert(place.id, values);
    }
    for place in &placed.ancestors {
        triples.push((place.id, place.parent, region(place, 0, false, BTreeMap::new())));
    }
    let table = CallpathTable::from_parents(triples);
    let absent = || vec![CallpathValues::default(); ranks];
    let values =
        table.rows().iter().map(|c| measured.remove(&c.id).unwrap_or_else(absent)).collect();
    (table, values)
}

fn region(
    place: &RowPosition,
    is_loop: u8,
    each: bool,
    constants: BTreeMap<String, String>,
) -> Region {
    Region {
        kind: if is_loop == 0 { RegionKind::Function } else { RegionKind::Loop },
        mode: if each { Mode::Each } else { Mode::Total },
        constants,
        ..Region::named(place.site, place.name.clone())
    }
}

fn manifest(
    table: &CallpathTable,
    values: &[Vec<CallpathValues>],
    ranks: usize,
    salvage: &Salvage,
) -> Manifest {
    let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let last = values.iter().flatten().filter_map(|v| v.executions.last());
    let lost = !salvage.is_whole();
    Manifest {
        format: FORMAT_NAME.to_owned(),
        version: FormatVersion::CURRENT,
        ranks: narrow(ranks),
        executions: last.map(|e| e.execution.saturating_add(e.executions)).max().unwrap_or(0),
        callpaths: CallpathFile { callpaths: narrow(table.len()), ..CallpathFile::default() },
        parts: Vec::new(),
        metadata: RunMetadata { jobsize: narrow(ranks), ..RunMetadata::default() },
        complete: !lost,
        incomplete_because: lost
            .then(|| format!("the text it was read from is damaged: {}", salvage.summary())),
        precision: Precision::Exact,
        salvage: None,
        peak_memory: PeakMemory::default(),
        interim_profiles: InterimTimes::default(),
        losses: Losses::default(),
        flush: PhaseTimes::default(),
        profile_id: None,
    }
}
