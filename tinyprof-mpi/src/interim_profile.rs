//! Interim profiles: profiles of everything so far, which all ranks write at the same flush point
//! (the paper's error tolerance).
//!
//! # The agreement
//!
//! Each rank counts its flush points on the thread that initialised MPI: the ends of its root
//! regions, the moments between two iterations of loops that are marked `flush_point`, and, unless
//! the program has a profiler, the moments before blocking collective operations on the world. A
//! program may not rely on whether such an operation waits for all ranks (MPI 4.0, section 6.14),
//! so a rank may wait there for the others, too. When the
//! interval has passed on its own clock, a rank proposes a flush point a little ahead of it. All
//! ranks write at the greatest proposal. No rank waits for another until it has reached that flush
//! point, and every message is part of a non-blocking `MPI_Iallreduce(MAX)`.
//!
//! An *attempt* to agree consists of two reductions, each of which every rank begins once, in this
//! order:
//!
//! 1. **Proposals.** A rank begins it when its interval is over, with the number of a flush point
//!    that it has not reached. When it is complete, the rank knows the greatest one, B.
//! 2. **Verdicts.** A rank that learns of B before it passes its own proposal is in time. It begins
//!    with `IN_TIME`, a promise to stop at B. It has not passed B, because B is at least its
//!    proposal. A rank that reaches its own proposal without knowing B begins with `LATE`, and
//!    continues.
//!
//! All write at B if all were in time. Otherwise nobody writes, and a new attempt proposes flush
//! points twice as far ahead. A rank that comes to its flush (or to an interim profile by hand)
//! *settles*: it begins the reductions of the attempt that it has not begun, with `HOLD`, the
//! greatest number there is, as its proposal, or with `LATE` as its verdict. If it has promised, it
//! writes with the others there and then. An attempt in which a rank proposed `HOLD` is the last
//! one of every rank until that rank settles, too.
//!
//! # Why it is correct
//!
//! *Same order.* A rank begins the proposals of an attempt only after it has seen the verdict of
//! the attempt before, and it begins the verdict once, right after its proposal. So the n-th
//! reduction is the same one on all ranks, whatever their clocks say.
//!
//! *Same flush point.* A rank writes after a verdict in which all were in time. Then every rank
//! knew B, the maximum of the same proposals, before it had passed it, and stops there, or settles
//! before it gets there. Either way it writes once.
//!
//! *No circular wait.* Assume that flush points are the same places of the program on all ranks: a
//! rank gets to its n-th flush point, or to its flush, without anything that another rank does
//! after its own n-th. A rank waits in two cases. (a) It waits at B, for verdicts and for the
//! others to come. It has seen the proposals complete, so each other rank begins its verdict when
//! it settles, or at the latest at its own proposal, which is not behind B; and then it comes to B,
//! or settles. All of that is before the others' flush point B, and so does not need what we do
//! after ours. (b) It waits when it settles, for all ranks to begin both reductions of all attempts
//! up to one with `HOLD`. The others begin them at flush points, without waiting for it, except as
//! in (a), where it writes with them; or they begin them when they settle, which they do, as a
//! flush is collective.
//!
//! *Progress.* Once `ahead` is longer than the ranks are apart, all are in time. It doubles with
//! each attempt that fails.
//!
//! If ranks do not have the same flush points (masters and workers), the assumption fails, and (a)
//! could wait for ever. So a rank that has waited at B for [`PATIENCE_NS`](pace::PATIENCE_NS) says
//! so once and continues. It writes at its next flush point if the others have come by then, and
//! takes part in no other attempt. The next attempt then stays open on all ranks, without any of
//! them waiting.

mod active;
mod agreement;
mod interim_writer;
mod maxima;
mod pace;
#[cfg(test)]
mod tests;

#[cfg(feature = "rsmpi")]
pub(crate) use active::begin_of_profiler;
pub(crate) use active::{begin, by_hand, close, obstacle, proposal, retire, settle_all};
