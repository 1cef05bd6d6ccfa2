//! Notices of what each rank does, for the order of messages: `TINYPROF_ORDER=enforce`.

use tinyprof_messages::order::{Doing, Progress, Verdict, verdict};

use super::shared::{ALL, Notice, Notices};

/// The shortest time from which the share of our overhead is taken.
const SHARE_NS_MIN: u64 = 100_000;

/// This rank among those that keep the order of messages.
#[derive(Debug)]
pub(super) struct Order {
    rank: u32,
    ranks: u32,
    notices: Notices,
    share: u64,
    /// The time up to which the share is known, and our overhead up to then, in ns.
    known_ns: (u64, u64),
}

impl Order {
    pub(super) fn new(rank: usize, ranks: usize, notices: Notices) -> Option<Self> {
        let (rank, ranks) = (rank.try_into().ok()?, ranks.try_into().ok()?);
        Some(Self { rank, ranks, notices, share: 0, known_ns: (0, 0) })
    }

    /// Returns what it is to wait for a rank, given relative to this one.
    pub(super) fn waiting_for(&self, relative: i32) -> Doing {
        let rank = self.absolute(relative);
        if rank < self.ranks { Doing::WaitsFor(rank) } else { Doing::Waits }
    }

    /// Returns the rank in the world of one that is given relative to this one.
    pub(super) fn absolute(&self, relative: i32) -> u32 {
        self.rank.wrapping_add_signed(relative)
    }

    /// Says what this rank does from `at_ns` on.
    pub(super) fn say(&self, at_ns: u64, virtual_ns: i64, doing: Doing) {
        let share = self.share;
        self.notices.write(self.rank, &Notice { at_ns, virtual_ns, doing, share });
    }

    /// Learns which part of its time this rank has spent for us.
    pub(super) fn learn(&mut self, at_ns: u64, own_ns: u64) {
        let (known_at_ns, known_own_ns) = self.known_ns;
        let since_ns = at_ns.saturating_sub(known_at_ns);
        if since_ns >= SHARE_NS_MIN {
            let own_since_ns = own_ns.saturating_sub(known_own_ns);
            // Rather too much: a rank that is thought to be behind is waited for.
            let share = own_since_ns.saturating_mul(ALL) / since_ns * 5 / 4;
            self.share = share.max(self.share * 7 / 8).min(ALL);
            self.known_ns = (at_ns, own_ns);
        }
    }

    /// Returns a number that is another one when a rank has moved.
    pub(super) fn pulse(&self) -> u64 {
        let others = (0..self.ranks).filter(|rank| *rank != self.rank);
        let versions = others.map(|rank| self.notices.version(rank));
        versions.fold(0, u64::wrapping_add)
    }

    /// Leaves time out of the share: that for which a message was held back.
    pub(super) fn leave_out(&mut self, ns: u64) {
        self.known_ns.1 = self.known_ns.1.saturating_add(ns);
    }

    /// Judges a message of `sender`, a rank of the world, that would have been sent at
    /// `virtual_ns`. `has_taken` says whether a rank, given relative to this one, has got all
    /// messages of this one.
    pub(super) fn judge(
        &self,
        sender: u32,
        virtual_ns: i64,
        now_ns: u64,
        has_taken: impl Fn(i32) -> bool,
    ) -> Verdict {
        verdict(self.rank, sender, virtual_ns, self.ranks, |rank| {
            let Some(notice) = self.notices.read(rank) else {
                return Progress { virtual_ns: i64::MIN, doing: Doing::Running };
            };
            let progress = notice.progress(now_ns);
            let relative = rank.wrapping_sub(self.rank).cast_signed();
            if progress.doing == Doing::WaitsFor(self.rank) && !has_taken(relative) {
                // A message to it may be on the way.
                return Progress { doing: Doing::Waits, ..progress };
            }
            progress
        })
    }
}
