//! Persistent requests: what they say of messages is kept, and counted at each start.

use tinyprof::__calls::{MessageKind, Visited};

use super::Call;
use crate::arguments::Kind;
use crate::communicators::ELSEWHERE;
use crate::function::{Positions, Prepares};
use crate::requests::{self, Pending, Request};

impl Call {
    /// Remembers the persistent request that the call has made.
    pub(super) fn prepared(&self, prepares: Prepares, visited: Visited) {
        let at = &self.function.at;
        let communicator = self.known();
        let partitions = match prepares {
            Prepares::Send | Prepares::Receive | Prepares::PartitionedReceive => 1,
            Prepares::PartitionedSend => self.int(at.partitions) as u64,
        };
        let proc_null = self.arguments.mpi.abi.proc_null;
        let pending = match prepares {
            Prepares::Send | Prepares::PartitionedSend => {
                let to = self.arguments.int(at.dest);
                if to == proc_null {
                    return;
                }
                let partner = communicator.map_or(ELSEWHERE, |known| known.relative(to));
                let bytes = self.bytes(at.count, at.datatype).saturating_mul(partitions);
                Pending::Send { partner, bytes }
            }
            Prepares::Receive | Prepares::PartitionedReceive => {
                if self.arguments.int(at.source) == proc_null {
                    return;
                }
                Pending::ReceiveAtStart
            }
        };
        let callpath = visited.callpath();
        if let Some(place) = self.remember(Request { callpath, communicator, pending }) {
            self.hold_prepared(prepares, place);
        }
    }

    /// Returns the number of requests that the call starts, and the word of the first or of their
    /// array.
    pub(super) fn requests_to_start(&self) -> (usize, u8) {
        let at = &self.function.at;
        match at.requests {
            Positions::NO => (1, at.request),
            requests => (self.int(at.count), requests),
        }
    }

    /// Remembers what is counted for the request that the call has made, and returns its place.
    pub(super) fn remember(&self, request: Request) -> Option<usize> {
        let handle = self.arguments.handle_at(self.function.at.request, 0, Kind::Request);
        requests::insert(handle, &request)
    }

    /// Counts what the requests do that the call starts.
    pub(super) fn started(&self, visited: Visited) {
        let (count, array) = self.requests_to_start();
        for index in 0..count {
            let handle = self.arguments.handle_at(array, index, Kind::Request);
            let Some((place, request)) = requests::find(handle) else { continue };
            match request.pending {
                Pending::Send { partner, bytes } => {
                    visited.count(MessageKind::MessageOut, partner, bytes);
                }
                Pending::Collective { ranks, out, into } => {
                    requests::start(place, visited.callpath());
                    self.count_collective(visited, ranks, out, into);
                }
                Pending::ReceiveAtStart => {
                    requests::start(place, visited.callpath());
                    self.hold_started(place, handle);
                }
                Pending::Receive | Pending::Read | Pending::Sent | Pending::Started => {}
            }
        }
    }
}
