//! System calls without a safe form.

mod allocator;
mod ended;
mod marker;
mod process;
mod shared;
mod trace;
mod tracee;
mod watch;

pub use allocator::FailingAllocator;
pub use process::{Limit, exit, kill, limit, mark, run, spin_us, write_out};
pub use shared::{shared_words, unmap};
pub use trace::{Action, Call, Observer, Trace};
pub use watch::Watch;

pub use ended::Ended;
pub(crate) use marker::MARKER;
