//! What all rules have in common.

use super::finding::{Finding, FindingKind};
use super::run::Run;

/// A rule: how findings of one kind are recognised.
///
/// A wrong finding costs its reader more than a missing one, so each needs an effect that is both
/// large and clear. `docs/hints.md` explains the thresholds.
pub(crate) trait Rule: Sync {
    /// Returns the kind of all findings of this rule.
    fn kind(&self) -> FindingKind;

    /// Returns the findings in a run.
    fn find(&self, run: &Run<'_>) -> Vec<Finding>;

    /// Returns whether a finding of this rule is the cause of another one, which is then left out.
    /// Only findings of later rules are asked about.
    fn explains(&self, own: &Finding, other: &Finding) -> bool {
        let _ = (own, other);
        false
    }
}
