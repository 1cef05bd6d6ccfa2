//! What a run leaves behind: all that a profiler sees, in the order of time.

/// What a call waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Partner {
    /// The message with this number, for which the rank had posted request `posted`, if before the
    /// call. `is_probe`: the call has looked at it, and it stays.
    Message { message: usize, posted: Option<usize>, is_probe: bool },
    /// The receiver of the message with this number, which was sent by request `posted`.
    Answer { message: usize, posted: Option<usize> },
    /// The collective with this number, that the rank entered with request `posted`.
    Collective { instance: usize, posted: Option<usize> },
}

/// The sort of a call that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// It waits for all of its partners.
    Waits,
    /// It has looked for its partner and not waited.
    Looks,
    /// It completes requests of nobody, or starts something.
    Local,
}

/// A statement about a rank.
#[derive(Clone, Debug)]
pub(crate) enum Fact {
    /// Measured events, just now.
    Events(u64),
    /// It has computed so long.
    Useful(u64),
    /// It has sent this message by a call that it entered just now.
    Sent(usize),
    /// It has posted this request.
    Posted(usize),
    /// It has entered this collective.
    Entered(usize),
    /// It has left a call.
    Left { sort: Sort, entered_ns: u64, partners: Vec<Partner> },
}

/// A fact of a rank at a time.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) rank: usize,
    pub(crate) at_ns: u64,
    pub(crate) fact: Fact,
}

/// A message, as the engine has seen it.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) tag: usize,
    pub(crate) bytes: u64,
    pub(crate) blocks: bool,
    pub(crate) sent_ns: u64,
    /// The number among the messages of its sender.
    pub(crate) number: usize,
    /// The request of the sender, and that of the receiver.
    pub(crate) sender: usize,
    pub(crate) receiver: Option<usize>,
}

/// What one run has decided by chance: the next run follows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    /// The number of the sender, and of its message, for each receive from any source of a rank.
    pub(crate) sources: Vec<Vec<(usize, usize)>>,
    /// The request that each `MPI_Waitany` of a rank has completed, by its place in the array.
    pub(crate) any: Vec<Vec<usize>>,
}

/// A run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    pub(crate) records: Vec<Record>,
    pub(crate) messages: Vec<Message>,
    /// The kind and the root of each collective.
    pub(crate) collectives: Vec<(crate::program::Kind, usize, Vec<Option<u64>>)>,
    pub(crate) collective_bytes: Vec<u64>,
    /// When each request was posted.
    pub(crate) posted_ns: Vec<u64>,
    pub(crate) ended_ns: Vec<u64>,
    pub(crate) choices: Choices,
}
