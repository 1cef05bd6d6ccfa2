//! The cost of each phase on the busiest rank, gathered while simulated ranks pass their
//! milestones.

use tinyprof_flush::Milestone;
use tinyprof_flush::scaling_study::RankAccount;

use crate::rows::PhaseRow;

/// The phases in their order, by the milestones that end them.
pub const PHASES: [&str; 8] =
    ["encode", "synchronise", "announce", "aggregate", "write", "unite", "finish", "tell"];

/// Maxima over ranks.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    phases: [Busiest; PHASES.len()],
    /// The longest part, in bytes.
    pub part_bytes_max: u64,
    /// All parts together, in bytes.
    pub part_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Busiest {
    end_ns: u64,
    messages: u64,
    bytes: u64,
}

impl Tracker {
    /// Records that a rank has passed a milestone, with the totals `before`, at the previous
    /// milestone, and `now`.
    pub fn passed(&mut self, milestone: Milestone, before: RankAccount, now: RankAccount) {
        let phase = match milestone {
            Milestone::Encoded => 0,
            Milestone::Agreed => 1,
            Milestone::Announced => 2,
            Milestone::Collected => 3,
            Milestone::Written { bytes, .. } => {
                self.part_bytes_max = self.part_bytes_max.max(bytes);
                self.part_bytes += bytes;
                4
            }
            Milestone::United => 5,
            Milestone::Finished => 6,
            Milestone::Told => 7,
        };
        let busiest = &mut self.phases[phase];
        busiest.end_ns = busiest.end_ns.max(now.clock_ns);
        let messages = |spent: RankAccount| spent.messages_sent + spent.messages_received;
        let bytes = |spent: RankAccount| spent.bytes_sent + spent.bytes_received;
        busiest.messages = busiest.messages.max(messages(now) - messages(before));
        busiest.bytes = busiest.bytes.max(bytes(now) - bytes(before));
    }

    /// Returns the time at which the last rank was done, in nanoseconds.
    #[must_use]
    pub fn end_ns(&self) -> u64 {
        self.phases.iter().map(|phase| phase.end_ns).max().unwrap_or_default()
    }

    /// Returns the phases, each from the time when the last rank ended the previous one until the
    /// last rank ended this one.
    #[must_use]
    pub fn rows(&self) -> Vec<PhaseRow> {
        let mut last_ns = 0;
        let named = PHASES.iter().zip(&self.phases);
        named
            .map(|(name, phase)| {
                let ns = phase.end_ns.saturating_sub(last_ns);
                last_ns = last_ns.max(phase.end_ns);
                PhaseRow {
                    phase: (*name).to_owned(),
                    ns,
                    messages: phase.messages,
                    bytes: phase.bytes,
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_rank_counts_in_each_phase() {
        let mut tracker = Tracker::default();
        let at = |clock_ns, messages_sent, bytes_received| RankAccount {
            clock_ns,
            messages_sent,
            bytes_received,
            ..RankAccount::default()
        };
        tracker.passed(Milestone::Encoded, at(0, 0, 0), at(10, 0, 0));
        tracker.passed(Milestone::Encoded, at(0, 0, 0), at(30, 0, 0));
        tracker.passed(Milestone::Agreed, at(10, 0, 0), at(50, 4, 7));
        tracker.passed(Milestone::Agreed, at(30, 0, 0), at(40, 1, 9));
        let rows = tracker.rows();
        assert_eq!((rows[0].ns, rows[1].ns, rows[1].messages, rows[1].bytes), (30, 20, 4, 9));
        assert_eq!(tracker.end_ns(), 50);
    }
}
