//! How companions get from one rank to another.

use std::ffi::c_int;
use std::sync::atomic::AtomicU64;

use tinyprof::__calls::Recorder;
use tinyprof_messages::companion::Companion;

use super::causes::Causes;
use super::distance;
use super::mail::Mail;
use super::order::Order;
use super::partner::Partner;
use super::shared::{self, Answer, Expected, Heard, Incoming, Lanes, Outgoing};
use crate::communicators::Twin;
use crate::library::Mpi;

/// The way that a companion has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// To this place in a lane, where it may be answered.
    Lane(u64),
    /// By a message of MPI.
    Mail,
    /// None: there was no room.
    Full,
}

/// The ways of companions.
pub(super) struct Carrier {
    /// In memory that the ranks of a host share.
    lanes: Option<Lanes>,
    /// By messages of MPI, to all others.
    mail: Option<Box<Mail>>,
}

impl Carrier {
    /// Returns the best way that all ranks have. Collective over the world, whose ranks run on one
    /// host.
    pub(super) fn on_one_host(mpi: &Mpi) -> Self {
        let lanes = shared::begin(mpi);
        let mail = if lanes.is_none() { Some(Box::new(Mail::new(mpi))) } else { None };
        Self { lanes, mail }
    }

    /// Returns the ways to ranks on this rank's host, on which rank `first` is the first, and to
    /// those on others. Collective over the world.
    pub(super) fn on_several_hosts(mpi: &Mpi, first: c_int) -> Self {
        let lanes = shared::begin_on_host(mpi, first);
        Self { lanes, mail: Some(Box::new(Mail::new(mpi))) }
    }

    /// Brings a companion on its way, before its message.
    #[inline]
    pub(super) fn send(
        &mut self,
        mpi: &Mpi,
        companion: &Companion,
        to: &Partner,
        causes: Option<&mut Causes>,
    ) -> Way {
        let lane = self.lanes.as_mut().and_then(|lanes| lanes.to(to.relative));
        match (lane, &mut self.mail) {
            (Some(lane), _) => lane.put(companion, to.stream.tag).map_or(Way::Full, Way::Lane),
            (None, Some(mail)) => {
                if mail.send(mpi, companion, to, causes) {
                    Way::Mail
                } else {
                    Way::Full
                }
            }
            (None, None) => Way::Full,
        }
    }

    /// Returns the lane to a rank of the world, given relative to this one.
    #[inline]
    pub(super) fn lane_to(&mut self, relative: i32) -> Option<&mut Outgoing> {
        self.lanes.as_mut()?.to(relative)
    }

    /// Takes back the companion of message `number` of a stream, which was not sent. Returns false
    /// if it has gone by mail: its receiver will see it.
    #[cold]
    pub(super) fn take_back(&mut self, to: &Partner, number: u64) -> bool {
        let lane = self.lanes.as_mut().and_then(|lanes| lanes.to(to.relative));
        lane.is_some_and(|lane| {
            lane.take_back(&to.which(number));
            true
        })
    }

    /// Returns the lane from a rank of the world, given relative to this one.
    #[inline]
    pub(super) fn lane_from(&mut self, relative: i32) -> Option<&mut Incoming> {
        self.lanes.as_mut()?.from(relative)
    }

    /// Returns whether a rank has taken all companions to it, as far as lanes tell.
    pub(super) fn is_taken(&self, relative: i32) -> bool {
        self.lanes.as_ref().is_some_and(|lanes| lanes.is_taken(relative))
    }

    /// Returns what it takes to keep the order of messages, if there are lanes to all ranks.
    pub(super) fn order(&self) -> Option<Order> {
        let lanes = self.lanes.as_ref()?;
        Order::new(lanes.rank()?, lanes.ranks(), shared::notices()?)
    }

    /// Returns where the companion of the next message of a rank of the world will be, given
    /// relative to this one.
    #[inline]
    pub(super) fn expected(&mut self, from: i32) -> Option<Expected> {
        self.lane_from(from).map(|lane| lane.expected())
    }

    /// Returns the companion of message `number` of a stream, which has come. Its sender gets the
    /// answer, if it travels in a lane.
    #[inline]
    pub(super) fn claim(
        &mut self,
        mpi: &Mpi,
        recorder: Recorder,
        from: &Partner,
        number: u64,
        answer: impl FnOnce(&Companion) -> Option<Answer>,
    ) -> Option<Companion> {
        if let Some(lane) = self.lane_from(from.relative) {
            return lane.take(&from.which(number), answer);
        }
        self.mail.as_mut()?.claim(mpi, recorder, from, number)
    }

    /// Returns the companion of message `number` of a stream, which has come and stays. Only lanes
    /// can tell.
    pub(super) fn peek(&mut self, from: &Partner, number: u64) -> Option<Companion> {
        self.lane_from(from.relative)?.peek(&from.which(number))
    }

    /// Returns the moment from which all ranks count, in ns. On one host it is that of the first
    /// caller.
    pub(super) fn origin_ns(&self, now_ns: u64) -> u64 {
        let of_host = || self.lanes.as_ref().map_or(now_ns, |lanes| lanes.origin_ns(now_ns));
        distance::origin_ns().unwrap_or_else(of_host)
    }

    /// Returns the words in which a rank of the world, relative to this one, keeps why it waits.
    pub(super) fn block(&self, relative: i32) -> Option<&'static [AtomicU64]> {
        self.lanes.as_ref()?.block(relative)
    }

    /// Returns what a rank of another host, relative to this one, has told of the moment at which
    /// it came; none if it has not.
    pub(super) fn told(&self, relative: i32, came_ns: u64) -> Option<&[u64]> {
        self.mail.as_ref()?.told(relative, came_ns)
    }

    /// Returns whether senders to or from a rank of the world, relative to this one, are answered.
    pub(super) fn answers(&mut self, relative: i32) -> bool {
        self.lane_from(relative).is_some()
    }

    /// Returns what the receiver says of a message, whose companion is at a place in the lane to
    /// it.
    #[inline]
    pub(super) fn answered(&mut self, to: i32, position: u64) -> Heard {
        let lane = self.lanes.as_mut().and_then(|lanes| lanes.to(to));
        lane.map_or(Heard::Nothing, |lane| lane.heard(position))
    }

    /// Returns how many companions have come in lanes that nobody has asked for.
    pub(super) fn left(&self) -> u64 {
        self.lanes.as_ref().map_or(0, Lanes::left)
    }

    /// Drops the companions of a communicator that is freed.
    pub(super) fn forget(&mut self, mpi: &Mpi, twin: &Twin) {
        if let Some(lanes) = &mut self.lanes {
            lanes.forget(twin.epoch);
        }
        if let Some(mail) = &mut self.mail {
            mail.forget(mpi, twin);
        }
    }

    /// Ends it, before MPI ends.
    pub(super) fn end(&mut self, mpi: &Mpi) {
        if let Some(mail) = &mut self.mail {
            mail.end(mpi);
        }
    }
}
