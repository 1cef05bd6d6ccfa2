//! Messages of which both ends are in lanes of the page.

use serde_json::{Value, json};
use tinyprof_format::model::MessageEvent;

use crate::events::OpenEnds;
use crate::html::columns::Columns;

/// The most messages that are in the page. Of more, those that took least time are left out.
const MESSAGES_MAX: usize = 50_000;

/// An end of a message in a lane.
#[derive(Clone, Copy, Debug)]
struct End {
    lane: u64,
    event: MessageEvent,
}

/// The messages of all lanes so far.
#[derive(Debug, Default)]
pub(super) struct Messages {
    ends: OpenEnds<End>,
    /// The ends of senders and of receivers.
    found: Vec<(End, End)>,
}

impl Messages {
    /// Adds the ends of messages in the lane with this number, which is of this rank.
    pub(super) fn add(&mut self, rank: u32, lane: u64, messages: &[MessageEvent]) {
        let both =
            messages.iter().filter_map(|&of| self.ends.add(rank, &of.end, End { lane, event: of }));
        self.found.extend(both);
    }

    /// Returns the messages for the page, in the order in which they were sent; times count from
    /// `from_ns` on.
    pub(super) fn json(mut self, from_ns: u64, columns: &mut Columns) -> Value {
        let left_out = self.found.len().saturating_sub(MESSAGES_MAX);
        if left_out > 0 {
            self.found.sort_by_key(|message| std::cmp::Reverse(under_way_ns(message)));
            self.found.truncate(MESSAGES_MAX);
        }
        self.found.sort_by_key(|(sent, received)| (sent.event.at_ns, received.event.at_ns));
        let found = &self.found;
        let before = std::iter::once(from_ns).chain(found.iter().map(|(sent, _)| sent.event.at_ns));
        let gaps: Vec<u64> = found
            .iter()
            .zip(before)
            .map(|((sent, _), before)| sent.event.at_ns.saturating_sub(before))
            .collect();
        json!({
            "from": columns.add_exact(found.iter().map(|(sent, _)| sent.lane)),
            "to": columns.add_exact(found.iter().map(|(_, received)| received.lane)),
            "gaps": columns.add_exact(gaps.into_iter()),
            "durations": columns.add_exact(found.iter().map(under_way_ns)),
            "bytes": columns.add_exact(found.iter().map(|(_, received)| received.event.end.bytes)),
            // A tag that the standard allows is not below 0.
            "tags": columns
                .add_exact(found.iter().map(|(sent, _)| sent.event.end.tag.unsigned_abs().into())),
            "left_out": left_out,
        })
    }
}

/// Returns the time from the begin of the call that sent a message to the end of that which got it.
/// Clocks of hosts may differ by more.
fn under_way_ns((sent, received): &(End, End)) -> u64 {
    received.event.at_ns.saturating_sub(sent.event.at_ns)
}
