//! Locks of windows: who has to wait for a lock waits for those who hold it.
//!
//! Each rank writes on a board of the window when it begins to release a lock, in a row for the
//! memory that is locked and the kind of lock. When a call has got a lock, all who had to release
//! theirs before have begun to. What was released while the call lasted, it has waited for.
//!
//! MPI may put a lock off until memory is accessed. Then the call takes no time, and nobody follows
//! where the waiting is.

use tinyprof::__calls::{EdgeKey, EdgeKind};
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::Offset;
use tinyprof_messages::ways::Hints;

use super::causes;
use super::common_clock::Span;
use super::exposure::Access;
use super::objects::Lock;
use super::receive::waited;
use super::shared::{Operation, Read};
use super::state::State;
use crate::communicators::Twin;

impl State {
    /// Finds out for whom the call has waited that has got a lock.
    pub(crate) fn wait_for_lock(&mut self, access: Access<'_>, span: Span, lock: Lock) {
        access.window.with_epochs(|epochs| epochs.locks.push(lock));
        let Some(board) = access.window.locks else { return };
        let group = &access.window.group;
        let begun_ns = i64::try_from(span.entered_ns).unwrap_or(i64::MAX);
        let mut last: Option<Meeting> = None;
        for of in targets(lock, group.places().end) {
            // All wait for exclusive locks, and exclusive ones for all.
            let shared = lock.is_exclusive.then(|| row(&board, of, false));
            for row in [Some(row(&board, of, true)), shared].into_iter().flatten().flatten() {
                let others = group.places().filter(|place| *place != group.place());
                match row.others(others) {
                    Read::Meeting(one) if one.last_ns > begun_ns => {
                        last = Some(last.map_or(one, |last| last.combine(one)));
                    }
                    Read::Lost => self.facts.companions_missing += 1,
                    Read::Meeting(_) | Read::Nobody => {}
                }
            }
        }
        let Some(last) = last else { return };
        self.facts.companions += 1;
        let wait = self.clock.meet_at(span, &last, Offset::default());
        let partner = group.relative_at(last.last_rank);
        let key = EdgeKey { kind: EdgeKind::Lock, partner, from: EdgeKey::UNKNOWN };
        causes::not_explained(wait.waiting_ns);
        access.visited.add_edge(&key, &waited(&wait));
    }

    /// Notes that the call begins to release a lock.
    pub(crate) fn release_lock(&mut self, access: Access<'_>, entered_ns: u64, of: Option<u32>) {
        let held = access.window.with_epochs(|epochs| {
            let at = epochs.locks.iter().position(|lock| lock.of == of)?;
            Some(epochs.locks.swap_remove(at))
        });
        let (Some(lock), Some(board)) = (held, access.window.locks) else { return };
        let group = &access.window.group;
        let own = self.clock.meeting(entered_ns, Offset::default(), group.place());
        for of in targets(lock, group.places().end) {
            if let Some(row) = row(&board, of, lock.is_exclusive) {
                row.enter(&own, Hints::default());
            }
        }
    }
}

fn targets(lock: Lock, ranks: u32) -> std::ops::Range<u32> {
    lock.of.map_or(0..ranks, |of| of..of + 1)
}

fn row(board: &Twin, of: u32, is_exclusive: bool) -> Option<Operation> {
    Operation::of(board, 2 * of + u32::from(is_exclusive))
}
