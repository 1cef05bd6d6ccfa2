//! Writer of text profiles.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;

use super::error::TextError;
use super::names::{NULL, escape, numbered};
use super::seconds;
use super::times::{EXECUTIONS, RANKS, VISITS};
use crate::model::{
    CallpathIndex, CallpathTable, CallpathValues, Children, Mode, Profile, Region, RegionKind,
};

/// The columns that every text has, before and after those of constants.
const FIRST_COLUMNS: [&str; 3] = ["id", "parent", "tag"];
const LAST_COLUMNS: [&str; 2] = ["is_loop", "times"];

/// The limit of execution numbers that are preserved. With larger ones, too many places would be
/// empty, so executions are renumbered.
const EXECUTIONS_AS_THEY_ARE: u32 = 65_536;

/// The greatest number of executions that are renumbered.
const EXECUTIONS_MAX: usize = 1 << 22;

/// The maximum length of the text in bytes, without the values themselves: this per value, plus
/// `BYTES_FREE`. Longer texts are refused.
const BYTES_PER_VALUE: u64 = 1_024;
const BYTES_FREE: u64 = 1 << 26;

/// The parts of a profile that its text omits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// The number of varying metrics: one for each key, rank and callpath.
    pub metrics: u64,
    /// The number of records of messages: one for each kind, partner, size class, rank and
    /// callpath.
    pub messages: u64,
    /// The number of edges: one for each kind, partner, origin, rank and callpath.
    pub edges: u64,
    /// The number of sums of several visits: the text has neither the number of visits nor their
    /// minimum and maximum.
    pub sums_of_visits: u64,
    /// The number of sums that are estimates, because only some visits were timed. The text has no
    /// standard errors, and not even the sum if it has the series of the timed visits.
    pub estimates: u64,
}

/// Writes the profile in the paper's text format; see [the module](super) for the format and its
/// omissions.
///
/// Rows are in the order of the tree, siblings by name. Equal profiles give equal texts.
///
/// # Errors
/// If `out` cannot be written, or if the text would be far larger than the measured values justify.
pub fn write_text(profile: &Profile, out: &mut impl Write) -> Result<Omitted, TextError> {
    let mut survey = TextSurvey::new(profile.callpaths.len());
    for ((index, _), values) in profile.callpaths.iter().zip(&profile.values) {
        survey.add(index, values);
    }
    let writer = TextWriter::new(&profile.callpaths, survey)?;
    let mut line = Vec::new();
    writer.write(out, |index, out| {
        line.clear();
        writer.times(index, &profile.values[index.row()], &mut line);
        out.write_all(&line)
    })
}

/// The facts that the text of a profile as a whole depends on, collected callpath by callpath.
///
/// With them a [`TextWriter`] writes profiles that do not fit into memory.
#[derive(Clone, Debug)]
pub struct TextSurvey {
    rows: Vec<RowSurvey>,
    /// The numbers of all executions, at most `EXECUTIONS_MAX`.
    executions: BTreeSet<u32>,
    /// The number of summaries and of elements of series.
    measured: u64,
    omitted: Omitted,
}

/// The facts of one callpath.
#[derive(Clone, Copy, Debug, Default)]
struct RowSurvey {
    /// The number of ranks.
    ranks: u64,
    /// The number of ranks that came there.
    present: u64,
    /// The greatest number of an execution.
    last: Option<u32>,
}

impl TextSurvey {
    /// Creates the survey of a profile with this number of callpaths.
    #[must_use]
    pub fn new(callpaths: usize) -> Self {
        Self {
            rows: vec![RowSurvey::default(); callpaths],
            executions: BTreeSet::new(),
            measured: 0,
            omitted: Omitted::default(),
        }
    }

    /// Adds a callpath: its values by rank. Callpaths may be added in any order, each once.
    ///
    /// # Panics
    /// If the profile has fewer callpaths.
    pub fn add(&mut self, index: CallpathIndex, values: &[CallpathValues]) {
        for values in values {
            self.measured += (values.executions.len() + values.series.len()) as u64;
            self.omitted.add(values);
            for execution in executions_of(values) {
                if self.executions.len() < EXECUTIONS_MAX {
                    self.executions.insert(execution);
                }
            }
        }
        self.rows[index.row()] = RowSurvey {
            ranks: values.len() as u64,
            present: values.iter().filter(|values| !values.is_absent()).count() as u64,
            last: values.iter().flat_map(executions_of).max(),
        };
    }
}

/// A writer of the text of a profile whose values are given callpath by callpath.
#[derive(Debug)]
pub struct TextWriter<'a> {
    callpaths: &'a CallpathTable,
    survey: TextSurvey,
    /// The names of the constants, except the tag.
    constants: BTreeSet<&'a str>,
    /// The executions that have a place, in order; none if all have one.
    places: Option<Vec<u32>>,
    children: Children,
    /// The escaped name of each callpath, unique among its siblings.
    names: Vec<String>,
}

impl<'a> TextWriter<'a> {
    /// Creates the writer of a profile with these callpaths, all of which are in the survey.
    ///
    /// # Errors
    /// If the text would be far larger than the measured values justify.
    pub fn new(callpaths: &'a CallpathTable, survey: TextSurvey) -> Result<Self, TextError> {
        let keys = callpaths.rows().iter().flat_map(|c| c.region.constants.keys());
        let constants = keys.map(String::as_str).filter(|key| *key != FIRST_COLUMNS[2]).collect();
        let last = survey.rows.iter().filter_map(|row| row.last).max();
        let mut children = callpaths.children();
        let mut names = vec![String::new(); callpaths.len()];
        children.sort_each(|siblings| {
            siblings.sort_by_key(|at| &callpaths.get(*at).region.name);
            let mut seen: HashMap<&str, u64> = HashMap::new();
            for at in siblings {
                let name = &callpaths.get(*at).region.name;
                let number = seen.entry(name).or_default();
                *number += 1;
                names[at.row()] = numbered(&escape(name), *number);
            }
        });
        let is_sparse = last.is_some_and(|last| last >= EXECUTIONS_AS_THEY_ARE);
        let places = is_sparse.then(|| survey.executions.iter().copied().collect());
        let writer = Self { callpaths, survey, constants, places, children, names };
        writer.refuse_sparse()?;
        Ok(writer)
    }

    /// Writes the text. `times` writes what [`times`](Self::times) gives for a callpath; it is
    /// called for callers before their callees.
    ///
    /// # Errors
    /// If `out` cannot be written, and the errors of `times`.
    pub fn write<W: Write>(
        &self,
        out: &mut W,
        mut times: impl FnMut(CallpathIndex, &mut W) -> std::io::Result<()>,
    ) -> Result<Omitted, TextError> {
        let columns: Vec<String> = FIRST_COLUMNS
            .into_iter()
            .map(str::to_owned)
            .chain(self.constants.iter().map(|key| column_name(key)))
            .chain(LAST_COLUMNS.into_iter().map(str::to_owned))
            .collect();
        writeln!(out, "\"{}\"", columns.join("\",\""))?;
        let mut line = Vec::new();
        self.walk(|id, parent, index| {
            line.clear();
            self.write_names(&mut line, id, parent, index);
            out.write_all(&line)?;
            times(index, out)
        })?;
        out.flush()?;
        Ok(self.survey.omitted)
    }

    /// Calls `visit` for all rows, parents before children, with the texts of their ids and
    /// parents.
    fn walk(
        &self,
        mut visit: impl FnMut(&str, &str, CallpathIndex) -> std::io::Result<()>,
    ) -> Result<(), TextError> {
        // An explicit stack: a hostile profile may be deeper than the thread's stack. Each entry
        // has the length of its parent's text.
        let mut id = String::new();
        let below = |at: usize, length: usize| {
            self.children[at].iter().rev().map(move |child| (*child, length))
        };
        let mut waiting: Vec<(CallpathIndex, usize)> = below(self.names.len(), 0).collect();
        while let Some((index, length)) = waiting.pop() {
            id.truncate(length);
            let is_root = self.callpaths.get(index).parent.is_none();
            if !is_root {
                id.push('<');
            }
            id.push_str(&self.names[index.row()]);
            visit(&id, if is_root { NULL } else { &id[..length] }, index)?;
            waiting.extend(below(index.row(), id.len()));
        }
        Ok(())
    }

    fn write_names(&self, line: &mut Vec<u8>, id: &str, parent: &str, index: CallpathIndex) {
        let region = &self.callpaths.get(index).region;
        let constant =
            |key: &str| region.constants.get(key).map_or_else(|| NULL.to_owned(), |v| escape(v));
        for text in [id, parent, &constant(FIRST_COLUMNS[2])] {
            write_field(line, text);
        }
        self.constants.iter().for_each(|key| write_field(line, &constant(key)));
    }

    /// Appends the columns of a callpath that depend on its values by rank, and the end of its
    /// line.
    pub fn times(&self, index: CallpathIndex, values: &[CallpathValues], line: &mut Vec<u8>) {
        let region = &self.callpaths.get(index).region;
        write_field(line, is_loop(region, values));
        line.push(b'"');
        let places = self.places_up_to(self.survey.rows[index.row()].last);
        for (rank, values) in values.iter().enumerate() {
            if rank > 0 {
                line.push(RANKS);
            }
            if !values.executions.is_empty() || !values.series.is_empty() {
                self.write_rank(line, values, places);
            }
        }
        line.extend_from_slice(b"\"\n");
    }

    fn write_rank(&self, line: &mut Vec<u8>, values: &CallpathValues, places: u64) {
        let mut sums = values.executions.iter().peekable();
        let mut visits = values.series.iter().peekable();
        // A bucket of several visits may cover several executions. It then replaces their sums.
        let folded = values.series.iter().any(|b| b.visits > 1);
        let mut place = 0;
        // Both lists are sorted by execution.
        while let Some(execution) = sums
            .peek()
            .map(|e| e.execution)
            .into_iter()
            .chain(visits.peek().map(|b| b.execution))
            .min()
        {
            let here = self.place(execution);
            line.extend((place..here).map(|_| EXECUTIONS));
            place = here;
            if let Some(e) = sums.next_if(|e| e.execution == execution) {
                // The visits of an execution add up to its sum: only one of the two may be in the
                // text.
                let end = e.execution.saturating_add(e.executions.max(1));
                if !folded && visits.peek().is_none_or(|b| b.execution >= end) {
                    seconds::write(e.sum_ns, line);
                }
            }
            let mut between = None;
            while let Some(bucket) = visits.next_if(|b| b.execution == execution) {
                line.extend(between.replace(VISITS));
                seconds::write(bucket.sum_ns, line);
            }
        }
        line.extend((place + 1..places).map(|_| EXECUTIONS));
    }

    /// Returns the place of an execution among those of a rank, 0-based.
    fn place(&self, execution: u32) -> u64 {
        match &self.places {
            None => execution.into(),
            Some(places) => places.partition_point(|&before| before < execution) as u64,
        }
    }

    /// Returns the number of places of a callpath whose last execution is `last`.
    fn places_up_to(&self, last: Option<u32>) -> u64 {
        last.map_or(0, |last| self.place(last) + 1)
    }

    /// Refuses profiles whose text would be too large. A usual text is in proportion to its values;
    /// that of a hostile profile may be quadratic.
    fn refuse_sparse(&self) -> Result<(), TextError> {
        let survey = &self.survey;
        let places = survey.rows.iter().map(|row| {
            row.present.saturating_mul(self.places_up_to(row.last)).saturating_add(row.ranks)
        });
        let mut bytes = places.fold(0_u64, u64::saturating_add);
        let mut depths = vec![0_u64; self.names.len()];
        for (index, callpath) in self.callpaths.iter() {
            let above = callpath.parent.map_or(0, |parent| depths[parent.row()]);
            depths[index.row()] = above.saturating_add(self.names[index.row()].len() as u64 + 1);
            bytes = bytes.saturating_add(depths[index.row()].saturating_mul(2));
        }
        let is_too_much = survey.executions.len() >= EXECUTIONS_MAX;
        let bytes_max = survey.measured.saturating_mul(BYTES_PER_VALUE).saturating_add(BYTES_FREE);
        if bytes <= bytes_max && !is_too_much {
            return Ok(());
        }
        Err(TextError::TooSparse { bytes })
    }
}

impl Omitted {
    fn add(&mut self, values: &CallpathValues) {
        self.metrics += values.metrics.len() as u64;
        self.messages += values.messages.len() as u64;
        self.edges += values.edges.len() as u64;
        self.estimates +=
            values.executions.iter().filter(|e| e.sum_variance_ns2 > 0.0).count() as u64;
        let buckets = values.series.iter().filter(|b| b.visits > 1).count() as u64;
        let sums = values.executions.iter().filter(|_| values.series.is_empty());
        self.sums_of_visits += buckets + sums.filter(|e| e.visits > 1).count() as u64;
    }
}

fn executions_of(values: &CallpathValues) -> impl Iterator<Item = u32> + '_ {
    values.executions.iter().map(|e| e.execution).chain(values.series.iter().map(|b| b.execution))
}

/// Returns the paper's code for the kind of a row's values.
fn is_loop(region: &Region, values: &[CallpathValues]) -> &'static str {
    if region.mode == Mode::Each || values.iter().any(|v| !v.series.is_empty()) {
        "1"
    } else if region.kind == RegionKind::Loop {
        "2"
    } else {
        "0"
    }
}

/// Returns the name of a constant's column, different from those of the fixed columns.
fn column_name(key: &str) -> String {
    let escaped = escape(key);
    let taken = FIRST_COLUMNS.contains(&&*escaped) || LAST_COLUMNS.contains(&&*escaped);
    match escaped.bytes().next().filter(|_| taken) {
        Some(first) => format!("%{first:02X}{}", &escaped[1..]),
        None => escaped,
    }
}

fn write_field(line: &mut Vec<u8>, text: &str) {
    line.push(b'"');
    line.extend_from_slice(text.as_bytes());
    line.extend_from_slice(b"\",");
}
