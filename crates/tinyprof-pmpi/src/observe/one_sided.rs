//! One-sided operations: bytes to and from the memory of other ranks. Their partners are ranks of a
//! window's group, which is not looked at.

use tinyprof::__calls::{MessageKind, Visited};

use super::Call;
use crate::arguments::Kind;
use crate::communicators::ELSEWHERE;
use crate::datatypes;
use crate::function::{Accesses, Positions};

impl Call {
    /// Counts the bytes, unless there is nobody to exchange them with.
    pub(super) fn accessed(&self, accesses: Accesses, visited: Visited) {
        if self.arguments.int(self.function.at.target_rank) == self.arguments.mpi.abi.proc_null {
            return;
        }
        let (out, into) = self.bytes_accessed(accesses);
        for (kind, bytes) in [(MessageKind::OneSidedOut, out), (MessageKind::OneSidedIn, into)] {
            if let Some(bytes) = bytes {
                visited.count(kind, ELSEWHERE, bytes);
            }
        }
    }

    fn bytes_accessed(&self, accesses: Accesses) -> (Option<u64>, Option<u64>) {
        let at = &self.function.at;
        let origin = || Some(self.bytes(at.origin_count, at.origin_datatype));
        match accesses {
            Accesses::Put => (origin(), None),
            Accesses::Get => (None, origin()),
            Accesses::GetAccumulate => {
                let out = if self.only_reads() { None } else { origin() };
                (out, Some(self.bytes(at.result_count, at.result_datatype)))
            }
            Accesses::One => {
                let datatype = self.arguments.handle(at.datatype, Kind::Datatype);
                let one = datatypes::bytes(self.arguments.mpi, datatype);
                (if self.only_reads() { None } else { Some(one) }, Some(one))
            }
        }
    }

    /// Returns whether the operation is `MPI_NO_OP`: the origin is ignored then, and may be
    /// anything (MPI 4.0, section 12.3.4).
    fn only_reads(&self) -> bool {
        let op = self.function.at.op;
        op != Positions::NO
            && self.arguments.handle(op, Kind::Operator) == self.arguments.mpi.abi.no_op
    }
}
