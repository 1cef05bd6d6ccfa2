//! The subjects of hints: the run, its ranks, callpaths and waits, with their facts.

mod callpaths;
mod ranks;
mod waits;
mod whole_run;

use tinyprof_format::model::CallpathIndex;
use tinyprof_vocabulary::RankSet;

use super::finding::FindingKind;
use super::hint::HintScope;
use super::run::Run;
use super::values::Values;

/// A subject of rules, and where it is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Subject {
    /// Its scope.
    pub scope: HintScope,
    /// Its facts.
    pub values: Values,
    /// The callpath, if it is one, or is at one.
    pub place: Option<CallpathIndex>,
    /// The callpath with most communication, and that with most input and output, of a run.
    pub costliest: [Option<CallpathIndex>; 2],
    /// The ranks that are the cause, where that is known.
    pub ranks: RankSet,
    /// The ranks that wait, where that is known.
    pub waiting_ranks: RankSet,
    /// The ranks that have received in another order than that in which messages were sent.
    pub wrong_order_ranks: RankSet,
    /// The first iteration that takes longer, 0-based, where there is one.
    pub since: Option<u64>,
}

impl Subject {
    fn new(scope: HintScope, values: Values) -> Self {
        Self {
            scope,
            values,
            place: None,
            costliest: [None; 2],
            ranks: RankSet::default(),
            waiting_ranks: RankSet::default(),
            wrong_order_ranks: RankSet::default(),
            since: None,
        }
    }

    /// Returns the callpath of a finding of this kind.
    pub(super) const fn place_of(&self, kind: FindingKind) -> Option<CallpathIndex> {
        match kind {
            FindingKind::Communication => self.costliest[0],
            FindingKind::InputOutput => self.costliest[1],
            _ => self.place,
        }
    }

    /// Returns the ranks that are the cause of a finding of this kind.
    pub(super) fn ranks_of(&self, kind: FindingKind) -> RankSet {
        match kind {
            FindingKind::WrongOrder => self.wrong_order_ranks.clone(),
            FindingKind::Growth | FindingKind::SlowFirst | FindingKind::TooSmall => {
                RankSet::default()
            }
            FindingKind::LoadBalance => self.ranks.clone(),
            _ if self.scope == HintScope::Run => RankSet::default(),
            _ => self.ranks.clone(),
        }
    }

    /// Returns the first iteration concerned by a finding of this kind.
    pub(super) fn iteration_of(&self, kind: FindingKind) -> Option<u64> {
        match kind {
            FindingKind::Growth => self.since,
            FindingKind::SlowFirst => Some(0),
            _ => None,
        }
    }
}

/// The run, and all subjects in it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HintSubjects {
    /// The facts of the run.
    pub run: Values,
    /// All subjects, the run among them.
    pub all: Vec<Subject>,
}

impl HintSubjects {
    pub(crate) fn of(run: &Run<'_>) -> Self {
        let whole = whole_run::subject(run);
        let values = whole.values.clone();
        Self { run: values, all: std::iter::once(whole).chain(others(run)).collect() }
    }
}

/// Returns the run as a subject.
pub(super) fn whole(run: &Run<'_>) -> Subject {
    whole_run::subject(run)
}

/// Returns all other subjects, one by one: there may be a million callpaths.
pub(super) fn others<'a>(run: &'a Run<'_>) -> impl Iterator<Item = Subject> + 'a {
    ranks::subjects(run).into_iter().chain(callpaths::subjects(run)).chain(waits::subjects(run))
}
