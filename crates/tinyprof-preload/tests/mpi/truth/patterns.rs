//! The programs of `tests/programs/truth`, and what is expected of each.

/// How much is said of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// All waiting is said.
    Right,
    /// What is missing is counted as not followed or as unclear.
    NotFollowed,
    /// Something else is said, or something is missing in silence.
    Wrong,
}

/// A pattern of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    pub(super) name: &'static str,
    /// The least number of ranks.
    pub(super) ranks: usize,
    /// The worst verdict that passes. An MPI may be better, where it lets nobody wait.
    pub(super) expected: Verdict,
    /// Settings of both MPIs, of which each ignores the other's.
    pub(super) variables: &'static [(&'static str, &'static str)],
}

const fn right(name: &'static str, ranks: usize) -> Pattern {
    Pattern { name, ranks, expected: Verdict::Right, variables: &[] }
}

const fn not_followed(name: &'static str, ranks: usize) -> Pattern {
    Pattern { expected: Verdict::NotFollowed, ..right(name, ranks) }
}

pub(super) const RECEIVES: &[Pattern] = &[
    right("recv", 2),
    right("recv_any_source", 2),
    right("recv_any_tag", 2),
    right("irecv_wait", 2),
    right("irecv_waitall", 2),
    right("waitany", 2),
    right("waitsome", 2),
    right("test_loop", 2),
    right("sendrecv", 2),
    right("sendrecv_replace", 2),
    right("persistent", 2),
    right("probe_recv", 2),
    right("probe_any_recv", 2),
    right("mprobe_mrecv", 2),
    right("iprobe_recv", 2),
    right("wrong_order", 2),
];

/// Settings by which messages of 12 KiB do not wait for their receivers.
const EAGER: &[(&str, &str)] = &[("UCX_RNDV_THRESH", "1000000"), ("OMPI_MCA_btl", "tcp,self")];

pub(super) const SENDS: &[Pattern] = &[
    right("ssend", 2),
    right("ssend_late_irecv", 2),
    right("send_large", 2),
    right("send_small", 2),
    right("send_2k", 2),
    right("send_12k", 2),
    right("send_100k", 2),
    Pattern { variables: EAGER, ..right("send_12k", 2) },
    right("many_small", 2),
    right("isend_wait", 2),
    right("issend_wait", 2),
    right("persistent_send", 2),
    right("waitall_sends", 2),
    right("sendrecv_late_receive", 2),
    right("bsend", 2),
    right("rsend", 2),
    right("absent_ssend", 2),
    right("absent_2k", 2),
    right("absent_12k", 2),
    right("absent_large", 2),
    right("absent_isend_500", 2),
    right("absent_isend_2k", 2),
    right("absent_isend", 2),
    right("absent_sendrecv", 2),
    right("absent_twice", 2),
];

pub(super) const COLLECTIVES: &[Pattern] = &[
    right("barrier", 2),
    right("allreduce", 2),
    right("alltoall", 2),
    right("allgather", 2),
    right("reduce_scatter", 2),
    right("bcast", 2),
    right("scatter", 2),
    right("reduce", 2),
    right("gather", 2),
    right("scan", 2),
    right("exscan", 2),
    right("ibarrier", 2),
    right("iallreduce", 2),
    right("ibcast", 2),
    right("neighbor_alltoall", 3),
];

pub(super) const COMMUNICATORS: &[Pattern] = &[
    right("inter_recv", 2),
    right("inter_barrier", 2),
    right("comm_dup", 2),
    right("comm_split", 2),
    right("write_all", 2),
    not_followed("init", 2),
    not_followed("finalize", 2),
];

pub(super) const ONE_SIDED: &[Pattern] = &[
    right("fence", 2),
    right("late_post", 2),
    right("late_complete", 2),
    right("lock_contention", 3),
];

pub(super) const THREADS: &[Pattern] = &[
    right("own_tags", 2),
    right("own_comms", 2),
    // Which of two threads gets a message is chance.
    not_followed("one_stream", 2),
    right("workers_tags", 2),
    right("workers_comms", 2),
    right("worker_barrier", 2),
    right("blocked_sends", 2),
];
