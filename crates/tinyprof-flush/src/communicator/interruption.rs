//! The reasons why an operation of all ranks did not complete.

use std::fmt;
use std::time::Duration;

/// The reason why the ranks could not complete a step together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interruption {
    /// Some ranks gave no sign within the deadline.
    Missing {
        /// The missing ranks, in ascending order.
        ranks: Vec<u32>,
        /// The deadline.
        deadline: Duration,
    },
    /// Other ranks did not come within the deadline, and this rank does not know which.
    Late {
        /// The MPI function in which this rank waited.
        call: &'static str,
        /// The deadline.
        deadline: Duration,
    },
    /// MPI failed, or there was no memory for a message.
    Failed {
        /// The error.
        reason: String,
    },
}

impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { ranks, deadline } => {
                write!(f, "no sign of {} within {deadline:?} (TINYPROF_DEADLINE)", ranges(ranks))
            }
            Self::Late { call, deadline } => write!(
                f,
                "other ranks did not come to {call} within {deadline:?} (TINYPROF_DEADLINE)"
            ),
            Self::Failed { reason } => f.write_str(reason),
        }
    }
}

/// Formats ranks as `rank 3` or `ranks 1, 4 to 7 and 9`.
fn ranges(ranks: &[u32]) -> String {
    let runs: Vec<&[u32]> = ranks.chunk_by(|a, b| a + 1 == *b).collect();
    let mut text = match ranks.len() {
        0 => return String::new(),
        1 => "rank ".to_owned(),
        _ => "ranks ".to_owned(),
    };
    for (position, run) in runs.iter().enumerate() {
        let separator = match position {
            0 => "",
            last if last + 1 == runs.len() => " and ",
            _ => ", ",
        };
        text.push_str(separator);
        text.push_str(&match run {
            [one] => one.to_string(),
            _ => format!("{} to {}", run[0], run[run.len() - 1]),
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_listed_as_people_do() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[3]), "rank 3");
        assert_eq!(ranges(&[3, 4]), "ranks 3 to 4");
        assert_eq!(ranges(&[1, 4, 5, 6, 7, 9]), "ranks 1, 4 to 7 and 9");
        assert_eq!(ranges(&[0, 2]), "ranks 0 and 2");
    }
}
