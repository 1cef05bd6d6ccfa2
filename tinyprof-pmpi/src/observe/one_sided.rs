//! One-sided operations: bytes to and from the memory of other ranks. Their partners are ranks of a
//! window's group, which is not looked at.

use tinyprof::__calls::{MessageKind, Visited};

use super::Call;
use crate::arguments::Kind;
use crate::communicators::ELSEWHERE;
use crate::datatypes;
use crate::function::Role;

impl Call {
    pub(super) fn accessed(&self, visited: Visited) {
        let (out, into) = self.bytes_accessed();
        for (kind, bytes) in [(MessageKind::OneSidedOut, out), (MessageKind::OneSidedIn, into)] {
            if let Some(bytes) = bytes {
                visited.count(kind, ELSEWHERE, bytes);
            }
        }
    }

    fn bytes_accessed(&self) -> (Option<u64>, Option<u64>) {
        let at = &self.function.at;
        let origin = || Some(self.bytes(at.origin_count, at.origin_datatype));
        match self.function.role {
            Role::Put => (origin(), None),
            Role::Get => (None, origin()),
            Role::GetAccumulate => {
                (origin(), Some(self.bytes(at.result_count, at.result_datatype)))
            }
            _ => {
                let datatype = self.arguments.handle(at.datatype, Kind::Datatype);
                let one = datatypes::bytes(self.arguments.mpi, datatype);
                (Some(one), Some(one))
            }
        }
    }
}
