//! Which message a receive from any source may take: the wait-safe rule of paper 004 (section
//! 5.3.4), and its way out of deadlocks (5.3.5).
//!
//! Without measurement, the message that was sent first would have come first. A receiver that
//! wants to keep that order takes a message only when no other rank can send one any more that
//! would have been sent before it. Some of these ranks may wait themselves, in the end for the
//! receiver: so it has to know for whom.

/// The activity of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It computes, or is in a call that waits for nobody.
    Running,
    /// It waits for this rank to send to it, or to receive from it.
    WaitsFor(u32),
    /// It waits, and nobody knows for whom.
    Waits,
    /// It sends nothing any more.
    Ended,
}

/// The progress of a rank, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The rank sends nothing any more that would have been sent before this without measurement,
    /// in ns.
    pub virtual_ns: i64,
    /// Its activity.
    pub doing: Doing,
}

/// The judgement of a message: may a receiver take it?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No rank can send one that would have come before it.
    Safe,
    /// The ranks that could wait, and nobody knows for whom. If none of them moves, they wait in
    /// the end for the receiver, and it may.
    Stuck,
    /// Another rank may send one.
    TooEarly,
}

/// Judges a message of `sender` that would have been sent at `virtual_ns` without measurement, for
/// rank `receiver` of `ranks`.
///
/// ```
/// use tinyprof_messages::order::{Doing, Progress, Verdict, verdict};
///
/// // Figure 4 of paper 004: rank 1 may receive from 0 and 3, and has a message of 0. Rank 3 waits
/// // for 2, and 2 for 1.
/// let waits_for = |rank| Progress { virtual_ns: 10, doing: Doing::WaitsFor(rank) };
/// let running = Progress { virtual_ns: 10, doing: Doing::Running };
/// let mut ranks = [running, running, waits_for(1), waits_for(2)];
/// assert_eq!(verdict(1, 0, 30, 4, |rank| ranks[rank as usize]), Verdict::Safe);
///
/// // While 2 computes, it may send to 3, and 3 to 1.
/// ranks[2] = running;
/// assert_eq!(verdict(1, 0, 30, 4, |rank| ranks[rank as usize]), Verdict::TooEarly);
/// ranks[2].virtual_ns = 40;
/// assert_eq!(verdict(1, 0, 30, 4, |rank| ranks[rank as usize]), Verdict::Safe);
/// ```
///
/// # Cost
/// For each rank, a look at those that it waits for, one after the other.
pub fn verdict(
    receiver: u32,
    sender: u32,
    virtual_ns: i64,
    ranks: u32,
    progress: impl Fn(u32) -> Progress,
) -> Verdict {
    let mut verdict = Verdict::Safe;
    for rank in (0..ranks).filter(|rank| ![receiver, sender].contains(rank)) {
        match of_one(receiver, rank, virtual_ns, ranks, &progress) {
            Verdict::TooEarly => return Verdict::TooEarly,
            Verdict::Stuck => verdict = Verdict::Stuck,
            Verdict::Safe => {}
        }
    }
    verdict
}

/// Judges what one rank may send.
fn of_one(
    receiver: u32,
    mut rank: u32,
    virtual_ns: i64,
    ranks: u32,
    progress: &impl Fn(u32) -> Progress,
) -> Verdict {
    // Longer than that, it is a circle: nobody in it sends.
    for _ in 0..ranks {
        let Progress { virtual_ns: not_before_ns, doing } = progress(rank);
        if not_before_ns >= virtual_ns {
            return Verdict::Safe;
        }
        match doing {
            Doing::Running => return Verdict::TooEarly,
            Doing::Waits => return Verdict::Stuck,
            Doing::WaitsFor(other) if other != receiver => rank = other,
            Doing::WaitsFor(_) | Doing::Ended => return Verdict::Safe,
        }
    }
    Verdict::Safe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RANKS: u32 = 5;

    fn doing() -> impl Strategy<Value = Doing> {
        prop_oneof![
            Just(Doing::Running),
            (0..RANKS).prop_map(Doing::WaitsFor),
            Just(Doing::Waits),
            Just(Doing::Ended),
        ]
    }

    fn all() -> impl Strategy<Value = Vec<Progress>> {
        let one = (0_i64..20, doing());
        let one = one.prop_map(|(virtual_ns, doing)| Progress { virtual_ns, doing });
        proptest::collection::vec(one, RANKS as usize)
    }

    fn judge(all: &[Progress], receiver: u32, virtual_ns: i64) -> Verdict {
        let sender = (receiver + 1) % RANKS;
        verdict(receiver, sender, virtual_ns, RANKS, |rank| all[rank as usize])
    }

    #[test]
    fn ranks_that_wait_for_each_other_send_nothing() {
        let one = |other| Progress { virtual_ns: 0, doing: Doing::WaitsFor(other) };
        let all = [one(0), one(0), one(3), one(4), one(2)];
        assert_eq!(judge(&all, 0, 10), Verdict::Safe);
    }

    #[test]
    fn one_that_waits_for_anybody_is_not_sure() {
        let ended = Progress { virtual_ns: 0, doing: Doing::Ended };
        let mut all = [ended; RANKS as usize];
        assert_eq!(judge(&all, 0, 10), Verdict::Safe);
        all[3].doing = Doing::Waits;
        assert_eq!(judge(&all, 0, 10), Verdict::Stuck);
        all[4].doing = Doing::WaitsFor(3);
        assert_eq!(judge(&all, 0, 10), Verdict::Stuck);
    }

    proptest! {
        #[test]
        fn a_message_is_too_early_where_a_rank_runs_that_was_before_it(
            all in all(), receiver in 0..RANKS, virtual_ns in 0_i64..20
        ) {
            let others = (0..RANKS).filter(|rank| ![receiver, (receiver + 1) % RANKS].contains(rank));
            let mut others = others.map(|rank| all[rank as usize]);
            if others.any(|one| one.doing == Doing::Running && one.virtual_ns < virtual_ns) {
                prop_assert_eq!(judge(&all, receiver, virtual_ns), Verdict::TooEarly);
            }
        }

        /// Of several receivers that hold messages back, the first is never held by the others.
        #[test]
        fn somebody_may_go_on(mut all in all(), held in proptest::collection::vec(0_i64..20, 1..5)) {
            for (one, virtual_ns) in all.iter_mut().zip(&held) {
                *one = Progress { virtual_ns: *virtual_ns, doing: Doing::Waits };
            }
            for one in &mut all[held.len()..] {
                if one.doing == Doing::Running {
                    one.doing = Doing::Ended;
                }
            }
            let verdicts = (0..).zip(&held).map(|(rank, virtual_ns)| judge(&all, rank, *virtual_ns));
            prop_assert!(verdicts.into_iter().any(|verdict| verdict != Verdict::TooEarly));
        }
    }
}
