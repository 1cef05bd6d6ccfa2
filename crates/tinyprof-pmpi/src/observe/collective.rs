//! Collective operations: the bytes that the standard says a rank's own buffers hold.
//!
//! Out is what a rank puts in: its contribution to a reduction or a gather, and a part for each
//! rank where it sends to all. In is what its receive buffer holds afterwards. `MPI_IN_PLACE`
//! changes where the data is, and not how much (MPI 4.0, chapter 6).

use std::ffi::c_int;

use tinyprof::__calls::{MessageKind, Visited};

use super::Call;
use crate::arguments::Kind;
use crate::communicators::{self, Communicator};
use crate::datatypes;
use crate::function::{Collective, Positions};
use crate::requests::{Pending, Request};

/// The side of a rooted operation that the caller is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Root,
    Other,
    /// In the group of an intercommunicator's root, and not the root: nothing to do.
    Nothing,
}

impl Call {
    /// Counts a collective operation, or remembers it if it is to be counted at each start.
    #[inline]
    pub(super) fn exchanged(&self, kind: Collective, is_once: bool, visited: Visited) {
        let Some(known) = self.known() else { return };
        let ((out, into), ranks) = (self.exchange(kind, known), known.size);
        if is_once {
            self.count_collective(visited, ranks, out, into);
        } else {
            let pending = Pending::Collective { ranks, out, into };
            let (callpath, communicator) = (visited.callpath(), Some(known));
            let place = self.remember(Request { callpath, communicator, pending });
            self.prepare_operation(known, place);
        }
    }

    /// Counts the bytes of a collective operation over `ranks` ranks.
    pub(super) fn count_collective(&self, visited: Visited, ranks: i32, out: u64, into: u64) {
        visited.count(MessageKind::CollectiveOut, ranks, out);
        if into > 0 {
            visited.count(MessageKind::CollectiveIn, ranks, into);
        }
    }

    fn side(&self, of: &Communicator) -> Side {
        let root: c_int = self.arguments.int(self.function.at.root);
        let abi = &self.arguments.mpi.abi;
        let is_inter = of.remote_size.is_some();
        if is_inter && root == abi.proc_null {
            return Side::Nothing;
        }
        let is_root = if is_inter { root == abi.root } else { root == of.rank };
        if is_root { Side::Root } else { Side::Other }
    }

    /// Returns the bytes out and in.
    fn exchange(&self, kind: Collective, of: &Communicator) -> (u64, u64) {
        let at = &self.function.at;
        let is_rooted = at.root != Positions::NO;
        let side = if is_rooted { self.side(of) } else { Side::Other };
        if side == Side::Nothing {
            return (0, 0);
        }
        let is_root = side == Side::Root;
        let is_inter = of.remote_size.is_some();
        let is_in_place = at.sendbuf != Positions::NO && self.arguments.is_in_place(at.sendbuf);
        let others = of.others();
        let each = || 0..usize::try_from(others).unwrap_or(0);
        let local = of.size.unsigned_abs();
        let me = usize::try_from(of.rank).unwrap_or(0);
        let plain = || self.bytes(at.count, at.datatype);
        let send = || self.bytes(at.sendcount, at.sendtype);
        let receive = || self.bytes(at.recvcount, at.recvtype);
        match kind {
            Collective::Barrier => (0, 0),
            Collective::Bcast if is_root => (plain(), 0),
            Collective::Bcast => (0, plain()),
            Collective::Gather | Collective::Gatherv => {
                let all = || match kind {
                    Collective::Gather => receive() * others,
                    _ => self.sum(at.recvcounts, at.recvtype, each()),
                };
                let own = || match kind {
                    Collective::Gather => receive(),
                    _ => self.one(at.recvcounts, at.recvtype, me),
                };
                match (is_root, is_inter, is_in_place) {
                    (false, ..) => (send(), 0),
                    (true, true, _) => (0, all()),
                    (true, false, true) => (own(), all()),
                    (true, false, false) => (send(), all()),
                }
            }
            Collective::Scatter | Collective::Scatterv => {
                let all = || match kind {
                    Collective::Scatter => send() * others,
                    _ => self.sum(at.sendcounts, at.sendtype, each()),
                };
                let own = || match kind {
                    Collective::Scatter => send(),
                    _ => self.one(at.sendcounts, at.sendtype, me),
                };
                match (is_root, is_inter, self.arguments.is_in_place(at.recvbuf)) {
                    (false, ..) => (0, receive()),
                    (true, true, _) => (all(), 0),
                    (true, false, true) => (all(), own()),
                    (true, false, false) => (all(), receive()),
                }
            }
            Collective::Allgather => {
                (if is_in_place { receive() } else { send() }, receive() * others)
            }
            Collective::Allgatherv => {
                let own = || self.one(at.recvcounts, at.recvtype, me);
                let all = self.sum(at.recvcounts, at.recvtype, each());
                (if is_in_place { own() } else { send() }, all)
            }
            Collective::Alltoall => {
                let into = receive() * others;
                (if is_in_place { into } else { send() * others }, into)
            }
            Collective::Alltoallv => {
                let into = self.sum(at.recvcounts, at.recvtype, each());
                let out = || self.sum(at.sendcounts, at.sendtype, each());
                (if is_in_place { into } else { out() }, into)
            }
            Collective::Alltoallw => {
                let into = self.sum_of_types(at.recvcounts, at.recvtypes, each());
                let out = || self.sum_of_types(at.sendcounts, at.sendtypes, each());
                (if is_in_place { into } else { out() }, into)
            }
            Collective::Reduce => match (is_root, is_inter) {
                (true, true) => (0, plain()),
                (true, false) => (plain(), plain()),
                (false, _) => (plain(), 0),
            },
            Collective::Allreduce | Collective::Scan => (plain(), plain()),
            Collective::Exscan => (plain(), if me == 0 { 0 } else { plain() }),
            Collective::ReduceScatter => (
                self.sum(at.recvcounts, at.datatype, 0..local as usize),
                self.one(at.recvcounts, at.datatype, me),
            ),
            Collective::ReduceScatterBlock => {
                let one = self.bytes(at.recvcount, at.datatype);
                (one.saturating_mul(local.into()), one)
            }
            Collective::NeighborAllgather
            | Collective::NeighborAllgatherv
            | Collective::NeighborAlltoall
            | Collective::NeighborAlltoallv
            | Collective::NeighborAlltoallw => self.exchange_with_neighbors(kind),
        }
    }

    fn exchange_with_neighbors(&self, kind: Collective) -> (u64, u64) {
        let at = &self.function.at;
        let neighbors = communicators::neighbors(self.arguments.mpi, self.communicator());
        // To nobody a call may pass anything.
        let each = |count, datatype, neighbors| match neighbors {
            0 => 0,
            _ => self.bytes(count, datatype).saturating_mul(neighbors),
        };
        let send = || each(at.sendcount, at.sendtype, neighbors.destinations);
        let receive = || each(at.recvcount, at.recvtype, neighbors.sources);
        let (to, from) = (neighbors.destination_places(), neighbors.source_places());
        match kind {
            Collective::NeighborAllgather => (send(), receive()),
            Collective::NeighborAllgatherv => (send(), self.sum(at.recvcounts, at.recvtype, from)),
            Collective::NeighborAlltoall => (send(), receive()),
            Collective::NeighborAlltoallv => (
                self.sum(at.sendcounts, at.sendtype, to),
                self.sum(at.recvcounts, at.recvtype, from),
            ),
            _ => (
                self.sum_of_types(at.sendcounts, at.sendtypes, to),
                self.sum_of_types(at.recvcounts, at.recvtypes, from),
            ),
        }
    }

    /// Returns the bytes of element `index` of an array of counts.
    fn one(&self, counts: u8, datatype: u8, index: usize) -> u64 {
        self.sum(counts, datatype, std::iter::once(index))
    }

    /// Returns the bytes of these elements of an array of counts.
    fn sum(&self, counts: u8, datatype: u8, ranks: impl Iterator<Item = usize>) -> u64 {
        let elements =
            ranks.map(|index| self.arguments.count_at(counts, index)).fold(0, u64::saturating_add);
        let datatype = self.arguments.handle(datatype, Kind::Datatype);
        datatypes::bytes_of_several(self.arguments.mpi, elements, datatype)
    }

    /// Returns the bytes of these elements of an array of counts, each with a datatype of its own.
    fn sum_of_types(&self, counts: u8, datatypes: u8, ranks: impl Iterator<Item = usize>) -> u64 {
        let one = |index| {
            let datatype = self.arguments.handle_at(datatypes, index, Kind::Datatype);
            let count = self.arguments.count_at(counts, index);
            datatypes::bytes_of_several(self.arguments.mpi, count, datatype)
        };
        ranks.map(one).fold(0, u64::saturating_add)
    }
}
