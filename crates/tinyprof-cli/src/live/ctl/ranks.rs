//! The ranks of a job at one moment, and what they have answered.

use tinyprof_segment::control::Answer;

/// The most ranks that are named.
const NAMED_MAX: usize = 8;

/// The threads of a process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rank {
    pub(super) rank: Option<u32>,
    pub(super) process: u32,
    pub(super) threads: u64,
    pub(super) keeps_events: bool,
    /// True if it has ever kept any.
    pub(super) has_events: bool,
    /// True if measuring is switched off on some of its threads.
    pub(super) is_off: bool,
    /// When its first thread was held, of those that are held now.
    pub(super) held_since_ns: Option<u64>,
    /// The answer of the first thread that has given one.
    pub(super) answer: Option<Answer>,
}

/// The ranks of a job.
#[derive(Debug)]
pub(super) struct Ranks(pub(super) Vec<Rank>);

impl Rank {
    pub(super) fn name(&self) -> String {
        match self.rank {
            Some(rank) => format!("rank {rank} (process {})", self.process),
            None => format!("process {}", self.process),
        }
    }

    /// Returns for how long it has been held; `None` if it is not.
    pub(super) fn held_ns(&self, now_ns: u64) -> Option<u64> {
        self.held_since_ns.map(|since_ns| now_ns.saturating_sub(since_ns))
    }

    /// Adds another thread.
    pub(super) fn absorb(&mut self, thread: Self) {
        self.threads += thread.threads;
        self.keeps_events |= thread.keeps_events;
        self.has_events |= thread.has_events;
        self.is_off |= thread.is_off;
        self.held_since_ns = self.held_since_ns.into_iter().chain(thread.held_since_ns).min();
        self.answer = self.answer.or(thread.answer);
    }

    fn number(&self) -> u32 {
        self.rank.unwrap_or(self.process)
    }
}

impl Ranks {
    /// Returns how many have answered so.
    pub(super) fn answered(&self, with: Answer) -> usize {
        self.0.iter().filter(|rank| rank.answer == Some(with)).count()
    }

    /// Returns which have obeyed and kept nothing; `None` if all have.
    pub(super) fn empty_line(&self) -> Option<String> {
        let names = self.names(|rank| rank.answer == Some(Answer::Done) && !rank.has_events)?.0;
        Some(format!(
            "nothing was kept of {names}: no visit has ended in that time, or there was no memory"
        ))
    }

    /// Returns which have not come; `None` if all have.
    pub(super) fn late_line(&self) -> Option<String> {
        self.late_at("the end of a region or call of MPI")
    }

    /// Returns which have not come to the flush point on which all agree; `None` if all have.
    pub(super) fn late_at_flush_point(&self) -> Option<String> {
        self.late_at("the flush point on which all agree")
    }

    fn late_at(&self, what: &str) -> Option<String> {
        let (names, number) = self.names(|rank| rank.answer.is_none())?;
        let have = if number == 1 { "has" } else { "have" };
        Some(format!("{names} {have} not come to {what} yet"))
    }

    /// Returns the names of those that are `wanted`, for people, and their number; `None` if there
    /// are none.
    fn names(&self, wanted: impl Fn(&Rank) -> bool) -> Option<(String, usize)> {
        let ranks: Vec<&Rank> = self.0.iter().filter(|rank| wanted(rank)).collect();
        let named = ranks.iter().take(NAMED_MAX).map(|rank| rank.number().to_string());
        let named = named.collect::<Vec<_>>().join(", ");
        let more = match ranks.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let noun = match (self.0.iter().any(|rank| rank.rank.is_some()), ranks.len()) {
            (true, 1) => "rank",
            (true, _) => "ranks",
            (false, 1) => "process",
            (false, _) => "processes",
        };
        (!ranks.is_empty()).then(|| (format!("{noun} {named}{more}"), ranks.len()))
    }
}
