//! How the chain of causes of a rank goes on with those of its partners.

use super::{Clock, Wait};
use crate::companion::{Companion, UNSURE};
use crate::meeting::Meeting;
use crate::time::{Call, Offset, Post, duration, signed};

/// A call that takes no longer, in ns, has found its message complete.
pub(super) const TAKEN_NS: i64 = 500;

/// A call that lasted less than one part in `PARTS` of a message's way did not wait for it.
const PARTS: i64 = 16;

/// The way of a message.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Way {
    /// How long after sending the receiver hears of it.
    pub(super) latency_ns: i64,
    /// The time until it is there, from the moment when both sides are ready.
    pub(super) transfer_ns: i64,
}

impl Way {
    /// Returns the way of a message. A large one is asked for when its receive is posted, and sent
    /// then: two ways besides its bytes.
    #[inline]
    pub(super) fn of(message: &Companion, latency_ns: i64, offset: Offset) -> Self {
        let is_large = message.flags & Companion::BLOCKS != 0;
        let asked_ns = if is_large { 2 * latency_ns } else { 0 };
        let transfer_ns = asked_ns.saturating_add(offset.transfer_ns(message.bytes));
        Self { latency_ns, transfer_ns }
    }
}

/// When a call of the rank would have ended without measurement, as two chains of causes tell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chains {
    pub(super) own_ns: i64,
    pub(super) partners_ns: i64,
    /// By how much that of the one may be wrong, at most, that was ready first in the run: the way
    /// that was seen is that of the other.
    pub(super) unsure_ns: u64,
}

impl Clock {
    /// Applies a call that has waited for partners, who were heard of after a latency.
    #[inline]
    pub(super) fn join(&mut self, call: Call, post: Post, partners: &Meeting, way: Way) -> Wait {
        let (entered_ns, left_ns) = (signed(call.entered_ns), signed(call.left_ns));
        let wait = self.wait(call, partners);
        let latency_ns = way.latency_ns.min(left_ns - wait.partner_ns);
        let arrived_ns = wait.partner_ns + latency_ns;
        let arrived_virtual_ns = wait.virtual_ns + latency_ns;

        let my_virtual_ns = self.virtual_ns(call.entered_ns);
        let posted_ns = signed(post.posted_ns).min(entered_ns);
        let chains = if posted_ns < entered_ns {
            // The transfer began before the call. If the call has waited, both ended together.
            let begun_ns = posted_ns.max(arrived_ns);
            let posted_virtual_ns = posted_ns - signed(post.intrusion_ns);
            let begun_virtual_ns = posted_virtual_ns.max(arrived_virtual_ns);
            let taken_ns = left_ns - entered_ns;
            let has_waited = Self::has_waited(call, posted_ns.max(wait.partner_ns));
            let base_ns = self.network.base_ns().min(taken_ns);
            let (rest_ns, taken_ns) = if has_waited {
                (left_ns - base_ns - begun_ns, base_ns)
            } else {
                (way.transfer_ns, taken_ns)
            };
            Chains {
                own_ns: my_virtual_ns + taken_ns,
                partners_ns: begun_virtual_ns + rest_ns + taken_ns,
                unsure_ns: 0,
            }
        } else {
            // COMMUNICATION: x = Re - (max(Vb, Vs) + transfer).
            let rest_ns = left_ns - entered_ns.max(arrived_ns);
            Chains {
                own_ns: my_virtual_ns + rest_ns,
                partners_ns: arrived_virtual_ns + rest_ns,
                unsure_ns: 0,
            }
        };
        self.go_on(call, partners, chains);
        wait
    }

    /// Applies a collective: from the last entry on it takes the same time, whoever was last, but
    /// for the way.
    #[inline]
    pub(super) fn join_all(&mut self, call: Call, partners: &Meeting) -> Wait {
        let wait = self.wait(call, partners);
        let rest_ns = signed(wait.transfer_ns);
        let chains = Chains {
            own_ns: self.virtual_ns(call.entered_ns) + rest_ns,
            partners_ns: wait.virtual_ns + rest_ns,
            unsure_ns: wait.transfer_ns / 2,
        };
        self.go_on(call, partners, chains);
        wait
    }

    /// Applies a call that has completed messages. If it has waited, the last of them came a base
    /// before it ended, by whatever way.
    #[inline]
    pub(super) fn join_last(&mut self, call: Call, partners: &Meeting) -> Wait {
        let (entered_ns, left_ns) = (signed(call.entered_ns), signed(call.left_ns));
        let wait = self.wait(call, partners);
        let late_ns = partners.last_ns - wait.partner_ns;
        let is_known = partners.arrived_ns > partners.last_ns;
        let unknown_ns = if is_known { 0 } else { signed(self.network.latency_ns()) };
        let way_ns = unknown_ns - late_ns;
        let arrived_ns = partners.arrived_ns + way_ns;
        let base_ns = self.network.base_ns();
        let taken_ns = left_ns - entered_ns;
        let (shift_ns, rest_ns) = if Self::has_waited(call, wait.partner_ns) {
            let rest_ns = base_ns.min(taken_ns);
            (left_ns - rest_ns - arrived_ns, rest_ns)
        } else {
            ((entered_ns - arrived_ns).min(0), taken_ns)
        };
        let arrived_virtual_ns = partners.arrived_virtual_ns + way_ns + shift_ns;
        let own_ns = self.virtual_ns(call.entered_ns) + rest_ns;
        let chains = Chains { own_ns, partners_ns: arrived_virtual_ns + rest_ns, unsure_ns: 0 };
        self.go_on(call, partners, chains);
        wait
    }

    /// Returns the waiting of a call, and notes what it tells about the network.
    #[inline]
    pub(super) fn wait(&mut self, call: Call, partners: &Meeting) -> Wait {
        let (entered_ns, left_ns) = (signed(call.entered_ns), signed(call.left_ns));
        // A partner that came after the end of the call is an error of the clocks. Moving both of
        // its times keeps its intrusion, which is their difference.
        let late_ns = (partners.last_ns - left_ns).max(0);
        self.contradictions += u64::from(late_ns > 0);
        let partner_ns = partners.last_ns - late_ns;
        let virtual_ns = partners.virtual_ns - late_ns;
        let transfer_ns = left_ns - entered_ns.max(partner_ns);
        self.network.took(transfer_ns);
        Wait {
            waiting_ns: duration(partner_ns - entered_ns),
            compensated_ns: duration(virtual_ns - self.virtual_ns(call.entered_ns)),
            transfer_ns: duration(transfer_ns),
            partner_ns,
            virtual_ns,
            is_guarded: false,
        }
    }

    /// Returns whether a call has waited: surely for a partner that was ready during it. If the
    /// partner was ready before, what it sends was on its way when the call began: then a part of
    /// the way is left.
    #[inline]
    fn has_waited(call: Call, ready_ns: i64) -> bool {
        let entered_ns = signed(call.entered_ns);
        let taken_ns = signed(call.left_ns) - entered_ns;
        let gone_ns = entered_ns - ready_ns;
        gone_ns <= 0 || taken_ns > TAKEN_NS && gone_ns / PARTS <= taken_ns
    }

    /// Takes the later of two chains over. What is unsure of both may decide which that is.
    #[inline]
    pub(super) fn go_on(&mut self, call: Call, partners: &Meeting, chains: Chains) {
        let Chains { own_ns, partners_ns, unsure_ns } = chains;
        let ended_ns = own_ns.max(partners_ns);
        let is_own_first = partners.last_ns > signed(call.entered_ns);
        let (of_own, of_its) = if is_own_first { (unsure_ns, 0) } else { (0, unsure_ns) };
        // Whoever is last of all: a call ends no later by measuring than the most delayed one came.
        let most_ns =
            self.intrusion_ns.max(duration(partners.last_ns.saturating_sub(partners.virtual_ns)));
        let unsure =
            |ns: u64, more_ns: u64| signed(ns.max(ns.saturating_add(more_ns).min(most_ns)));
        let own = unsure(self.uncertainty_ns(), of_own);
        let its = unsure(partners.uncertainty.ns(), of_its);
        let least_ns = own_ns.saturating_sub(own).max(partners_ns.saturating_sub(its));
        let most_ns = own_ns.saturating_add(own).max(partners_ns.saturating_add(its));
        let unsure_ns =
            duration(ended_ns.saturating_sub(least_ns).max(most_ns.saturating_sub(ended_ns)));
        self.unsure = unsure_ns.saturating_mul(UNSURE);
        self.intrusion_ns = duration(signed(call.left_ns).saturating_sub(ended_ns));
        self.ideal_ns = self.ideal_ns.max(duration(partners.ideal_ns));
    }
}
