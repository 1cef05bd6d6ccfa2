//! Settings that are a choice of a few values.

/// The clock that the user asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockChoice {
    /// The processor's counter where it is steady, otherwise `CLOCK_MONOTONIC`.
    #[default]
    Auto,
    /// `CLOCK_MONOTONIC`, at 2.3 times the cost of the counter.
    Monotonic,
    /// The processor's counter between fences, for regions under 100 ns, at 1.9 times the cost;
    /// `CLOCK_MONOTONIC` where the counter is not steady.
    Fenced,
}

/// The signal on which a process prints its on-demand report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportSignal {
    /// No signal.
    Off,
    /// `SIGUSR1`.
    Usr1,
    /// `SIGUSR2`, for use where the first is taken: MPICH reserves it for itself.
    Usr2,
}

/// The number of ranks that write parts of the profile. The setting of rank 0 applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Aggregators {
    /// One to every sixteen ranks, which the paper found best (section VIII-A). More, but for this
    /// reason at most 64, if lists are so long that an aggregator would have to encode more than 2
    /// MiB of summaries.
    #[default]
    Auto,
    /// The given number, but not more than there are ranks.
    Count(u32),
    /// One to a node. If the launcher has scattered the ranks of a node, one to each run of
    /// consecutive ranks on it, because a part holds consecutive ranks.
    PerNode,
}

/// The way in which the series of a group's ranks are gathered. The profile does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeriesGather {
    /// Padded if that sends little more, otherwise with counts.
    #[default]
    Auto,
    /// A single message of equal length on every rank, together with the summary.
    Padded,
    /// A second message, of each rank's own length.
    Counts,
}

/// The commands that a program obeys while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Steer {
    /// None: others may only read.
    #[default]
    Off,
    /// Those that keep events.
    On,
    /// Also those that hold the program.
    Hold,
}

/// The ranks of an MPI job that run the profiler, as far as the user knows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum World {
    /// Unknown: the ranks find out.
    #[default]
    Auto,
    /// All ranks.
    All,
}

/// The data that is recorded about the MPI calls of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MpiLevel {
    /// None.
    Off,
    /// The calls.
    #[default]
    Calls,
    /// The calls, and who waits for whom.
    Messages,
}

/// The order in which receives from any source take messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageOrder {
    /// Messages in another order than without measurement are counted.
    #[default]
    Observe,
    /// They are held back until it is their turn: an experiment.
    Enforce,
}
