//! Checkpoints: profiles of everything so far, which all ranks write at the same boundary (the
//! paper's error tolerance).
//!
//! # The agreement
//!
//! Each rank counts its boundaries: the ends of its root regions, and the moments between two
//! iterations of loops that are marked `checkpoint`, on the thread that initialised MPI. When the
//! interval is over on its own clock, a rank proposes a boundary a little ahead of it. The greatest
//! proposal is where all write. No rank waits for another until it stands at that boundary, and
//! every message is part of a non-blocking `MPI_Iallreduce(MAX)`.
//!
//! An *attempt* to agree is two reductions, which every rank begins once each, in this order:
//!
//! 1. **Proposals.** A rank begins it when its interval is over, with the number of a boundary that
//!    it has not reached. When it is complete, the rank knows the greatest one, B.
//! 2. **Verdicts.** A rank that learns of B before it passes its own proposal is in time: it begins
//!    with `IN_TIME`, which is a promise to stop at B, and B is not behind it, as B is at least its
//!    proposal. A rank that reaches its own proposal and does not know B begins with `LATE`, and
//!    goes on.
//!
//! All write at B if all were in time; else nobody does, and a new attempt proposes boundaries
//! twice as far ahead. A rank that comes to its flush (or to a checkpoint by hand) *settles*: it
//! begins what it has not begun of the attempt, with `HOLD` as its proposal, the greatest number
//! there is, or with `LATE`; or, having promised, it writes with the others then and there. An
//! attempt in which somebody proposed `HOLD` is everybody's last until they settle, too.
//!
//! # Why it holds
//!
//! *Same order.* A rank begins the proposals of an attempt only after it has seen the verdict of
//! the one before, and the verdict right after its proposal, once: so the n-th reduction is the
//! same on all ranks, whatever their clocks say.
//!
//! *Same boundary.* A rank writes after a verdict in which all were in time. Then every rank knew
//! B, the maximum of the same proposals, before it had passed it, and stops there, or settles
//! before it gets there. Either way it writes once.
//!
//! *No circle of waiting.* Assume what makes boundaries the same places of the program: a rank gets
//! to its n-th boundary, or to its flush, without anything that another rank does after its own
//! n-th. A rank waits (a) at B, for verdicts and for the others to come. It has seen the proposals
//! complete, so each other rank begins its verdict at the latest at its own proposal, which is not
//! behind B, or when it settles; and comes to B, or settles. All of that is before the others'
//! boundary B, hence does not need what we do after ours. Or a rank waits (b) where it settles, for
//! all ranks to begin both reductions of attempts up to one with `HOLD`. The others do so at
//! boundaries, without waiting for it, except as in (a), where it writes with them; or when they
//! settle, which they do, as a flush is collective.
//!
//! *Progress.* Once `ahead` is longer than ranks are apart, all are in time. It doubles with each
//! attempt that fails.
//!
//! Where ranks do not have the same boundaries (masters and workers) the assumption fails, and (a)
//! could wait for ever. So a rank that has stood at B for [`PATIENCE_NS`](pace::PATIENCE_NS) says
//! so once, goes on, writes at its next boundary if the others have come by then, and takes part in
//! no other attempt: which then stays open everywhere, without anybody waiting.

mod agreement;
mod checkpointer;
mod installed;
mod maxima;
mod pace;
#[cfg(test)]
mod tests;

pub(crate) use installed::{begin, by_hand, close, retire, settle_all};
