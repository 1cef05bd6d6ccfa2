//! Why a text profile could not be read at all, or not be written.

use std::fmt;
use std::io;

/// Why nothing came of a text profile. Damage to single rows is no error, see
/// [`Salvage`](super::Salvage).
#[derive(Debug)]
#[non_exhaustive]
pub enum TextError {
    /// The first line names no columns `id` and `times`.
    NoHeader {
        /// The beginning of the first line.
        found: String,
    },
    /// There is a header, but no row below it that could be read.
    NoRows {
        /// The rows that are there.
        rows: u64,
    },
    /// The rows differ so much in length that a table of them would be far larger than the text.
    TooUneven {
        /// Callpaths, also those that are only named as parents.
        callpaths: usize,
        /// Ranks.
        ranks: usize,
    },
    /// The profile is so sparse or deep that its text would be far larger than what was measured.
    TooSparse {
        /// What the text would need at least.
        bytes: u64,
    },
    /// The text could not be written.
    Io(io::Error),
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHeader { found } => write!(
                f,
                "expected a header like \"id\",\"parent\",\"tag\",\"is_loop\",\"times\" on line 1, found {found:?}: \
                 this is not a text profile of TinyProf"
            ),
            Self::NoRows { rows } => {
                write!(f, "none of its {rows} rows can be read: expected one row for each callpath")
            }
            Self::TooUneven { callpaths, ranks } => write!(
                f,
                "{callpaths} callpaths on {ranks} ranks are far more than the text holds values: \
                 most rows are cut off"
            ),
            Self::TooSparse { bytes } => write!(
                f,
                "as text the profile would need {bytes} bytes, most of them for what was not measured; \
                 read the profile itself instead"
            ),
            Self::Io(error) => write!(f, "cannot write the text: {error}"),
        }
    }
}

impl std::error::Error for TextError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for TextError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
