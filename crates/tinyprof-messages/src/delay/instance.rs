//! Operations behind which ranks are synchronised.

/// An operation in which all ranks of a communicator waited for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    /// A number of the communicator on which its ranks agree, not 0.
    pub communicator: u64,
    /// The number of the operation on it.
    pub number: u64,
}
