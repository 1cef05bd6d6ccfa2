//! The calls of MPI of a run: which function, how many messages of what size, and what came next.

use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathIndex, MessageKind, Traffic};
use tinyprof_messages::graph::RankSet;

/// What all ranks together did in one call of MPI.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    /// The function: `MPI_Send`.
    pub(crate) function: String,
    /// True if its time is start-up.
    pub(crate) is_startup: bool,
    /// The messages to and from other ranks.
    pub(crate) sent: Traffic,
    pub(crate) received: Traffic,
    /// The messages that each rank has sent.
    pub(crate) sent_by: BTreeMap<u32, Traffic>,
    /// The data that each rank has put into operations of several ranks, and got from them.
    pub(crate) put_by: BTreeMap<u32, Traffic>,
    pub(crate) got_by: BTreeMap<u32, Traffic>,
    /// The accesses to files, and those of each rank.
    pub(crate) files: Traffic,
    pub(crate) files_by: BTreeMap<u32, Traffic>,
    /// The time in the call after partners had come, in ns.
    pub(crate) transfer_ns: u64,
    /// The messages whose partner was known.
    pub(crate) followed: u64,
    /// The part of the waiting that is due to the order of receives, in ns, and on which ranks.
    pub(crate) wrong_order_ns: u64,
    pub(crate) wrong_order_ranks: RankSet,
    /// True if messages are taken from any source.
    pub(crate) takes_any: bool,
    /// The call that mostly came right before, and how much time lies between, in ns.
    pub(crate) before: Option<(CallpathIndex, u64)>,
    /// The part of a rank's visits right after that call, on the rank where it is least.
    pub(crate) before_part: f64,
}

impl Call {
    /// Counts transfers of a kind of a rank.
    pub(crate) fn count(&mut self, kind: MessageKind, rank: u32, traffic: Traffic) {
        match kind {
            MessageKind::MessageOut => {
                self.sent.absorb(traffic);
                self.sent_by.entry(rank).or_default().absorb(traffic);
            }
            MessageKind::MessageIn => self.received.absorb(traffic),
            MessageKind::CollectiveOut => self.put_by.entry(rank).or_default().absorb(traffic),
            MessageKind::CollectiveIn => self.got_by.entry(rank).or_default().absorb(traffic),
            MessageKind::FileOut | MessageKind::FileIn => {
                self.files.absorb(traffic);
                self.files_by.entry(rank).or_default().absorb(traffic);
            }
            _ => {}
        }
    }

    /// Returns true if a rank may wait there for others.
    pub(crate) fn may_wait(&self) -> bool {
        may_wait(&self.function)
    }

    /// Returns true if the call only looks whether something is there.
    pub(crate) fn is_test(&self) -> bool {
        is_test(&self.function)
    }

    /// Returns true for accesses to files by one rank alone.
    pub(crate) fn is_file(&self) -> bool {
        self.function.starts_with("MPI_File_")
    }
}

/// Returns true if a function only looks whether something is there.
pub(crate) fn is_test(function: &str) -> bool {
    function.starts_with("MPI_Test") || function == "MPI_Iprobe" || function == "MPI_Improbe"
}

/// Returns true if a function starts an operation of several ranks, which is completed later.
pub(crate) fn is_started_by_all(function: &str) -> bool {
    let starts = [
        "Ibarrier",
        "Ibcast",
        "Igather",
        "Iscatter",
        "Iallgather",
        "Ialltoall",
        "Ireduce",
        "Iallreduce",
        "Iscan",
        "Iexscan",
        "Ineighbor",
    ];
    let name = function.strip_prefix("MPI_").unwrap_or("");
    starts.iter().any(|start| name.starts_with(start))
}

/// Returns true if a rank may wait in a function for others.
fn may_wait(function: &str) -> bool {
    let Some(name) = function.strip_prefix("MPI_") else { return false };
    // Starts of operations wait for nobody.
    let is_start = name.starts_with('I') && name != "Intercomm_create" && name != "Init";
    let waits = [
        "Send",
        "Ssend",
        "Rsend",
        "Recv",
        "Mrecv",
        "Sendrecv",
        "Probe",
        "Mprobe",
        "Wait",
        "Barrier",
        "Bcast",
        "Reduce",
        "Allreduce",
        "Gather",
        "Allgather",
        "Scatter",
        "Alltoall",
        "Scan",
        "Exscan",
        "Neighbor",
        "Finalize",
        "Win_",
        "Comm_",
        "Cart_",
        "Graph_",
        "Dist_",
    ];
    let local = ["Comm_rank", "Comm_size", "Comm_group", "Comm_get", "Comm_set", "Cart_coords"];
    let is_local = local.iter().any(|begin| name.starts_with(begin));
    let is_collective_file = name.starts_with("File_")
        && (name.ends_with("_all") || matches!(name, "File_open" | "File_close" | "File_set_view"));
    !is_start && !is_local && (is_collective_file || waits.iter().any(|w| name.starts_with(w)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_may_wait_are_told_from_others() {
        let waits = ["MPI_Recv", "MPI_Waitall", "MPI_Allreduce", "MPI_File_write_at_all"];
        let others = ["MPI_Isend", "MPI_Comm_rank", "MPI_File_write_at", "MPI_Test", "MPI_Wtime"];
        assert!(waits.iter().all(|name| may_wait(name)));
        assert!(!others.iter().any(|name| may_wait(name)));
        assert!(is_started_by_all("MPI_Iallgatherv") && !is_started_by_all("MPI_Irecv"));
    }
}
