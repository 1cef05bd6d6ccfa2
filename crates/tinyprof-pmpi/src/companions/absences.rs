//! The last times when the rank was outside MPI: messages may have waited at their senders then.

/// The times between calls that are remembered.
const KEPT: usize = 8;

/// A time between two calls.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Absence {
    /// When the call before it was left, in ns.
    pub(super) left_ns: u64,
    /// When the next one was entered, in ns.
    pub(super) entered_ns: u64,
    /// By how much the rank was delayed then.
    pub(super) intrusion_ns: u64,
    /// The rank's ideal time then.
    pub(super) ideal_ns: u64,
}

/// The last times that were long.
#[derive(Debug, Default)]
pub(super) struct Absences {
    kept: [Absence; KEPT],
    next: usize,
}

impl Absences {
    /// A shorter time is not kept, in ns: nobody waits long for its end.
    pub(super) const NS_MIN: u64 = 10_000;

    /// Keeps one.
    pub(super) fn keep(&mut self, absence: Absence) {
        self.kept[self.next] = absence;
        self.next = (self.next + 1) % KEPT;
    }

    /// Returns the one in which a moment was, if it is still known.
    pub(super) fn at(&self, ns: u64) -> Option<&Absence> {
        self.kept.iter().find(|one| one.left_ns <= ns && ns < one.entered_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_known() {
        let mut absences = Absences::default();
        for number in 0..10 {
            let (left_ns, entered_ns) = (100 * number, 100 * number + 50);
            absences.keep(Absence { left_ns, entered_ns, ..Absence::default() });
        }
        let end_of = |ns| absences.at(ns).map(|one| one.entered_ns);
        assert_eq!(end_of(920), Some(950));
        assert_eq!(end_of(200), Some(250), "the first moment");
        assert_eq!(end_of(950), None, "in MPI again");
        assert_eq!(end_of(120), None, "forgotten");
        assert!(Absences::default().at(0).is_none());
    }
}
