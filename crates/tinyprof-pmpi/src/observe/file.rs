//! Files: bytes that are read and written.

use tinyprof::__calls::{MessageKind, Visited};

use super::Call;
use crate::function::Positions;
use crate::requests::{Pending, Request};

impl Call {
    /// Counts what was read, as the status says.
    pub(super) fn file_read(&self, status: usize, visited: Visited) {
        if status != 0 {
            visited.count(MessageKind::FileIn, 0, self.bytes_of(status));
        }
    }

    /// Counts what is written: what the program asks for.
    pub(super) fn file_written(&self, visited: Visited) {
        let at = &self.function.at;
        if at.count != Positions::NO {
            let bytes = self.bytes(at.count, at.datatype);
            visited.count(MessageKind::FileOut, 0, bytes);
        }
    }

    /// Remembers a read that is under way.
    pub(super) fn file_read_started(&self, visited: Visited) {
        self.remember(Request {
            callpath: visited.callpath(),
            communicator: None,
            pending: Pending::Read,
        });
    }
}
