//! One hint: of what kind it is, what it is about, and its two sentences.

use crate::model::CallpathIndex;

/// What kind of thing stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintKind {
    /// A rank is slow in most regions.
    Straggler,
    /// A region is imbalanced by rank.
    Imbalance,
    /// A region takes more and more time.
    Growth,
    /// The first iteration takes much longer than the others.
    SlowFirst,
    /// A region is too small for its own measurement.
    TooSmall,
}

/// One thing that stands out, in plain words. Names in them are escaped as for a terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    /// Of what kind.
    pub kind: HintKind,
    /// The callpath, if it is about one.
    pub callpath: Option<CallpathIndex>,
    /// The rank, if it is about one.
    pub rank: Option<u32>,
    /// The first iteration that it is about, 0-based, if it is about some.
    pub iteration: Option<u64>,
    /// What it costs, in nanoseconds of one rank's time: hints are in this order.
    pub lost_ns: f64,
    /// What stands out.
    pub headline: String,
    /// The numbers that show it.
    pub evidence: String,
}

impl HintKind {
    /// The kind in one or two words, for programs.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Straggler => "straggler",
            Self::Imbalance => "imbalance",
            Self::Growth => "growth",
            Self::SlowFirst => "slow first",
            Self::TooSmall => "too small",
        }
    }
}
