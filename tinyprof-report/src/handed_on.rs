//! Callpaths whose work went to other threads: their callees took longer than they did.

use tinyprof_format::model::CallpathIndex;
use tinyprof_format::model::ESTIMATE_ERRORS;

use super::Report;
use super::names::{cut, shown};
use super::units::{ratio, time};

/// The part of a callpath's time by which its callees may exceed it because of the clock or of
/// rounding.
const LEAST_EXCESS: f64 = 0.01;

/// The maximum width of a name in a sentence, in columns.
const NAME_COLUMNS: usize = 40;

impl Report {
    /// Returns the mean number of threads that worked for a callpath at once: the inclusive times
    /// of its callees, added up over threads, divided by its own inclusive time, which is
    /// wall-clock time. None if the callees took no more time than the callpath, as in all work of
    /// a single thread.
    #[must_use]
    pub(crate) fn threads_at_once(&self, index: CallpathIndex) -> Option<f64> {
        self.threads_at_once.get(&index).copied()
    }

    /// Finds the callpaths with a known number of threads at once.
    pub(super) fn with_threads_at_once(mut self) -> Self {
        let rows = self.callpaths.len();
        let (mut below_ns, mut variance_ns2) = (vec![0_u128; rows], vec![0_u128; rows]);
        for (index, callpath) in self.callpaths.iter() {
            if let Some(parent) = callpath.parent {
                let inclusive = self.statistics.row(index.row()).inclusive;
                let (ns, ns2) = (&mut below_ns[parent.row()], &mut variance_ns2[parent.row()]);
                *ns = ns.saturating_add(inclusive.sum_ns);
                *ns2 = ns2.saturating_add(inclusive.variance_ns2);
            }
        }
        for (index, _) in self.callpaths.iter() {
            let inclusive = self.statistics.row(index.row()).inclusive;
            let variance_ns2 = variance_ns2[index.row()].saturating_add(inclusive.variance_ns2);
            let excess_ns = ratio(below_ns[index.row()].saturating_sub(inclusive.sum_ns), 1);
            let least_ns = LEAST_EXCESS * ratio(inclusive.sum_ns, 1)
                + ESTIMATE_ERRORS * ratio(variance_ns2, 1).sqrt();
            if inclusive.sum_ns > 0 && excess_ns > least_ns {
                let at_once = ratio(below_ns[index.row()], inclusive.sum_ns);
                self.threads_at_once.insert(index, at_once);
            }
        }
        self
    }

    /// Returns a sentence about the callpath that takes the most time, and the number of the
    /// others.
    pub(super) fn handed_on(&self) -> Option<String> {
        let inclusive_ns = |index: CallpathIndex| self.statistics.row(index.row()).inclusive.sum_ns;
        let (&index, at_once) =
            self.threads_at_once.iter().max_by_key(|(index, _)| inclusive_ns(**index))?;
        let others = match self.threads_at_once.len() - 1 {
            0 => String::new(),
            more => format!("; so it is with {more} more"),
        };
        Some(format!(
            "work of {} went to other threads: below it are {at_once:.1} times its {}, added up over threads, and what of its \
             time is its own is not known{others}",
            cut(&shown(&self.callpaths.get(index).region.name), NAME_COLUMNS),
            time(inclusive_ns(index)),
        ))
    }
}
