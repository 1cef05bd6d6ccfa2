//! A hint: its kind, its subject, and its two sentences.

use tinyprof_format::model::CallpathIndex;

/// The kind of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HintKind {
    /// A rank that is slow in most regions.
    Straggler,
    /// A region that is imbalanced over ranks.
    Imbalance,
    /// A region whose visits take longer and longer.
    Growth,
    /// A first iteration that takes much longer than the others.
    SlowFirst,
    /// A region that is too small to be measured.
    TooSmall,
    /// A run that spends much of its time in communication.
    Communication,
    /// A run whose work is distributed unevenly over ranks.
    LoadBalance,
    /// A run that spends much of its time reading and writing.
    InputOutput,
    /// A host with more ranks than CPUs.
    Crowded,
    /// A run that is too short for its profile.
    ShortRun,
    /// Ranks that wait for messages that are sent late.
    LateSender,
    /// Ranks that wait for messages in another order than that in which they are sent.
    WrongOrder,
    /// A rank for which many others wait, or a root that waits for all.
    RootBottleneck,
    /// A barrier before an operation in which all ranks wait for each other.
    BarrierFirst,
}

/// A notable finding, in plain words. Names in the sentences are escaped for a terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    /// The kind of the hint.
    pub kind: HintKind,
    /// The callpath, if the hint is about one.
    pub callpath: Option<CallpathIndex>,
    /// The rank, if the hint is about one.
    pub rank: Option<u32>,
    /// The first iteration concerned, 0-based, if the hint is about iterations.
    pub iteration: Option<u64>,
    /// The time lost, in nanoseconds of one rank's time. Hints are sorted by it.
    pub lost_ns: f64,
    /// The finding.
    pub headline: String,
    /// The numbers that support it.
    pub evidence: String,
    /// The next step, in one short sentence.
    pub advice: String,
}

impl HintKind {
    /// Returns the kind in one or two words, for programs.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Straggler => "straggler",
            Self::Imbalance => "imbalance",
            Self::Growth => "growth",
            Self::SlowFirst => "slow first",
            Self::TooSmall => "too small",
            Self::Communication => "communication",
            Self::LoadBalance => "load balance",
            Self::InputOutput => "input and output",
            Self::Crowded => "crowded",
            Self::ShortRun => "short run",
            Self::LateSender => "late sender",
            Self::WrongOrder => "wrong order",
            Self::RootBottleneck => "root bottleneck",
            Self::BarrierFirst => "barrier",
        }
    }
}
