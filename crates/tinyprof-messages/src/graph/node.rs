//! Nodes of graphs.

/// The identity of a node, equal on all ranks that do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeKey {
    /// The id of the stack of regions, [folded](super::folded).
    pub callpath: u64,
    /// The event: a call, or a place of a loop.
    pub kind: NodeKind,
}

/// The kinds of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeKind {
    /// The begin of the program, or of the recording.
    Begin,
    /// A call of an MPI function, which the caller has numbered.
    Call(u16),
    /// The entry of a loop: of each iteration.
    LoopEntry,
    /// The exit of a loop.
    LoopExit,
    /// The nodes for which there was no room.
    Other,
    /// The end of the program, or of the recording.
    End,
}

impl NodeKey {
    /// The begin of a program.
    pub const BEGIN: Self = Self { callpath: 0, kind: NodeKind::Begin };
    /// The end of a program.
    pub const END: Self = Self { callpath: 0, kind: NodeKind::End };
    /// The node of all nodes for which there was no room.
    pub const OTHER: Self = Self { callpath: 0, kind: NodeKind::Other };
}
