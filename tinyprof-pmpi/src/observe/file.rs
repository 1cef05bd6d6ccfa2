//! Files: bytes that are read and written.

use tinyprof::__calls::{Callpath, MessageKind};

use super::Call;
use crate::abi::Handle;
use crate::function::Positions;
use crate::requests::{Pending, Request};

impl Call<'_> {
    /// Counts what was read, as the status says.
    pub(super) fn file_read(&self, status: usize, callpath: Callpath) {
        if status != 0 {
            self.count(callpath, MessageKind::FileIn, 0, self.bytes_of(status));
        }
    }

    /// Counts what is written: what the program asks for.
    pub(super) fn file_written(&self, callpath: Callpath) {
        let at = &self.function.at;
        if at.count != Positions::NO {
            let bytes = self.bytes(at.count, at.datatype);
            self.count(callpath, MessageKind::FileOut, 0, bytes);
        }
    }

    /// Remembers a read that is under way.
    pub(super) fn file_read_started(&self, callpath: Callpath) {
        self.remember(Request { callpath, communicator: Handle(0), pending: Pending::Read });
    }
}
