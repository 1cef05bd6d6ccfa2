//! Events: the classes of what is recorded one by one, and what a full buffer gives up.

/// The classes of events: of visits, from the last to be given up to the first, and of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventClass {
    /// Root regions: the executions of the program.
    Root,
    /// Calls of MPI, of files and of communication.
    Call,
    /// Regions during which a call was made.
    AroundCalls,
    /// All other regions.
    Computation,
    /// Messages that were sent or received: no visits.
    Message,
}

impl EventClass {
    /// All classes.
    pub const ALL: [Self; 5] =
        [Self::Root, Self::Call, Self::AroundCalls, Self::Computation, Self::Message];

    /// Returns the class with a number, as it is in words and files.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        usize::try_from(number).ok().and_then(|number| Self::ALL.get(number).copied())
    }

    /// Returns the number of the class.
    #[must_use]
    pub const fn number(self) -> u64 {
        self as u64
    }

    /// Returns the name, for files and tables: `call`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Call => "call",
            Self::AroundCalls => "around_calls",
            Self::Computation => "computation",
            Self::Message => "message",
        }
    }
}

/// An end of a message, as its sender or its receiver knows it.
///
/// Both ends have the same communicator, tag and number, and each has the other as its partner: no
/// other message between the same two ranks has all of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageEnd {
    /// The end of the receiver; else that of the sender.
    pub is_receive: bool,
    /// The rank at the other end, relative to this one in the world.
    pub partner: i32,
    /// The number of the communicator, which its ranks have agreed on.
    pub communicator: u32,
    /// The tag.
    pub tag: i32,
    /// The number of the message among those with the same ends, communicator and tag, from 0 on.
    pub number: u64,
    /// The size, in bytes; 0 at the sender's end if it does not know the datatype yet.
    pub bytes: u64,
}

/// The choice of what a full buffer gives up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventPolicy {
    /// Everything that begins later: the begin of the recording is kept in full.
    #[default]
    Window,
    /// The oldest visits: the last seconds are kept in full.
    Ring,
    /// Every second part, of computation sooner than of calls: all of the run is there, the coarser
    /// the longer it was.
    Thin,
}

impl EventPolicy {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::Window, Self::Ring, Self::Thin];

    /// Returns the name, as in settings and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Ring => "ring",
            Self::Thin => "thin",
        }
    }

    /// Returns the policy with a number, as it is in words and files.
    #[must_use]
    pub const fn from_number(number: u64) -> Option<Self> {
        match number {
            0 => Some(Self::Window),
            1 => Some(Self::Ring),
            2 => Some(Self::Thin),
            _ => None,
        }
    }

    /// Returns the number of the policy.
    #[must_use]
    pub const fn number(self) -> u64 {
        self as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_name_policies_and_classes() {
        for policy in EventPolicy::ALL {
            assert_eq!(EventPolicy::from_number(policy.number()), Some(policy));
        }
        assert_eq!(EventPolicy::from_number(3), None);
        for class in EventClass::ALL {
            assert_eq!(EventClass::from_number(class.number()), Some(class));
        }
        assert_eq!(EventClass::from_number(5), None);
    }
}
