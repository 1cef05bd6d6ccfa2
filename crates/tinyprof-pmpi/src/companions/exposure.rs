//! Accesses to windows that both sides take part in (MPI 4.0, section 12.5.2): a companion goes
//! with each post to those who may access the memory, and with each end of an access to its rank.
//!
//! MPI may wait for a post where the access begins, in an access, or where it ends. So each of
//! these calls looks whether all posts are there, and the first that finds them has waited.

use tinyprof::__calls::{CallpathId, EdgeKey, EdgeKind, Recorder, Visited};
use tinyprof_messages::clock::message;
use tinyprof_messages::companion::Companion;
use tinyprof_messages::matching::Stream;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::Offset;

use super::carrier::Way;
use super::causes;
use super::common_clock::Span;
use super::objects::Joint;
use super::partner::Partner;
use super::receive::waited;
use super::state::State;
use crate::communicators::Twin;
use crate::library::Mpi;

/// What a companion goes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Post = 0,
    Complete = 1,
}

/// What is added to the tag of a stream to count those that come.
const COMING: i32 = 2;

/// A call that is under way.
#[derive(Clone, Copy)]
pub(crate) struct Access<'a> {
    pub(crate) mpi: &'a Mpi,
    pub(crate) recorder: Recorder,
    pub(crate) visited: Visited,
    pub(crate) window: &'a Joint,
}

impl State {
    /// Notes that this rank posts its memory to others, ranks of the world relative to it.
    pub(crate) fn post_memory(&mut self, access: Access<'_>, entered_ns: u64, to: Vec<i32>) {
        self.give_sign(access, entered_ns, Sign::Post, &to);
        access.window.with_epochs(|epochs| epochs.exposed = to);
    }

    /// Notes that this rank begins to access the memory of others.
    pub(crate) fn begin_access(&mut self, access: Access<'_>, of: Vec<i32>) {
        let Some(twin) = access.window.group.twin() else { return };
        let number = |&rank: &i32| Some((rank, self.next_coming(&twin, Sign::Post, rank)?));
        let awaited = of.iter().filter_map(number).collect();
        access.window.with_epochs(|epochs| {
            epochs.accessed = of;
            epochs.awaited = awaited;
        });
    }

    /// Notes that this rank ends its access, in a call that it has just entered.
    pub(crate) fn end_access(&mut self, access: Access<'_>, entered_ns: u64) {
        let of = access.window.with_epochs(|epochs| std::mem::take(&mut epochs.accessed));
        self.give_sign(access, entered_ns, Sign::Complete, &of);
    }

    /// Finds out whether a call has waited for the last post. `is_end`: the access has ended, so
    /// that nobody will wait for those that are not there.
    pub(crate) fn wait_for_posts(&mut self, access: Access<'_>, span: Span, is_end: bool) {
        let Some(twin) = access.window.group.twin() else { return };
        let awaited = access.window.with_epochs(|epochs| std::mem::take(&mut epochs.awaited));
        let has_come = |&(rank, number): &(i32, u64)| {
            self.common().carrier.peek(&partner(twin, Sign::Post, rank), number).is_some()
        };
        if is_end || awaited.iter().all(has_come) {
            self.wait_for(access, &twin, Sign::Post, &awaited, Some(span));
        } else {
            access.window.with_epochs(|epochs| epochs.awaited = awaited);
        }
    }

    /// Finds out whether a call has waited for the end of the last access to this rank's memory:
    /// `None` if it was found to have ended.
    pub(crate) fn wait_for_ends(&mut self, access: Access<'_>, span: Option<Span>) {
        let Some(twin) = access.window.group.twin() else { return };
        let exposed = access.window.with_epochs(|epochs| std::mem::take(&mut epochs.exposed));
        let number = |&rank: &i32| Some((rank, self.next_coming(&twin, Sign::Complete, rank)?));
        let awaited: Vec<_> = exposed.iter().filter_map(number).collect();
        self.wait_for(access, &twin, Sign::Complete, &awaited, span);
    }

    fn give_sign(&mut self, access: Access<'_>, entered_ns: u64, sign: Sign, to: &[i32]) {
        let Some(twin) = access.window.group.twin() else { return };
        for &rank in to {
            let to = partner(twin, sign, rank);
            let Some(sequence) = self.common().sent.next(to.stream) else {
                self.facts.companions_unclear += 1;
                continue;
            };
            let companion = self.companion(access.visited, &twin, sequence, entered_ns);
            if matches!(self.common().carrier.send(access.mpi, &companion, &to, None), Way::Full) {
                self.facts.companions_missing += 1;
            }
        }
    }

    fn next_coming(&mut self, twin: &Twin, sign: Sign, rank: i32) -> Option<u64> {
        let stream = partner(*twin, sign, rank).stream;
        self.common().sent.next(Stream { tag: stream.tag + COMING, ..stream })
    }

    /// Takes the companions of signs that have come. The call has waited for the last of them.
    fn wait_for(
        &mut self,
        access: Access<'_>,
        twin: &Twin,
        sign: Sign,
        awaited: &[(i32, u64)],
        span: Option<Span>,
    ) {
        let mut last: Option<(i32, Companion)> = None;
        let mut all = None;
        for (nth, &(rank, number)) in (0..).zip(awaited) {
            let from = partner(*twin, sign, rank);
            let claimed =
                self.common().carrier.claim(access.mpi, access.recorder, &from, number, |_| None);
            let Some(companion) = claimed else { continue };
            self.facts.companions += 1;
            if span.is_none() {
                self.clock.find(&companion);
            }
            let one = message(&companion, Offset::default(), nth);
            let both = all.map_or(one, |all: Meeting| all.combine(one));
            if both.last_rank == nth {
                last = Some((rank, companion));
            }
            all = Some(both);
        }
        let (Some(all), Some((partner, companion))) = (all, last) else { return };
        let wait = span.map(|span| self.clock.meet(span, &all)).unwrap_or_default();
        let kind = match sign {
            Sign::Post => EdgeKind::Post,
            Sign::Complete => EdgeKind::Complete,
        };
        let from = CallpathId::from_bits(companion.callpath);
        causes::not_explained(wait.waiting_ns);
        access.visited.add_edge(&EdgeKey { kind, partner, from }, &waited(&wait));
    }
}

/// Returns the other end of signs to or from a rank of the world, relative to this one.
fn partner(twin: Twin, sign: Sign, relative: i32) -> Partner {
    let (communicator, peer) = (twin.number, relative.cast_unsigned());
    Partner { twin, relative, stream: Stream { communicator, peer, tag: sign as i32 } }
}
