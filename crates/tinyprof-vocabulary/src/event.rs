//! Events: the classes of visits that are recorded one by one, and what a full buffer gives up.

/// The classes of visits, from the last to be given up to the first.
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
}

impl EventClass {
    /// All classes.
    pub const ALL: [Self; 4] = [Self::Root, Self::Call, Self::AroundCalls, Self::Computation];

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
        }
    }
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
        assert_eq!(EventClass::from_number(4), None);
    }
}
