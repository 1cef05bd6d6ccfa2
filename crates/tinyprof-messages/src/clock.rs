//! The clock of a rank: by how much measuring has delayed it, and its ideal time.
//!
//! Virtual time is real time less intrusion: when things would have happened without measurement.
//! A rank that waits for another one takes over the later of both virtual times, which is exact
//! where one message of sending travels with each message of the program. Paper 002 sends the
//! delay alone, without the time of sending, and is wrong about messages that came early.
//!
//! All numbers are integers, in ns. Virtual times of different ranks are compared with each other
//! and reduced by `MPI_MAX`: integers give the same result on all ranks and in any order, without
//! a rounding error that grows with the length of the run. Costs of events are fractions of that,
//! so they are given in ps, and the rest is carried along.

use crate::companion::{Companion, UNSURE};
use crate::latency::Latency;
use crate::meeting::Meeting;
use crate::time::{Call, Offset, Post, duration, signed};
use crate::uncertainty::Uncertainty;

mod collective;
mod join;
mod learn;
mod network;

use join::Way;
use network::Network;

pub use collective::{Member, Unclear};

/// The shortest time in a call, in ns, that counts as waiting where the clocks do not tell.
const SURELY_WAITED_NS: u64 = 5_000;

/// The intrusion and the ideal time of a rank.
///
/// ```
/// use tinyprof_messages::clock::Clock;
/// use tinyprof_messages::companion::Companion;
/// use tinyprof_messages::time::{Call, Offset};
///
/// // This rank has lost 100 ns, the sender 400 ns, before it sent at 2,000 ns.
/// let mut clock = Clock::default();
/// clock.events(10, 10_000);
/// let companion = Companion { entry_ns: 2_000, intrusion_ns: 400, ..Companion::default() };
/// let call = Call { entered_ns: 1_000, left_ns: 2_500 };
/// let wait = clock.receive(call, &companion, Offset::default());
/// assert_eq!((wait.waiting_ns, wait.transfer_ns), (1_000, 500));
/// assert_eq!(wait.compensated_ns, 700, "from 900 to 1,600 in virtual time");
/// assert_eq!(clock.intrusion_ns(), 400, "the sender's delay is ours now");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    intrusion_ns: u64,
    ideal_ns: u64,
    contradictions: u64,
    guarded: u64,
    rest_ps: u32,
    network: Network,
    /// By how much the intrusion may be wrong, in thirds of ns.
    unsure: u64,
}

/// The result of a call that may have waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// The time in the call until the partner came.
    pub waiting_ns: u64,
    /// The time that would have been waited without measurement.
    pub compensated_ns: u64,
    /// The time in the call from then on.
    pub transfer_ns: u64,
    /// When the partner came, in ns on this rank's clock; never later than the end of the call.
    pub partner_ns: i64,
    /// When the partner would have come without measurement, in ns on this rank's clock.
    pub virtual_ns: i64,
    /// True if nothing was known of the partner's clock: all of the call is said to be transfer.
    pub is_guarded: bool,
}

impl Clock {
    /// Returns by how much the rank has been delayed up to now, directly or through others.
    #[must_use]
    #[inline]
    pub const fn intrusion_ns(&self) -> u64 {
        self.intrusion_ns
    }

    /// Returns the useful time along the longest chain of causes up to now: the time that the
    /// program would have taken on an ideal network.
    #[must_use]
    #[inline]
    pub const fn ideal_ns(&self) -> u64 {
        self.ideal_ns
    }

    /// Returns how many partners came after the call had ended, by the clocks. Their times were
    /// clamped: intrusion never falls below 0. A signal of quality.
    #[must_use]
    #[inline]
    pub const fn contradictions(&self) -> u64 {
        self.contradictions
    }

    /// Returns how many receives were judged without the sender's clock.
    #[must_use]
    #[inline]
    pub const fn guarded(&self) -> u64 {
        self.guarded
    }

    /// Returns by how much the intrusion may be wrong, in ns, in either direction: a third of the
    /// rank's own overhead, and what came through others.
    #[must_use]
    #[inline]
    pub const fn uncertainty_ns(&self) -> u64 {
        self.unsure / UNSURE
    }

    /// Returns the same, as it travels beside message `number` of a stream.
    #[must_use]
    #[inline]
    pub const fn uncertainty_beside(&self, number: u64) -> Uncertainty {
        Uncertainty::drawn(self.unsure.div_ceil(UNSURE), number)
    }

    /// Returns the same, as ranks tell it that meet.
    #[must_use]
    #[inline]
    pub const fn uncertainty(&self) -> Uncertainty {
        Uncertainty::nearest(self.unsure.div_ceil(UNSURE))
    }

    /// Returns the shortest time that a message takes, in ns, as this rank has seen it, or heard of
    /// it. 0 as long as no message was waited for.
    #[must_use]
    #[inline]
    pub const fn latency_ns(&self) -> u64 {
        self.network.latency_ns()
    }

    /// Returns the shortest time of a message and the call that has waited for it, as it travels
    /// beside a message.
    #[must_use]
    #[inline]
    pub const fn nearest(&self) -> Latency {
        self.network.nearest()
    }

    /// Adds the cost of measured events, each of `cost_ps` picoseconds.
    #[inline]
    pub fn events(&mut self, count: u64, cost_ps: u64) {
        let ps = count.saturating_mul(cost_ps).saturating_add(u64::from(self.rest_ps));
        self.delay(ps / 1_000);
        self.rest_ps = (ps % 1_000) as u32;
    }

    /// Adds a delay in ns, of the rank itself.
    #[inline]
    pub fn delay(&mut self, ns: u64) {
        self.intrusion_ns = self.intrusion_ns.saturating_add(ns);
        self.unsure = self.unsure.saturating_add(ns);
    }

    /// Adds useful time: that outside of MPI, without the cost of measuring.
    #[inline]
    pub fn useful(&mut self, ns: u64) {
        self.ideal_ns = self.ideal_ns.saturating_add(ns);
    }

    /// Returns the virtual time of a moment, in ns on this rank's clock.
    #[must_use]
    #[inline]
    pub fn virtual_ns(&self, now_ns: u64) -> i64 {
        signed(now_ns) - signed(self.intrusion_ns)
    }

    /// Applies a blocking receive; `offset` converts the sender's clock.
    ///
    /// An error of the offset changes the intrusion by at most that error, so the rule holds for
    /// uncertain offsets, too. Where the offset is unknown, the guarded rule knows the intrusions
    /// alone, as paper 002 does.
    #[inline]
    pub fn receive(&mut self, call: Call, companion: &Companion, offset: Offset) -> Wait {
        let post = Post { posted_ns: call.entered_ns, intrusion_ns: self.intrusion_ns };
        self.complete(call, post, companion, offset)
    }

    /// Applies a call that has waited for a receive that was posted before. Otherwise as
    /// [`receive`](Self::receive).
    #[inline]
    pub fn complete(
        &mut self,
        call: Call,
        post: Post,
        companion: &Companion,
        offset: Offset,
    ) -> Wait {
        if offset.is_unknown() {
            return self.complete_guarded(call, companion);
        }
        let way = Way::of(companion, self.network.latency_to(offset), offset);
        let sent = partner(companion, offset, 0);
        self.learn(call, companion, offset, sent.last_ns, true);
        self.join(call, post, &sent, way)
    }

    /// Applies a synchronous send, which has blocked until the receiver was there. `receiver` is
    /// what the receiver says of itself, with the time at which it posted the receive.
    #[inline]
    pub fn send(&mut self, call: Call, receiver: &Companion, offset: Offset) -> Wait {
        let post = Post { posted_ns: call.entered_ns, intrusion_ns: self.intrusion_ns };
        // Data is sent when the request has come to a posted receive: the request travels while
        // the receiver still computes.
        self.hear_answer(call, post, receiver, offset);
        let way = Way { latency_ns: -self.network.latency_to(offset), transfer_ns: 0 };
        self.join(call, post, &partner(receiver, offset, 0), way)
    }

    /// Returns a message as a partner of this rank, which has posted its receive as `post` says.
    /// Otherwise as [`message`].
    ///
    /// A large message is announced, asked for when the receive is posted, and sent then.
    #[must_use]
    #[inline]
    pub fn incoming(&self, post: Post, of: &Companion, offset: Offset, number: u32) -> Meeting {
        let Way { latency_ns, transfer_ns } = Way::of(of, self.network.latency_to(offset), offset);
        let announced = partner(of, offset, number).later(latency_ns);
        if of.flags & (Companion::BLOCKS | Companion::ASKS) == 0 {
            return announced.later(transfer_ns);
        }
        announced.not_before(&self.posted(post)).later(transfer_ns)
    }

    /// Returns the receiver of a message that this rank has sent as `post` says, and waits to be
    /// asked for, as a partner. Otherwise as [`message`].
    #[must_use]
    #[inline]
    pub fn answer(&self, post: Post, of: &Companion, offset: Offset, number: u32) -> Meeting {
        let latency_ns = self.network.latency_to(offset);
        let announced = self.posted(post).later(latency_ns);
        let way_ns = latency_ns.saturating_add(offset.transfer_ns(of.bytes));
        partner(of, offset, number).not_before(&announced).later(way_ns)
    }

    /// Returns what this rank has posted, as a partner of its own.
    #[inline]
    fn posted(&self, post: Post) -> Meeting {
        let own = Meeting::new(signed(post.posted_ns), post.intrusion_ns, 0, 0);
        own.with_uncertainty(self.uncertainty())
    }

    /// Applies what has become known late of an earlier call: it has changed `before` into `after`,
    /// and since then there was nothing but computation.
    #[inline]
    pub fn amend(&mut self, before: &Self, after: &Self) {
        let more_ns = signed(after.intrusion_ns) - signed(before.intrusion_ns);
        self.intrusion_ns = duration(signed(self.intrusion_ns) + more_ns);
        let since_ns = self.ideal_ns.saturating_sub(before.ideal_ns);
        self.ideal_ns = self.ideal_ns.max(after.ideal_ns.saturating_add(since_ns));
        self.contradictions += after.contradictions.saturating_sub(before.contradictions);
        let more_unsure = signed(after.unsure) - signed(before.unsure);
        self.unsure = duration(signed(self.unsure) + more_unsure);
        self.network.combine(after.network);
    }

    /// Goes back to the delay of an earlier moment, since when the rank has done nothing but wait,
    /// it seems: all of its cost since then is unsure.
    #[inline]
    pub(crate) const fn rewind(&mut self, before: &Self) {
        let since_ns = self.intrusion_ns.saturating_sub(before.intrusion_ns);
        self.unsure = before.unsure.saturating_add(since_ns.saturating_mul(UNSURE));
        self.intrusion_ns = before.intrusion_ns;
    }

    /// Applies a message that was found complete without waiting, as by `MPI_Test`. Where the
    /// program would have been without measurement, nobody knows: the intrusion stays.
    #[inline]
    pub fn find(&mut self, companion: &Companion) {
        self.ideal_ns = self.ideal_ns.max(companion.ideal_ns);
    }

    /// Notes `ns` spent in a call that may have waited for an unknown partner. The wait may have
    /// hidden the delay, so up to that much of it is uncertain from now on.
    ///
    /// This happens to the inner ranks of a tree between hosts, where only the root is known, and
    /// where no way of an operation is possible.
    #[inline]
    pub fn doubt(&mut self, ns: u64) {
        let most = self.intrusion_ns.saturating_mul(UNSURE);
        let all = self.unsure.saturating_add(ns.saturating_mul(UNSURE));
        self.unsure = self.unsure.max(all.min(most));
    }

    /// Returns this rank's part of a collective that it entered at `entered_ns`. `common` is the
    /// offset of the common clock, `rank` that in the communicator.
    #[must_use]
    #[inline]
    pub fn meeting(&self, entered_ns: u64, common: Offset, rank: u32) -> Meeting {
        let entered_ns = common.to_other(signed(entered_ns));
        let own = Meeting::new(entered_ns, self.intrusion_ns, self.ideal_ns, rank);
        own.with_uncertainty(self.uncertainty())
    }

    /// Applies a call that has waited until the last of others had entered it, of whom no more is
    /// known than this meeting: `common` is the offset of its clock. Of an operation with a root,
    /// others may have been on the way; see [`meet_along`](Self::meet_along).
    #[inline]
    pub fn meet_at(&mut self, call: Call, meeting: &Meeting, common: Offset) -> Wait {
        self.join_all(call, &meeting.to_mine(common))
    }

    /// Applies a call that has completed messages, whose times are on this rank's clock: those of
    /// [`message`], or better of [`incoming`](Self::incoming) and [`answer`](Self::answer).
    #[inline]
    pub fn meet(&mut self, call: Call, partners: &Meeting) -> Wait {
        self.join_last(call, partners)
    }

    /// Applies a receive by the intrusions alone. It assumes that a call that took long has waited
    /// for the sender, and leaves the intrusion as it is otherwise.
    #[cold]
    #[inline(never)]
    fn complete_guarded(&mut self, call: Call, companion: &Companion) -> Wait {
        let waited_ns = call.duration_ns();
        if waited_ns > SURELY_WAITED_NS {
            // COMMUNICATION: w' = max(0, w + x - xs); x += w - w'.
            let most_ns = waited_ns.saturating_add(self.intrusion_ns);
            self.intrusion_ns = most_ns.min(companion.intrusion_ns);
        }
        self.find(companion);
        self.guarded += 1;
        let partner_ns = signed(call.entered_ns);
        let virtual_ns = partner_ns - signed(companion.intrusion_ns);
        let (waiting_ns, compensated_ns, transfer_ns) = (0, 0, waited_ns);
        let is_guarded = true;
        Wait { waiting_ns, compensated_ns, transfer_ns, partner_ns, virtual_ns, is_guarded }
    }
}

/// Returns a message as a partner to meet, with times on the receiver's clock.
///
/// Of several that a call completes, [combine](Meeting::combine) them: the call has waited for the
/// last. `number` stands for the rank, and tells the messages of a call apart.
#[must_use]
#[inline]
pub fn message(companion: &Companion, offset: Offset, number: u32) -> Meeting {
    let way_ns = signed(offset.latency_ns) + offset.transfer_ns(companion.bytes);
    partner(companion, offset, number).later(way_ns)
}

/// Returns a message as a partner that is there at once.
#[inline]
fn partner(companion: &Companion, offset: Offset, number: u32) -> Meeting {
    let at_ns = offset.to_mine(signed(companion.entry_ns));
    let one = Meeting::new(at_ns, companion.intrusion_ns, companion.ideal_ns, number);
    one.with_uncertainty(companion.uncertainty())
}

#[cfg(test)]
mod tests;
