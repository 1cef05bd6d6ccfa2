//! A finding: its kind, severity, certainty, place, and three sentences.

use tinyprof_format::model::CallpathIndex;
use tinyprof_vocabulary::RankSet;

use crate::facts::sampled_place::SampledPlace;

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingKind {
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
    /// Ranks that wait for a processor.
    Crowded,
    /// A run that is too short for its profile.
    ShortRun,
    /// Ranks that wait for messages that are sent late.
    LateSender,
    /// Ranks that wait for messages in another order than that in which they are sent.
    WrongOrder,
    /// A rank for which many others wait, or a root that waits for all.
    RootBottleneck,
    /// A root that waits for all others.
    WaitingRoot,
    /// A barrier before an operation in which all ranks wait for each other.
    BarrierFirst,
}

impl FindingKind {
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
            Self::WaitingRoot => "waiting root",
            Self::BarrierFirst => "barrier",
        }
    }
}

/// The certainty of the severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Certainty {
    /// The time was measured.
    Measured,
    /// The time follows from others by a model, such as that the others wait for the slowest rank.
    Estimated,
    /// The time is an upper bound: less may be lost, or nothing.
    AtMost,
}

/// The three sentences of a finding. Names in them are escaped for a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The finding.
    pub headline: String,
    /// The numbers that support it.
    pub evidence: String,
    /// The next step, in one short sentence.
    pub advice: String,
}

/// A notable finding about a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The kind.
    pub kind: FindingKind,
    /// The time lost, in nanoseconds of one rank's time. Findings are sorted by it.
    pub lost_ns: f64,
    /// The certainty of that.
    pub certainty: Certainty,
    /// The place of the cause: a callpath, if the finding is about one.
    pub place: Option<CallpathIndex>,
    /// The ranks that are the cause, as far as they are known.
    pub ranks: RankSet,
    /// The ranks that lose the time by waiting, where that is known.
    pub waiting_ranks: RankSet,
    /// The first iteration concerned, 0-based, if the finding is about iterations.
    pub iteration: Option<u64>,
    /// The kinds of other findings that this one explains, and that are left out for it.
    pub explains: Vec<FindingKind>,
    /// The function and line of it, if the program was sampled.
    pub sampled: Option<SampledPlace>,
    /// The sentences.
    pub words: Words,
}

impl Finding {
    /// Returns the severity, in seconds of one rank's time.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.lost_ns * 1e-9
    }

    /// Returns the rank, if a finding of this kind is about one.
    #[must_use]
    pub fn rank(&self) -> Option<u32> {
        match self.kind {
            FindingKind::Straggler
            | FindingKind::Imbalance
            | FindingKind::LoadBalance
            | FindingKind::RootBottleneck
            | FindingKind::WaitingRoot => self.ranks.first(),
            _ => None,
        }
    }
}
