//! Errors of reading and writing a text profile.

use std::fmt;
use std::io;

/// The reason why a text profile could not be read at all, or not be written. Damage to single rows
/// is not an error, see [`Salvage`](super::Salvage).
#[derive(Debug)]
#[non_exhaustive]
pub enum TextError {
    /// A first line without columns `id` and `times`.
    NoHeader {
        /// The beginning of the first line.
        found: String,
    },
    /// A header without any readable row below it.
    NoRows {
        /// The number of rows present.
        rows: u64,
    },
    /// Rows so different in length that a table of them would be far larger than the text.
    TooUneven {
        /// The number of callpaths, including those that are only named as parents.
        callpaths: usize,
        /// The number of ranks.
        ranks: usize,
    },
    /// A profile so sparse or deep that its text would be far larger than the measured values.
    TooSparse {
        /// The minimum length of the text.
        bytes: u64,
    },
    /// An error while writing the text.
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
