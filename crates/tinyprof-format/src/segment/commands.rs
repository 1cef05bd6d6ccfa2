//! The commands in a segment: those that its thread has obeyed, and the one that it has not come
//! to.

use tinyprof_segment::control::{Command, commanded};
use tinyprof_segment::layout::header;
use tinyprof_segment::obeyed::{self, Obeyed};
use tinyprof_segment::words::low;

use super::header::Segment;
use crate::model::RankCommands;

/// Returns the commands of a process from all of its segments.
pub(super) fn commands_of(segments: &[Segment<'_>]) -> RankCommands {
    let mut all = RankCommands::default();
    let started_ns = segments.iter().map(|segment| segment.header().start_ns).min().unwrap_or(0);
    for segment in segments {
        let (obeyed, without_room) = obeyed_of(segment);
        all.add_thread(started_ns, &obeyed, pending_of(segment).as_ref());
        all.without_room = all.without_room.saturating_add(without_room);
    }
    // Of a process that was killed it is not known when.
    all.off_ns = off_ns_until(segments, 0);
    all
}

/// Returns since when measuring was off on the thread, in ticks; `None` if it was on.
pub(super) fn off_since(segment: &Segment<'_>) -> Option<u64> {
    segment.words.get(0, header::OFF_SINCE).filter(|since| *since != 0)
}

/// Returns for how long measuring was off, in ns, up to now: of the thread for which it was
/// longest.
pub(super) fn off_ns_until(segments: &[Segment<'_>], now_ns: u64) -> u64 {
    let of = |segment: &Segment<'_>| {
        let word = |at| segment.words.get(0, at).unwrap_or(0);
        let since_ns = word(header::OFF_SINCE_NS);
        let now_ns = if since_ns == 0 { 0 } else { now_ns.saturating_sub(since_ns) };
        word(header::OFF_NS).saturating_add(now_ns)
    };
    segments.iter().map(of).max().unwrap_or(0)
}

fn obeyed_of(segment: &Segment<'_>) -> (Vec<Obeyed>, u64) {
    let place = segment.words.get(0, header::OBEYED).filter(|place| *place != 0);
    let bytes = place.and_then(|place| segment.words.bytes(low(place), 0, obeyed::WORDS * 8));
    let words = bytes.map(<[u8]>::as_chunks).unwrap_or_default().0;
    obeyed::read(|at| words.get(at).map_or(0, |word| u64::from_le_bytes(*word)))
}

fn pending_of(segment: &Segment<'_>) -> Option<Command> {
    let word = |at| segment.words.get(0, at).unwrap_or(0);
    commanded(word).filter(|command| low(word(header::ANSWER)) != command.number)
}
