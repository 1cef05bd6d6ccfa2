//! Facts about functions that follow from the tags of their roles in `functions.txt`.

use super::shape::Shape;

/// What a call means for the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifetime {
    Within,
    Begins,
    Ends,
    Aborts,
    /// The program pauses or resumes the recording.
    Controls,
}

/// When arguments are looked at, and which before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looks {
    /// The function steers the recording, and is not recorded itself.
    Steers,
    Never,
    After,
    /// Before the call at its status, and after it. The next ones alike.
    AtStatus,
    AtMessage,
    AtRequest,
    AtRequests,
    /// At an object that the call frees.
    AtFreed,
}

/// What a call counts or keeps when it has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counts {
    Nothing,
    Sent,
    Received,
    ReceiveStarted,
    /// A message that was sent and one that was received.
    Exchanged,
    ExchangeStarted,
    /// A message that was matched, by a probe.
    Matched,
    MatchedReceived,
    MatchedReceiveStarted,
    Prepared(Prepares),
    /// Persistent requests that were started.
    Started,
    Completed(Completes),
    Cancelled,
    KeyvalCreated,
    Collective(Collective, Form),
    Accessed(Accesses),
    FileRead,
    FileReadStarted,
    FileWritten,
}

/// The persistent requests of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prepares {
    Send,
    Receive,
    PartitionedSend,
    PartitionedReceive,
}

/// The requests that a call completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completes {
    One,
    Any,
    Some,
    All,
}

/// Accesses to the memory of other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accesses {
    Put,
    Get,
    GetAccumulate,
    /// To one element, which is read and written.
    One,
}

/// What is found out at level `messages` when a call has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Concludes {
    Nothing,
    /// For which message it has waited. The next three alike.
    Receive,
    Probe,
    MatchedReceive,
    Completion,
    /// For whose access it has waited, or whose lock.
    Access,
    /// What the call has made together with other ranks.
    New,
    /// The size of a datatype.
    Datatype,
}

/// For whom a call waits, for those who keep the order of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    Nobody,
    Source,
    /// A receiver, if the message is too large to be stored.
    Receiver,
    Somebody,
}

/// Calls that cost the profiler about the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Nothing travels.
    Plain,
    Send,
    Receive,
    StartReceive,
    Complete,
    /// A small message is sent right after one was received.
    Reply,
    /// A receive is concluded in a later call.
    Deferred,
    /// The cost depends on the call.
    Other,
}

/// The ranks that have to come for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meets {
    Nobody,
    /// All of the communicator. The operation may be followed on boards alone.
    All {
        shape: Shape,
        needs_board: bool,
    },
    /// A part of them, of which nobody counts the operations.
    Some,
    /// All of the window or file.
    Object(Shape),
    /// All of the communicator, when the request that the call makes is started.
    AtStart(Shape),
}

/// What a call makes together with other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Makes {
    Nothing,
    Communicator,
    Intercommunicator,
    Window,
    File,
    /// A persistent request of an operation of all ranks.
    Operation,
}

/// The object that a call frees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frees {
    Nothing,
    Request,
    Communicator,
    Window,
    File,
    Datatype,
}

/// What a call does with the memory of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Epoch {
    None,
    Post,
    Start,
    Complete,
    Wait,
    Lock,
    Unlock,
    Access,
}

/// When the data of a collective operation is exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// By this call, or by an operation that it starts.
    Once,
    /// At each start of the request that the call makes.
    Persistent,
}

/// The kinds of collective operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collective {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Reduce,
    Allreduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
    NeighborAllgather,
    NeighborAllgatherv,
    NeighborAlltoall,
    NeighborAlltoallv,
    NeighborAlltoallw,
}

/// The words of the tag and the data of the message that a call sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) tag: u8,
    pub(crate) data: Data,
}

/// The words of a count and a datatype.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) count: u8,
    pub(crate) datatype: u8,
}
