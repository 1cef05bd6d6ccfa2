//! Persistent requests: what they say of messages is kept, and counted at each start.

use tinyprof::__calls::{MessageKind, Visited};

use super::Call;
use crate::arguments::Kind;
use crate::communicators::ELSEWHERE;
use crate::function::Role;
use crate::requests::{self, Pending, Request};

impl Call {
    /// Remembers the persistent request that the call has made.
    pub(super) fn prepared(&self, visited: Visited) {
        let at = &self.function.at;
        let communicator = self.known();
        let pending = match self.function.role {
            Role::SendInit | Role::PartitionedSendInit => {
                let to = self.arguments.int(at.dest);
                if to == self.arguments.mpi.abi.proc_null {
                    return;
                }
                let partner = communicator.map_or(ELSEWHERE, |known| known.relative(to));
                let bytes = self.bytes(at.count, at.datatype).saturating_mul(self.partitions());
                Pending::Send { partner, bytes }
            }
            _ if self.arguments.int(at.source) == self.arguments.mpi.abi.proc_null => return,
            _ => Pending::ReceiveAtStart,
        };
        let callpath = visited.callpath();
        if let Some(place) = self.remember(Request { callpath, communicator, pending }) {
            self.hold_prepared(place);
        }
    }

    fn partitions(&self) -> u64 {
        match self.function.role {
            Role::PartitionedSendInit => self.int(self.function.at.partitions) as u64,
            _ => 1,
        }
    }

    /// Remembers what is counted for the request that the call has made, and returns its place.
    pub(super) fn remember(&self, request: Request) -> Option<usize> {
        let handle = self.arguments.handle_at(self.function.at.request, 0, Kind::Request);
        requests::insert(handle, &request)
    }

    /// Counts what the first `count` requests do when they are started.
    pub(super) fn started(&self, count: usize, visited: Visited) {
        let at = &self.function.at;
        let array =
            if count == 1 && self.function.role == Role::Start { at.request } else { at.requests };
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
