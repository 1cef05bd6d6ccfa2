//! The costs of a visit, of all ranks: hosts differ, and the manifest has those of rank 0.

use tinyprof_format::model::RunMetadata;

/// The range of a cost over ranks, in picoseconds, as words whose maximum is the range of all.
///
/// 0 and 0 where nobody knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CostRange {
    most_ps: u64,
    /// The complement of the least.
    least_complement: u64,
}

impl CostRange {
    /// Returns the range of one rank.
    const fn of(cost_ps: u64, error_ps: u64) -> Self {
        if cost_ps == 0 {
            return Self { most_ps: 0, least_complement: 0 };
        }
        Self {
            most_ps: cost_ps.saturating_add(error_ps),
            least_complement: !cost_ps.saturating_sub(error_ps),
        }
    }

    /// Returns an error of a cost that covers the costs of all ranks.
    fn error_ps(self, cost_ps: u64, error_ps: u64) -> u64 {
        if cost_ps == 0 {
            return error_ps;
        }
        let above_ps = self.most_ps.saturating_sub(cost_ps);
        error_ps.max(above_ps).max(cost_ps.saturating_sub(!self.least_complement))
    }
}

/// The ranges of the costs of a visit: of any, and of a root region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct VisitCosts {
    inner: CostRange,
    root: CostRange,
}

impl VisitCosts {
    /// Returns those of one rank.
    pub(super) const fn of(metadata: &RunMetadata) -> Self {
        Self {
            inner: CostRange::of(metadata.visit_cost_ps, metadata.visit_cost_error_ps),
            root: CostRange::of(metadata.root_visit_cost_ps, metadata.root_visit_cost_error_ps),
        }
    }

    pub(super) const fn to_words(self) -> [u64; 4] {
        let Self { inner, root } = self;
        [inner.most_ps, inner.least_complement, root.most_ps, root.least_complement]
    }

    pub(super) const fn from_words(words: [u64; 4]) -> Self {
        let [most_ps, least_complement, of_root, least_of_root] = words;
        Self {
            inner: CostRange { most_ps, least_complement },
            root: CostRange { most_ps: of_root, least_complement: least_of_root },
        }
    }

    /// Returns the facts of rank 0, with errors of its costs that cover those of all ranks.
    pub(super) fn widen(self, of_rank_0: &RunMetadata) -> RunMetadata {
        let RunMetadata { visit_cost_ps, root_visit_cost_ps, .. } = *of_rank_0;
        RunMetadata {
            visit_cost_error_ps: self.inner.error_ps(visit_cost_ps, of_rank_0.visit_cost_error_ps),
            root_visit_cost_error_ps: self
                .root
                .error_ps(root_visit_cost_ps, of_rank_0.root_visit_cost_error_ps),
            ..of_rank_0.clone()
        }
    }
}
