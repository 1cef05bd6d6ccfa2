//! What the companions need of a request, beside what the table of requests has: at the same place.

use std::ffi::c_int;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_messages::matching::{Posted, Ticket};
use tinyprof_messages::time::Post;

use super::blocked::Sent;
use crate::requests::SLOTS;

/// A message to come or to go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// The partner's rank in the communicator, or `MPI_ANY_SOURCE`.
    pub(crate) peer: c_int,
    /// The tag, or `MPI_ANY_TAG`.
    pub(crate) tag: c_int,
    /// For a receive, its place in the order of posting. `None` if nobody follows it.
    pub(crate) posted: Option<Posted>,
    /// For a receive, when it was posted.
    pub(crate) post: Post,
    /// The ideal time then, in ns.
    pub(crate) ideal_ns: u64,
}

/// Source and tag of messages, as the program passes them: each may be any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope {
    pub(crate) source: c_int,
    pub(crate) tag: c_int,
}

impl Held {
    /// An untracked message.
    pub(crate) const NOT_FOLLOWED: Self = Self {
        peer: 0,
        tag: 0,
        posted: None,
        post: Post { posted_ns: 0, intrusion_ns: 0 },
        ideal_ns: 0,
    };

    /// Returns source and tag of a receive.
    pub(crate) fn envelope(&self) -> Envelope {
        Envelope { source: self.peer, tag: self.tag }
    }
}

static HELD: [Slot; SLOTS] = [const { Slot::new() }; SLOTS];

struct Slot {
    /// The peer, and the tag in the high half.
    envelope: AtomicU64,
    kind: AtomicU64,
    number: AtomicU64,
    posted_ns: AtomicU64,
    intrusion_ns: AtomicU64,
    /// For a send, the receiver, relative to this rank.
    ideal_ns: AtomicU64,
    bytes: AtomicU64,
}

/// The kind of a slot of a message that is sent.
const SENT: u64 = 4;

impl Slot {
    const fn new() -> Self {
        const fn zero() -> AtomicU64 {
            AtomicU64::new(0)
        }
        Self {
            envelope: zero(),
            kind: zero(),
            number: zero(),
            posted_ns: zero(),
            intrusion_ns: zero(),
            ideal_ns: zero(),
            bytes: zero(),
        }
    }
}

/// Keeps what is known of the request at a place of the table.
pub(crate) fn keep(place: usize, held: &Held) {
    let slot = &HELD[place];
    let (peer, tag) = (held.peer.cast_unsigned(), held.tag.cast_unsigned());
    slot.envelope.store(u64::from(peer) | u64::from(tag) << 32, Relaxed);
    let (kind, number) = match held.posted {
        None => (0, 0),
        Some(Posted::Number(number)) => (1, number),
        Some(Posted::Ticket(ticket)) => (2, ticket.to_bits()),
        Some(Posted::Unclear) => (3, 0),
    };
    slot.kind.store(kind, Relaxed);
    slot.number.store(number, Relaxed);
    slot.posted_ns.store(held.post.posted_ns, Relaxed);
    slot.intrusion_ns.store(held.post.intrusion_ns, Relaxed);
    slot.ideal_ns.store(held.ideal_ns, Relaxed);
}

/// Keeps what is asked about a message that the request at a place of the table sends. Partner and
/// tag stay.
pub(crate) fn keep_sent(place: usize, sent: Option<&Sent>) {
    let slot = &HELD[place];
    slot.kind.store(if sent.is_some() { SENT } else { 0 }, Relaxed);
    if let Some(sent) = sent {
        slot.number.store(sent.position, Relaxed);
        slot.posted_ns.store(sent.post.posted_ns, Relaxed);
        slot.intrusion_ns.store(sent.post.intrusion_ns, Relaxed);
        slot.ideal_ns.store(u64::from(sent.to.cast_unsigned()), Relaxed);
        slot.bytes.store(sent.bytes, Relaxed);
    }
}

/// Takes what is asked about the message that the request at a place of the table has sent.
#[expect(clippy::cast_possible_truncation, reason = "half of a word")]
pub(crate) fn take_sent(place: usize) -> Option<Sent> {
    let slot = &HELD[place];
    if slot.kind.load(Relaxed) != SENT {
        return None;
    }
    slot.kind.store(0, Relaxed);
    let (posted_ns, intrusion_ns) = (slot.posted_ns.load(Relaxed), slot.intrusion_ns.load(Relaxed));
    Some(Sent {
        to: (slot.ideal_ns.load(Relaxed) as u32).cast_signed(),
        position: slot.number.load(Relaxed),
        bytes: slot.bytes.load(Relaxed),
        post: Post { posted_ns, intrusion_ns },
    })
}

/// Returns what is known of the request at a place of the table.
#[expect(clippy::cast_possible_truncation, reason = "the halves of a word")]
pub(crate) fn at(place: usize) -> Held {
    let slot = &HELD[place];
    let envelope = slot.envelope.load(Relaxed);
    let number = slot.number.load(Relaxed);
    let posted = match slot.kind.load(Relaxed) {
        0 => None,
        1 => Some(Posted::Number(number)),
        2 => Some(Posted::Ticket(Ticket::from_bits(number))),
        SENT => None,
        _ => Some(Posted::Unclear),
    };
    let (posted_ns, intrusion_ns) = (slot.posted_ns.load(Relaxed), slot.intrusion_ns.load(Relaxed));
    Held {
        peer: (envelope as u32).cast_signed(),
        tag: ((envelope >> 32) as u32).cast_signed(),
        posted,
        post: Post { posted_ns, intrusion_ns },
        ideal_ns: slot.ideal_ns.load(Relaxed),
    }
}
