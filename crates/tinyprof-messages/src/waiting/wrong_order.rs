//! Late senders that are waited for in the wrong order (P02).

/// A message that was waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// When it was sent, in ns on the receiver's clock.
    pub sent_ns: i64,
    /// The time that the receiver has waited for it.
    pub waiting_ns: u64,
    /// The node of the graph that waited: where this waiting is to be counted.
    pub node: u32,
    /// The rank of the sender in the world.
    pub rank: u32,
}

/// The last 100 messages that a rank has waited for.
///
/// A message that was sent before one of them, and is received after it, shows that the receiver
/// has waited in the wrong order: it could have taken this message first.
///
/// ```
/// use tinyprof_messages::waiting::{Waited, WrongOrder};
///
/// let mut history = WrongOrder::default();
/// history.waited(Waited { sent_ns: 900, waiting_ns: 400, node: 7, rank: 1 });
/// let mut due_to_order = Vec::new();
/// history.received(700, |waited| due_to_order.push((waited.node, waited.waiting_ns)));
/// assert_eq!(due_to_order, [(7, 400)]);
/// history.received(600, |_| panic!("waiting is attributed once"));
/// ```
///
/// # Cost
///
/// One comparison for a message that was sent after all of them, the usual case; otherwise a pass
/// over at most 100 entries.
#[derive(Clone, Debug)]
pub struct WrongOrder {
    entries: [Waited; Self::CAPACITY],
    used: usize,
    next: usize,
    latest_ns: i64,
}

impl WrongOrder {
    /// The number of messages that are remembered.
    pub const CAPACITY: usize = 100;

    /// Remembers a message that was waited for. Call [`received`](Self::received) for it first.
    #[inline]
    pub fn waited(&mut self, waited: Waited) {
        if waited.waiting_ns == 0 {
            return;
        }
        self.entries[self.next] = waited;
        self.next = (self.next + 1) % Self::CAPACITY;
        self.used = (self.used + 1).min(Self::CAPACITY);
        self.latest_ns = self.latest_ns.max(waited.sent_ns);
    }

    /// Notes a received message, waited for or not, that was sent at `sent_ns` on the
    /// receiver's clock. Hands over, and forgets, the messages that it should have preceded.
    #[inline]
    pub fn received(&mut self, sent_ns: i64, due_to_order: impl FnMut(Waited)) {
        if sent_ns < self.latest_ns {
            self.reorder(sent_ns, due_to_order);
        }
    }

    #[cold]
    fn reorder(&mut self, sent_ns: i64, mut due_to_order: impl FnMut(Waited)) {
        self.latest_ns = i64::MIN;
        for entry in &mut self.entries[..self.used] {
            // Forgotten.
            if entry.waiting_ns == 0 {
                continue;
            }
            if entry.sent_ns > sent_ns {
                due_to_order(std::mem::take(entry));
            } else {
                self.latest_ns = self.latest_ns.max(entry.sent_ns);
            }
        }
    }
}

impl Default for WrongOrder {
    fn default() -> Self {
        let entries = [Waited::default(); Self::CAPACITY];
        Self { entries, used: 0, next: 0, latest_ns: i64::MIN }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares with a queue of 100 without shortcuts.
        #[test]
        fn it_finds_what_a_queue_finds(
            messages in proptest::collection::vec((0_i64..1_000, 0_u64..3), 0..400)
        ) {
            let mut history = WrongOrder::default();
            let mut queue: VecDeque<Option<Waited>> = VecDeque::new();
            for (node, (sent_ns, waiting_ns)) in (0..).zip(messages) {
                let mut found = Vec::new();
                history.received(sent_ns, |waited| found.push(waited));
                found.sort_by_key(|waited| waited.node);
                let mut expected = Vec::new();
                for entry in &mut queue {
                    expected.extend(entry.take_if(|waited| waited.sent_ns > sent_ns));
                }
                prop_assert_eq!(found, expected);
                let waited = Waited { sent_ns, waiting_ns, node, rank: 0 };
                history.waited(waited);
                if waiting_ns > 0 {
                    queue.push_back(Some(waited));
                    if queue.len() > WrongOrder::CAPACITY {
                        queue.pop_front();
                    }
                }
            }
        }
    }
}
