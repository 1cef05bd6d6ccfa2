//! The metrics of a report by the names that users type.

use std::fmt;

/// The metric by which a table is sorted, or two profiles are compared.
///
/// ```
/// use tinyprof_report::SortKey;
///
/// assert_eq!(SortKey::from("exclusive"), SortKey::Exclusive);
/// assert_eq!(SortKey::from("bytes"), SortKey::Key("bytes".to_owned()));
/// assert_eq!(SortKey::from("key:visits"), SortKey::Key("visits".to_owned()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// The time from entry to exit.
    #[default]
    Inclusive,
    /// The time without that of the callees.
    Exclusive,
    /// The number of visits.
    Visits,
    /// A varying metric that the program records under this key. Untrusted, as all names are.
    Key(String),
}

impl From<&str> for SortKey {
    /// Parses a metric's name. Any unknown name is a key; the prefix `key:` selects a key with the
    /// name of a built-in metric.
    fn from(text: &str) -> Self {
        match text {
            "inclusive" => Self::Inclusive,
            "exclusive" => Self::Exclusive,
            "visits" => Self::Visits,
            key => Self::Key(key.strip_prefix("key:").unwrap_or(key).to_owned()),
        }
    }
}

impl fmt::Display for SortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inclusive => f.write_str("inclusive"),
            Self::Exclusive => f.write_str("exclusive"),
            Self::Visits => f.write_str("visits"),
            Self::Key(key) if Self::from(key.as_str()) == *self => f.write_str(key),
            Self::Key(key) => write!(f, "key:{key}"),
        }
    }
}
