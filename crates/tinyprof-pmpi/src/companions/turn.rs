//! Blocking receives from any source where the order of messages is kept: they take them in the
//! order in which they would have been sent without measurement.
//!
//! A receiver holds a message back while another rank may still send one that would have come
//! before it. The time is our overhead.

use std::ffi::c_int;
use std::ptr;

use tinyprof::__calls::Recorder;
use tinyprof_messages::matching::Stream;
use tinyprof_messages::order::{Doing, Verdict};
use tinyprof_messages::time::Post;

use super::common::Common;
use super::common_clock::now_ns;
use super::held::Envelope;
use super::posted::wanted;
use super::state::State;
use crate::abi::Handle;
use crate::communicators::{self, Communicator, Twin};
use crate::library::Mpi;

/// The time for which ranks have to wait before they are taken to wait for the receiver. Some get
/// their message meanwhile.
const QUIET_NS: u64 = 200_000;
/// The longest time for which a message is held back.
const HELD_NS_MAX: u64 = 1_000_000_000;

/// The message that a receive from any source is to take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// Its rank in the communicator.
    pub(crate) source: c_int,
    /// For how long it was held back.
    pub(crate) held_ns: u64,
}

/// A message that has been sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    source: c_int,
    sender: u32,
    sent_ns: u64,
    virtual_ns: i64,
}

/// A receive that holds messages back.
#[derive(Clone, Copy, Debug)]
struct Hold {
    entered_ns: u64,
    /// The virtual time of the message that others know to be held back.
    said_ns: Option<i64>,
    /// If the ranks that are waited for wait themselves: since when, and their pulse then.
    stuck: Option<(u64, u64)>,
}

impl State {
    /// Says what this rank does from `at_ns` on.
    #[inline]
    pub(crate) fn say(&mut self, at_ns: u64, doing: Doing) {
        let (virtual_ns, own_ns) = (self.clock.virtual_ns(at_ns), self.own_intrusion_ns());
        if let Some(order) = &mut self.order {
            order.learn(at_ns, own_ns);
            order.say(at_ns, virtual_ns, doing);
        }
    }

    /// Returns what it is to wait for a rank, given relative to this one.
    pub(crate) fn waiting_for(&self, relative: i32) -> Doing {
        self.order.as_ref().map_or(Doing::Waits, |order| order.waiting_for(relative))
    }

    /// Waits until the first message in virtual time for a receive from any source, which was
    /// entered at `entered_ns`, can be told. `None` if that cannot be: it takes what comes.
    pub(crate) fn take_turn(
        &mut self,
        mpi: &Mpi,
        recorder: Recorder,
        (communicator, tag): (Handle, c_int),
        entered_ns: u64,
    ) -> Option<Turn> {
        self.order.as_ref()?;
        let known = communicators::find(communicator)?;
        let twin = known.twin()?;
        let mut hold = Hold { entered_ns, said_ns: None, stuck: None };
        let is_there = |source| is_there(mpi, communicator, source, tag);
        loop {
            let is_any_there = is_there(mpi.abi.any_source);
            let now_ns = now_ns(recorder);
            // A companion is there before its message.
            let Some(sent) = self.first_sent(mpi, known, &twin, tag) else {
                if is_any_there {
                    return None;
                }
                std::thread::yield_now();
                continue;
            };
            let held_ns = now_ns.saturating_sub(entered_ns.max(sent.sent_ns));
            let is_late = held_ns > HELD_NS_MAX;
            if self.is_turn(&sent, now_ns, &mut hold) || is_late {
                // A library may have received it behind our back.
                if !is_there(sent.source) {
                    if is_late {
                        return None;
                    }
                    std::thread::yield_now();
                    continue;
                }
                let late_ns = now_ns.saturating_sub(entered_ns);
                let intrusion_ns = self.clock.intrusion_ns() + late_ns;
                self.posted_late = Some(Post { posted_ns: now_ns, intrusion_ns });
                return Some(Turn { source: sent.source, held_ns });
            }
            std::thread::yield_now();
        }
    }

    /// Adds the time for which a message was held back.
    pub(crate) fn held_back(&mut self, held_ns: u64) {
        self.delay(held_ns);
        if let Some(order) = &mut self.order {
            order.leave_out(held_ns);
        }
    }

    /// Returns the message that was sent first in virtual time, of those that a receive from any
    /// source would take.
    fn first_sent(
        &mut self,
        mpi: &Mpi,
        known: &Communicator,
        twin: &Twin,
        tag: c_int,
    ) -> Option<Sent> {
        let (order, Common { carrier, receives, .. }) = self.order_and_common();
        let order = order?;
        let sources = 0..known.remote_size.unwrap_or(known.size);
        let sent = sources.filter_map(|source| {
            let wanted = wanted(mpi, twin, Envelope { source, tag });
            let relative = known.relative(source);
            let (first, _) = carrier.lane_from(relative)?.first(|companion, tag| {
                let stream =
                    Stream { communicator: twin.number, peer: source.cast_unsigned(), tag };
                companion.twin == twin.epoch
                    && wanted.accepts(stream)
                    && receives.next(stream) == Some(companion.sequence)
            })?;
            let virtual_ns = first.entry_ns.cast_signed();
            let virtual_ns = virtual_ns.saturating_sub_unsigned(first.intrusion_ns);
            let sender = order.absolute(relative);
            Some(Sent { source, sender, sent_ns: first.entry_ns, virtual_ns })
        });
        sent.min_by_key(|sent| (sent.virtual_ns, sent.sender))
    }

    /// Returns whether a message may be taken.
    fn is_turn(&mut self, sent: &Sent, now_ns: u64, hold: &mut Hold) -> bool {
        // The receiver sends nothing before it has got the message.
        let virtual_ns = sent.virtual_ns.max(self.clock.virtual_ns(hold.entered_ns));
        let (Some(order), common) = self.order_and_common() else { return true };
        if hold.said_ns.replace(virtual_ns) != Some(virtual_ns) {
            order.say(now_ns, virtual_ns, Doing::Waits);
        }
        let has_taken = |relative| common.carrier.is_taken(relative);
        match order.judge(sent.sender, sent.virtual_ns, now_ns, has_taken) {
            Verdict::Safe => true,
            Verdict::TooEarly => {
                hold.stuck = None;
                false
            }
            Verdict::Stuck => {
                let pulse = order.pulse();
                let stuck = hold.stuck.filter(|(_, before)| *before == pulse);
                let (since_ns, _) = *hold.stuck.insert(stuck.unwrap_or((now_ns, pulse)));
                now_ns.saturating_sub(since_ns) > QUIET_NS
            }
        }
    }
}

/// Returns whether a message has come that a receive would take. Gives MPI the chance to go on with
/// what the program has begun, too.
fn is_there(mpi: &Mpi, communicator: Handle, source: c_int, tag: c_int) -> bool {
    let mut flag: c_int = 0;
    let status = ptr::with_exposed_provenance_mut(mpi.abi.status_ignore);
    // SAFETY: the communicator is that of the call under way, and the place is valid.
    let code = unsafe { mpi.iprobe(source, tag, communicator, &raw mut flag, status) };
    // What is wrong with the receive, MPI says when the receive is made.
    code != 0 || flag != 0
}
