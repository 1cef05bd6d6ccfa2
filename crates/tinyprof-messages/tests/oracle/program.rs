//! The programs: for each rank a list of operations, as the MPI standard defines them.

/// A number of a request of a rank, as a variable of the program holds it.
pub(crate) type Slot = usize;

/// A collective operation of all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Barrier,
    Allreduce,
    Alltoall,
    Bcast,
    Scatter,
    Reduce,
    Gather,
    Scan,
    Fence,
}

impl Kind {
    pub(crate) const ALL: [Self; 9] = [
        Self::Barrier,
        Self::Allreduce,
        Self::Alltoall,
        Self::Bcast,
        Self::Scatter,
        Self::Reduce,
        Self::Gather,
        Self::Scan,
        Self::Fence,
    ];

    /// Returns whether `rank` cannot complete the operation before `other` has entered it.
    pub(crate) fn needs(self, rank: usize, other: usize, root: usize) -> bool {
        rank != other
            && match self {
                Self::Barrier | Self::Allreduce | Self::Alltoall | Self::Fence => true,
                Self::Bcast | Self::Scatter => other == root,
                Self::Reduce | Self::Gather => rank == root,
                Self::Scan => other < rank,
            }
    }
}

/// A message as its sender or its receiver names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope {
    /// The other rank; `None` for a receive from any source.
    pub(crate) peer: Option<usize>,
    pub(crate) tag: usize,
    /// The size; of no meaning for a receive.
    pub(crate) bytes: u64,
}

/// Work between two calls of a polling loop, or in the program itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) ns: u64,
    /// The measured events during it.
    pub(crate) events: u64,
}

/// An operation of a rank.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Compute(Work),
    Send(Envelope),
    Recv(Envelope),
    Isend(Envelope, Slot),
    Irecv(Envelope, Slot),
    Wait(Slot),
    Waitall(Vec<Slot>),
    /// Completes one of those that are not complete yet.
    Waitany(Vec<Slot>),
    Probe(Envelope),
    /// Tests until the request is complete, with work after each attempt.
    Poll(Slot, Work),
    /// Probes without waiting until a message is there, with work after each attempt.
    PollProbe(Envelope, Work),
    /// Does all of this work in this many parts, with a test after each until one succeeds; then
    /// waits.
    Overlap(Slot, Work, usize),
    /// The message to send, and that to receive.
    Sendrecv(Envelope, Envelope),
    Collective(Kind, usize, u64),
    /// A collective that is started here and completed by a wait.
    Start(Kind, usize, u64, Slot),
}

/// A program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) ranks: Vec<Vec<Op>>,
    /// What a measured event costs, in ns.
    pub(crate) event_ns: u64,
}
