//! Events: visits and messages that were kept one by one, on a rank.

use tinyprof_vocabulary::{EventClass, EventPolicy, MessageEnd};

use super::CallpathId;

/// A visit of a callpath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisitEvent {
    /// The callpath.
    pub callpath: CallpathId,
    /// The depth of the callpath; roots have 1.
    pub depth: u32,
    /// Its begin, in ns since the [origin](RankEvents::origin_ns).
    pub begin_ns: u64,
    /// Its duration, in ns.
    pub duration_ns: u64,
}

impl VisitEvent {
    /// Returns its end, in ns since the origin.
    #[must_use]
    pub const fn end_ns(&self) -> u64 {
        self.begin_ns.saturating_add(self.duration_ns)
    }
}

/// An end of a message: where it was sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageEvent {
    /// The callpath of the call that sent it, or that has completed its receive.
    pub callpath: CallpathId,
    /// When that call was entered by its sender, or left by its receiver, in ns since the
    /// [origin](RankEvents::origin_ns).
    pub at_ns: u64,
    /// The numbers that tell it from all others.
    pub end: MessageEnd,
}

/// The events of one class at one depth, kept and lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventCell {
    /// The class.
    pub class: EventClass,
    /// The depth, from 1 on; of all that are at least as deep, where depths share a cell.
    pub depth: u32,
    /// The events that there are.
    pub kept: u64,
    /// The events that were made and are not there.
    pub lost: u64,
    /// The begin of the first one that is not there, in ns since the origin; 0 if none is missing.
    pub lost_first_ns: u64,
    /// The end of the last one.
    pub lost_last_ns: u64,
}

/// The events of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadEvents {
    /// The number of the thread on its rank, in the order in which threads began to record. Threads
    /// that follow each other may share a number.
    pub thread: u32,
    /// The policy by which visits were given up when the memory was full.
    pub policy: EventPolicy,
    /// The size of the memory, in bytes.
    pub memory_bytes: u64,
    /// When a window was full, in ns since the origin: visits that began later are missing.
    pub stopped_ns: Option<u64>,
    /// The visits that had not ended when the recording did: they end with it.
    pub cut: u64,
    /// One cell for each class and depth that had events.
    pub cells: Vec<EventCell>,
    /// The visits in the order of their begins; the outer one first.
    pub visits: Vec<VisitEvent>,
    /// The messages in the order of their times.
    pub messages: Vec<MessageEvent>,
}

impl ThreadEvents {
    /// Returns the time from which to which no visit is missing that began then, in ns since the
    /// origin; `None` if visits are missing all over the run.
    ///
    /// ```
    /// # use tinyprof_format::model::{EventCell, EventClass, EventPolicy, ThreadEvents};
    /// let class = EventClass::Computation;
    /// let (lost_first_ns, lost_last_ns) = (10, 500);
    /// let cell = EventCell { class, depth: 2, kept: 1, lost: 3, lost_first_ns, lost_last_ns };
    /// let (cells, visits, messages) = (vec![cell], Vec::new(), Vec::new());
    /// let (policy, memory_bytes, stopped_ns) = (EventPolicy::Ring, 1 << 20, None);
    /// let (thread, cut) = (0, 0);
    /// let ring = ThreadEvents {
    ///     thread, policy, memory_bytes, stopped_ns, cut, cells, visits, messages,
    /// };
    /// assert_eq!(ring.complete_ns(), Some((501, u64::MAX)));
    /// ```
    #[must_use]
    pub fn complete_ns(&self) -> Option<(u64, u64)> {
        let losses = || self.cells_of_visits().filter(|cell| cell.lost > 0);
        match self.policy {
            EventPolicy::Ring => {
                let since = losses().map(|cell| cell.lost_last_ns.saturating_add(1)).max();
                Some((since.unwrap_or(0), u64::MAX))
            }
            EventPolicy::Window => {
                let until = losses().map(|cell| cell.lost_first_ns).min();
                Some((0, until.unwrap_or(u64::MAX)))
            }
            EventPolicy::Thin => losses().next().is_none().then_some((0, u64::MAX)),
        }
    }

    /// Adds a visit that has not ended. To be followed by [`sort`](Self::sort).
    pub fn add_open(&mut self, class: EventClass, visit: VisitEvent) {
        let is_cell = |cell: &&mut EventCell| (cell.class, cell.depth) == (class, visit.depth);
        match self.cells.iter_mut().find(is_cell) {
            Some(cell) => cell.kept += 1,
            None => self.cells.push(EventCell {
                class,
                depth: visit.depth,
                kept: 1,
                lost: 0,
                lost_first_ns: 0,
                lost_last_ns: 0,
            }),
        }
        self.visits.push(visit);
        self.cut += 1;
    }

    /// Puts visits in the order of their begins, the outer one first, and cells in their order.
    pub fn sort(&mut self) {
        self.cells.sort_by_key(|cell| (cell.class, cell.depth));
        self.visits.sort_by_key(|visit| (visit.begin_ns, visit.depth));
    }

    /// Returns the number of visits that were made and are not there.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.cells_of_visits().fold(0, |sum, cell| sum.saturating_add(cell.lost))
    }

    /// Returns the number of ends of messages that were made and are not there.
    #[must_use]
    pub fn messages_lost(&self) -> u64 {
        let messages = self.cells.iter().filter(|cell| cell.class == EventClass::Message);
        messages.fold(0, |sum, cell| sum.saturating_add(cell.lost))
    }

    fn cells_of_visits(&self) -> impl Iterator<Item = &EventCell> {
        self.cells.iter().filter(|cell| cell.class != EventClass::Message)
    }
}

/// The events of a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankEvents {
    /// The time 0 of all threads, in ns of the host's `CLOCK_MONOTONIC`: ranks of one host are
    /// compared by it.
    pub origin_ns: u64,
    /// Threads for whose events there was no memory.
    pub threads_without_memory: u64,
    /// The threads that kept any.
    pub threads: Vec<ThreadEvents>,
}
