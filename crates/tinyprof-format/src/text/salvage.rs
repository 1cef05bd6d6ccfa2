//! The damage of a text profile as data: its place, the values lost, and the values kept.

use std::fmt;

use serde::Serialize;

/// The maximum number of problems listed one by one. The counts of lost rows and values include all
/// of them.
const LISTED_MAX: usize = 1_000;

/// The maximum length of an excerpt of damaged text, in characters.
const SHOWN_MAX: usize = 48;

/// The damage of a text profile. Usually there is none, see [`is_whole`](Self::is_whole).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Salvage {
    /// The number of rows lost completely.
    pub rows_lost: u64,
    /// The number of values lost, without those of lost rows.
    pub values_lost: u64,
    /// The problems, in the order of the file; the first thousand.
    pub problems: Vec<Problem>,
    /// The number of further problems.
    pub problems_not_listed: u64,
}

/// A problem at one place of a text profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// The line of the file, 1-based; the header is line 1.
    pub line: u64,
    /// The id of the row, as far as it could be read.
    pub id: String,
    /// The rank, 0-based, if the problem concerns a single one.
    pub rank: Option<u32>,
    /// The kind of problem.
    pub kind: ProblemKind,
    /// The number of values lost; 0 if all were kept.
    pub values_lost: u64,
    /// The beginning of the damaged text, or a short description.
    pub found: String,
}

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// A row with fewer columns than the header, or without an id. Lost.
    MissingColumn,
    /// A row of the same callpath as an earlier row. Lost.
    Duplicate,
    /// A file or row that ends inside the times. The last value is not trusted.
    CutOff,
    /// Values of two ranks with a comma between them instead of a `|`. Kept, as this gives the
    /// expected number of ranks.
    RanksRunTogether,
    /// A row with another number of ranks than the others. Values that cannot be assigned to a rank
    /// are lost.
    WrongRanks,
    /// A value that is not a number of seconds. Lost; the executions or visits around it are kept.
    BadValue,
    /// Ranks with different numbers of executions. Kept, counted from the first.
    UnequalExecutions,
    /// A `parent` that contradicts the id. The id counts.
    ParentDisagrees,
    /// A parent without a row. Kept: the parent gets no times.
    ParentMissing,
    /// A column of constants with too long a name. The column is left out; it held no times.
    ColumnNotRead,
    /// A column with a metric that varies from visit to visit. Lost: only times are read.
    MetricNotRead,
}

impl Salvage {
    /// Returns true if nothing was lost. There may still be problems without a loss.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.rows_lost == 0 && self.values_lost == 0
    }

    /// Returns the number of problems, listed or not.
    #[must_use]
    pub fn problem_count(&self) -> u64 {
        self.problems_not_listed + self.problems.len() as u64
    }

    /// Returns the losses in a few words: `2 rows and 17 values lost`.
    #[must_use]
    pub fn summary(&self) -> String {
        match (self.rows_lost, self.values_lost) {
            (0, 0) => "nothing was lost".to_owned(),
            (rows, 0) => format!("{} lost", counted(rows, "row")),
            (0, values) => format!("{} lost", counted(values, "value")),
            (rows, values) => {
                format!("{} and {} lost", counted(rows, "row"), counted(values, "value"))
            }
        }
    }

    /// Adds the damage of a text whose ranks come after `ranks_before` others.
    pub(super) fn absorb(&mut self, later: Self, ranks_before: u32) {
        self.rows_lost += later.rows_lost;
        self.values_lost = self.values_lost.saturating_add(later.values_lost);
        let room = LISTED_MAX.saturating_sub(self.problems.len());
        self.problems_not_listed +=
            later.problems_not_listed + later.problems.len().saturating_sub(room) as u64;
        let moved = later.problems.into_iter().map(|problem| Problem {
            rank: problem.rank.map(|rank| rank.saturating_add(ranks_before)),
            ..problem
        });
        self.problems.extend(moved.take(room));
    }

    pub(super) fn add(&mut self, problem: Problem) {
        match problem.kind {
            ProblemKind::MissingColumn | ProblemKind::Duplicate => self.rows_lost += 1,
            _ => self.values_lost = self.values_lost.saturating_add(problem.values_lost),
        }
        if self.problems.len() < LISTED_MAX {
            self.problems.push(problem);
        } else {
            self.problems_not_listed += 1;
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, {:?}", self.line, self.id)?;
        if let Some(rank) = self.rank {
            write!(f, ", rank {rank}")?;
        }
        let (found, lost) = (&self.found, counted(self.values_lost, "value"));
        match self.kind {
            ProblemKind::MissingColumn => {
                write!(f, ": a column is missing, the row is lost ({found})")
            }
            ProblemKind::Duplicate => {
                write!(f, ": an earlier row is of the same callpath, this one is lost ({found})")
            }
            ProblemKind::CutOff => {
                write!(f, ": cut off inside the times; the last value is not trusted ({found:?})")
            }
            ProblemKind::RanksRunTogether => {
                write!(
                    f,
                    ": two ranks' values run together, {found:?}; read as two, which gives the right number"
                )
            }
            ProblemKind::WrongRanks => write!(f, ": {found}; {lost} lost"),
            ProblemKind::BadValue => {
                write!(f, ": expected seconds, found {found:?}; {lost} lost")
            }
            ProblemKind::UnequalExecutions => {
                write!(f, ": {found}; all are kept, counted from the first")
            }
            ProblemKind::ParentDisagrees => {
                write!(f, ": its parent is said to be {found:?}; the id counts")
            }
            ProblemKind::ParentMissing => {
                write!(f, ": no row of its parent {found:?}, which gets no times")
            }
            ProblemKind::ColumnNotRead => {
                write!(f, ": the column {found:?} has too long a name and is left out")
            }
            ProblemKind::MetricNotRead => {
                write!(f, ": column {found:?} holds a metric, only times are read; {lost} lost")
            }
        }
    }
}

/// Returns `1 value`, `2 values`.
fn counted(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// Returns the beginning of damaged text.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    // A character has at most four bytes, so this many bytes are enough.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * SHOWN_MAX)]);
    let mut shown: String = text.chars().take(SHOWN_MAX).collect();
    if shown.len() < bytes.len() {
        shown.push_str("...");
    }
    shown
}
