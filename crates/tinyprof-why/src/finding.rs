//! A finding: its cause, the place of that, who waits for it, and what to do.

use tinyprof_messages::graph::RankSet;
use tinyprof_report::{Certainty, SampledPlace, Totals};

use crate::place::{Place, sampled_name};

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Ranks wait for a message that is sent late.
    LateSender,
    /// Senders wait for a receive that is posted late.
    LateReceiver,
    /// Ranks wait in an operation of all for one that comes late.
    LateToCollective,
    /// Ranks wait for the root of a broadcast or scatter.
    LateRoot,
    /// Ranks wait at windows or locks for another one.
    LateToWindow,
    /// A rank takes longer in nearly everything.
    SlowRank,
    /// A rank serves all others, which wait for it.
    MasterSaturated,
    /// A rank waits for the results of all others and does little else.
    MasterStarving,
    /// Ranks work one after another.
    Serialisation,
    /// Ranks take turns to be late: their times vary, but their sums are equal.
    TurnsToBeLate,
    /// Ranks share processors, and are late because they do not get them.
    Oversubscription,
    /// Ranks hold a lock of a window, one after another.
    LockContention,
    /// Ranks wait for one that reads or writes a file.
    SerialIo,
    /// One rank computes more than others, at a level that does not tell who waits.
    Imbalance,
    /// Many small messages.
    SmallMessages,
    /// Large messages that take long to travel.
    Bandwidth,
    /// Large messages that nobody computes beside.
    NoOverlap,
    /// Many tests for messages that have not come.
    Polling,
    /// Messages are received in another order than that in which they are sent.
    WrongOrder,
    /// A barrier beside an operation that waits for all ranks itself.
    RedundantBarrier,
    /// A single visit takes much longer than all others.
    OneSlowVisit,
    /// Many causes, each of which is small.
    ManyCauses,
    /// What a rule of the command has found, which has a name of its own.
    OfRule,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 23] = [
        Self::LateSender,
        Self::LateReceiver,
        Self::LateToCollective,
        Self::LateRoot,
        Self::LateToWindow,
        Self::SlowRank,
        Self::MasterSaturated,
        Self::MasterStarving,
        Self::Serialisation,
        Self::TurnsToBeLate,
        Self::Oversubscription,
        Self::LockContention,
        Self::SerialIo,
        Self::Imbalance,
        Self::SmallMessages,
        Self::Bandwidth,
        Self::NoOverlap,
        Self::Polling,
        Self::WrongOrder,
        Self::RedundantBarrier,
        Self::OneSlowVisit,
        Self::ManyCauses,
        Self::OfRule,
    ];

    /// Returns the kind as a word for programs: `late_sender`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::LateSender => "late_sender",
            Self::LateReceiver => "late_receiver",
            Self::LateToCollective => "late_to_collective",
            Self::LateRoot => "late_root",
            Self::LateToWindow => "late_to_window",
            Self::SlowRank => "slow_rank",
            Self::MasterSaturated => "master_saturated",
            Self::MasterStarving => "master_starving",
            Self::Serialisation => "serialisation",
            Self::TurnsToBeLate => "turns_to_be_late",
            Self::Oversubscription => "oversubscription",
            Self::LockContention => "lock_contention",
            Self::SerialIo => "serial_io",
            Self::Imbalance => "imbalance",
            Self::SmallMessages => "small_messages",
            Self::Bandwidth => "bandwidth",
            Self::NoOverlap => "no_overlap",
            Self::Polling => "polling",
            Self::WrongOrder => "wrong_order",
            Self::RedundantBarrier => "redundant_barrier",
            Self::OneSlowVisit => "one_slow_visit",
            Self::ManyCauses => "many_causes",
            Self::OfRule => "rule",
        }
    }
}

/// A link of the chain from the cause to those who wait.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Link {
    /// The ranks.
    pub ranks: RankSet,
    /// The place, if it is known.
    pub place: Option<Place>,
    /// The waiting that it explains, of all ranks together, in ns.
    pub ns: f64,
    /// A few words on what happens there.
    pub why: String,
}

/// A problem of a run: what it costs, why, where, and what to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind.
    pub kind: Kind,
    /// The name of the rule that has found it, if it is of that kind.
    pub rule: Option<String>,
    /// The time that would be gained at most, in ns of one rank's time.
    pub lost_ns: f64,
    /// The certainty of that.
    pub certainty: Certainty,
    /// The ranks that are the cause.
    pub ranks: RankSet,
    /// The place of the cause, if it is known.
    pub place: Option<Place>,
    /// The function and line in which the ranks are longer than others, if the program was sampled.
    pub sampled: Option<SampledPlace>,
    /// The call in which most of the waiting is.
    pub waits_at: Option<Place>,
    /// The ranks that wait.
    pub waiting_ranks: RankSet,
    /// The cause and its parts. Their times add up to the waiting.
    pub chain: Vec<Link>,
    /// The cause, its place and its effect in one sentence, without the share of the run.
    pub sentence: String,
    /// The next step.
    pub advice: String,
}

impl Finding {
    /// Returns a finding with a sentence and advice, and nothing else that is known.
    pub(crate) fn new(kind: Kind, lost_ns: f64, sentence: String, advice: String) -> Self {
        Self {
            kind,
            rule: None,
            lost_ns,
            certainty: Certainty::Estimated,
            ranks: RankSet::default(),
            place: None,
            sampled: None,
            waits_at: None,
            waiting_ranks: RankSet::default(),
            chain: Vec::new(),
            sentence,
            advice,
        }
    }

    /// Returns what a rule with this name has found.
    #[must_use]
    pub fn of_rule(name: &str, lost_ns: f64, sentence: String, advice: String) -> Self {
        let certainty = Certainty::AtMost;
        let rule = Some(name.to_owned());
        Self { rule, certainty, ..Self::new(Kind::OfRule, lost_ns, sentence, advice) }
    }

    /// Returns the kind as a word for programs, or the name of the rule that has found it.
    #[must_use]
    pub fn word(&self) -> &str {
        self.rule.as_deref().unwrap_or_else(|| self.kind.word())
    }

    /// Returns whether the cause is what its ranks compute.
    fn is_of_computation(&self) -> bool {
        matches!(
            self.kind,
            Kind::LateSender
                | Kind::LateReceiver
                | Kind::LateToCollective
                | Kind::LateRoot
                | Kind::LateToWindow
                | Kind::SlowRank
                | Kind::MasterStarving
                | Kind::Imbalance
                | Kind::OneSlowVisit
        )
    }

    /// Adds the function and line that samples know, to the sentence, too.
    pub(crate) fn add_samples(&mut self, totals: &Totals) {
        if !self.is_of_computation() || self.ranks.is_empty() {
            return;
        }
        // Before a call there is no region, but all of the program.
        let within = self.place.as_ref().filter(|place| place.call.is_none());
        let in_region = within.and_then(|at| SampledPlace::of(totals, &self.ranks, Some(at.index)));
        let found = in_region.or_else(|| SampledPlace::of(totals, &self.ranks, None));
        if let Some(place) = &found {
            self.sentence.push_str(&format!("; by samples in {}", sampled_name(&place.name)));
        }
        self.sampled = found;
    }

    /// Returns whether only chance explains what was found.
    #[must_use]
    pub fn is_chance(&self) -> bool {
        matches!(self.kind, Kind::TurnsToBeLate | Kind::Oversubscription)
    }

    /// Returns the seconds that would be gained at most, of one rank's time.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.lost_ns * 1e-9
    }
}
