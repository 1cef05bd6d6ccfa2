//! The metrics of a report by name: what users type.

use std::fmt;

/// Which metric a table is sorted by and shows, or a comparison is of.
///
/// ```
/// use tinyprof_format::report::MetricName;
///
/// assert_eq!(MetricName::from("exclusive"), MetricName::Exclusive);
/// assert_eq!(MetricName::from("bytes"), MetricName::Key("bytes".to_owned()));
/// assert_eq!(MetricName::from("key:visits"), MetricName::Key("visits".to_owned()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MetricName {
    /// The time from entry to exit.
    #[default]
    Inclusive,
    /// The time without that of the callpath's children.
    Exclusive,
    /// The number of visits.
    Visits,
    /// A varying metric that the program records under this key. As little trusted as names.
    Key(String),
}

impl From<&str> for MetricName {
    /// What is none of ours is a key; `key:` before it is for keys that are called like one of
    /// ours.
    fn from(text: &str) -> Self {
        match text {
            "inclusive" => Self::Inclusive,
            "exclusive" => Self::Exclusive,
            "visits" => Self::Visits,
            key => Self::Key(key.strip_prefix("key:").unwrap_or(key).to_owned()),
        }
    }
}

impl fmt::Display for MetricName {
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
