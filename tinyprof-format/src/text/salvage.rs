//! What was wrong with a text profile, as data: where, what was lost, what was kept.

use std::fmt;

use serde::Serialize;

/// So many problems are listed one by one. The numbers of what was lost count all of them.
const LISTED_MAX: usize = 1_000;

/// What is shown of damaged text, in characters.
const SHOWN_MAX: usize = 48;

/// What of a text profile was damaged, and what that cost. [Whole](Self::is_whole) in the usual
/// case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Salvage {
    /// Rows of which nothing was kept.
    pub rows_lost: u64,
    /// Values that were not kept, those of lost rows not counted.
    pub values_lost: u64,
    /// What was wrong, in the order of the file; the first thousand.
    pub problems: Vec<Problem>,
    /// How many more problems there were.
    pub problems_not_listed: u64,
}

/// One place of a text profile that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The line of the file, 1-based; the header is line 1.
    pub line: u64,
    /// The id of the row, as far as it could be read.
    pub id: String,
    /// The rank, 0-based, where the problem is that of one.
    pub rank: Option<u32>,
    /// What is wrong.
    pub kind: ProblemKind,
    /// How many values were lost; 0 where all was kept.
    pub values_lost: u64,
    /// The beginning of the damaged text, or a word on what was found.
    pub found: String,
}

/// What can be wrong with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// The row has fewer columns than the header, or no id. Lost.
    MissingColumn,
    /// An earlier row is of the same callpath. Lost.
    Duplicate,
    /// The file or the row ends inside the times. The last value is not trusted.
    CutOff,
    /// The values of two ranks have a comma between them instead of a `|`. Kept, as the number of
    /// ranks is then right.
    RanksRunTogether,
    /// The row has another number of ranks than the others. What cannot belong to its rank is lost.
    WrongRanks,
    /// A value is no number of seconds. Lost; the executions or visits around it are kept.
    BadValue,
    /// Ranks have different numbers of executions. Kept: they are counted from the first.
    UnequalExecutions,
    /// The column `parent` does not say what the id says. The id counts.
    ParentDisagrees,
    /// No row is of the parent. Kept: the parent has no times.
    ParentMissing,
    /// The name of a column of constants is too long. The column is left out; it held no times.
    ColumnNotRead,
    /// A column holds a metric that varies from visit to visit. Lost: only times are read.
    MetricNotRead,
}

impl Salvage {
    /// Whether nothing was lost. There may still be problems that cost nothing.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.rows_lost == 0 && self.values_lost == 0
    }

    /// How many problems there were, listed or not.
    #[must_use]
    pub fn problem_count(&self) -> u64 {
        self.problems_not_listed + self.problems.len() as u64
    }

    /// What was lost, in a few words: `2 rows and 17 values were lost`.
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

    /// Adds what was wrong with a text whose ranks come after `ranks_before` others.
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

/// `1 value`, `2 values`.
fn counted(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// The beginning of damaged text.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    // A character has at most four bytes, so that no more than this need be looked at.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * SHOWN_MAX)]);
    let mut shown: String = text.chars().take(SHOWN_MAX).collect();
    if shown.len() < bytes.len() {
        shown.push_str("...");
    }
    shown
}
