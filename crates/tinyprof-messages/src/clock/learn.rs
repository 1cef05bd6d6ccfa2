//! What the messages of a rank tell of the network.

use super::Clock;
use super::join::TAKEN_NS;
use crate::companion::Companion;
use crate::time::{Call, Offset, Post, signed};

/// Larger messages are announced, asked for, and sent: three ways instead of one.
const SMALL_BYTES: u64 = 8_192;

impl Clock {
    /// Notes what a message tells of the network that a call has completed together with
    /// others, before [`incoming`](Self::incoming).
    #[inline]
    pub fn hear(&mut self, call: Call, companion: &Companion, offset: Offset) {
        let sent_ns = offset.to_mine(signed(companion.entry_ns));
        self.learn(call, companion, offset, sent_ns, false);
    }

    /// Notes what a message tells of the network, unless that is measured. `is_only`: the
    /// call has waited for no other.
    #[inline]
    pub(super) fn learn(
        &mut self,
        call: Call,
        companion: &Companion,
        offset: Offset,
        sent_ns: i64,
        is_only: bool,
    ) {
        if offset.latency_ns != 0 {
            return;
        }
        self.network.hear(companion.nearest());
        let ns = signed(call.left_ns) - sent_ns;
        let ns = if companion.bytes <= SMALL_BYTES { ns } else { ns / 3 };
        let is_awaited = sent_ns > signed(call.entered_ns);
        let has_waited = is_awaited || is_only && Self::was_on_its_way(call, sent_ns);
        self.network.came_after(ns, has_waited);
    }

    /// Notes what the receiver of a message tells of the network, which this rank has sent
    /// as `post` says, and waited for to be asked for.
    #[inline]
    pub fn hear_answer(&mut self, call: Call, post: Post, receiver: &Companion, offset: Offset) {
        if offset.latency_ns != 0 {
            return;
        }
        self.network.hear(receiver.nearest());
        let posted_ns = offset.to_mine(signed(receiver.entry_ns));
        // It was asked for when the announcement and the receive were there.
        let (left_ns, sent_ns) = (signed(call.left_ns), signed(post.posted_ns));
        let ns = (left_ns - posted_ns).min((left_ns - sent_ns) / 2);
        self.network.came_after(ns, posted_ns > signed(call.entered_ns));
    }

    /// Returns whether a message that was sent before the call has surely come during it: it was
    /// under way in the call for at least half of its time.
    #[inline]
    fn was_on_its_way(call: Call, sent_ns: i64) -> bool {
        let entered_ns = signed(call.entered_ns);
        let taken_ns = signed(call.left_ns) - entered_ns;
        taken_ns > TAKEN_NS && entered_ns - sent_ns <= taken_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::Latency;

    fn companion(entry_ns: u64) -> Companion {
        Companion { entry_ns, ..Companion::default() }
    }

    fn call(entered_ns: u64, left_ns: u64) -> Call {
        Call { entered_ns, left_ns }
    }

    const SAME: Offset = Offset { ns: 0, uncertainty_ns: 0, latency_ns: 0, ps_per_byte: 0 };

    #[test]
    fn the_latency_is_that_of_the_quickest_message_that_was_waited_for() {
        let mut receiver = Clock::default();
        receiver.receive(call(1_000, 1_200), &companion(10), SAME);
        assert_eq!(receiver.latency_ns(), 0, "it may have come long before");
        receiver.receive(call(2_000, 9_000), &companion(3_000), SAME);
        receiver.receive(call(12_000, 19_000), &companion(15_000), SAME);
        assert_eq!(receiver.latency_ns(), 3_800, "less what a call takes in any case");
    }

    #[test]
    fn a_message_that_was_not_waited_for_shortens_a_known_latency_alone() {
        let mut receiver = Clock::default();
        let taken = |receiver: &mut Clock| {
            receiver.receive(call(20_000, 20_200), &companion(18_000), SAME);
        };
        taken(&mut receiver);
        assert_eq!(receiver.latency_ns(), 0);
        receiver.receive(call(2_000, 9_000), &companion(3_000), SAME);
        assert_eq!(receiver.latency_ns(), 5_800);
        taken(&mut receiver);
        assert_eq!(receiver.latency_ns(), 2_000, "it cannot have taken longer");
    }

    #[test]
    fn a_message_that_was_under_way_during_most_of_its_time_was_waited_for() {
        let mut receiver = Clock::default();
        receiver.receive(call(2_000, 4_000), &companion(1_500), SAME);
        assert_eq!(receiver.latency_ns(), 2_500);
        // For which of several, nobody knows.
        let mut receiver = Clock::default();
        receiver.hear(call(2_000, 4_000), &companion(1_500), SAME);
        assert_eq!(receiver.latency_ns(), 0);
        receiver.hear(call(2_000, 4_000), &companion(2_500), SAME);
        assert_eq!(receiver.latency_ns(), 1_500);
        let large = Companion { bytes: SMALL_BYTES + 1, ..companion(2_500) };
        receiver.hear(call(2_000, 4_000), &large, SAME);
        assert_eq!(receiver.latency_ns(), 500, "announced, asked for, and sent");
    }

    #[test]
    fn ranks_tell_each_other_the_latency_within_a_host() {
        let mut sender = Clock::default();
        sender.receive(call(2_000, 9_000), &companion(3_000), SAME);
        let told = companion(1_000).with_nearest(sender.nearest());
        let mut receiver = Clock::default();
        receiver.receive(call(5_000, 5_200), &told, Offset { latency_ns: 70_000, ..SAME });
        assert_eq!(receiver.latency_ns(), 0, "that to another host is measured");
        receiver.receive(call(9_000, 9_200), &told, SAME);
        let own_ns = receiver.latency_ns() + 200;
        assert!(
            own_ns.abs_diff(sender.latency_ns()) <= 4_000 / 250,
            "less what its own calls take"
        );
    }

    #[test]
    fn an_answer_tells_the_latency() {
        let post = Post { posted_ns: 1_000, intrusion_ns: 0 };
        let heard = |receiver: &Companion| {
            let mut sender = Clock::default();
            sender.hear_answer(call(1_000, 9_000), post, receiver, SAME);
            sender.latency_ns()
        };
        assert_eq!(heard(&companion(7_000)), 2_000, "from posting on");
        assert_eq!(heard(&companion(2_000)), 4_000, "there and back");
        assert_eq!(heard(&companion(500)), 0, "it was there before");
        let told = companion(500).with_nearest(Latency::of(100));
        assert_eq!(heard(&told), 100);
    }
}
