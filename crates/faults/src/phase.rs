//! The phases of a program under test.

/// The phase of a program under test. The numbers are those of the marker calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u64)]
pub enum Phase {
    /// The program prepares its own data. The profiler has not been called.
    Before = 0,
    /// The first visit begins, which starts the profiler.
    Start = 1,
    /// The first visits are over.
    Recording = 2,
    /// The program does its own work: it ends its threads and prints its result.
    Own = 3,
    /// The program has printed its result and ends: the final write.
    Final = 4,
}

impl Phase {
    /// Returns the phase with this number.
    #[must_use]
    pub const fn of_number(number: u64) -> Option<Self> {
        match number {
            0 => Some(Self::Before),
            1 => Some(Self::Start),
            2 => Some(Self::Recording),
            3 => Some(Self::Own),
            4 => Some(Self::Final),
            _ => None,
        }
    }

    /// Returns the name of the phase, for results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Start => "start",
            Self::Recording => "recording",
            Self::Own => "its own work",
            Self::Final => "final write",
        }
    }
}
