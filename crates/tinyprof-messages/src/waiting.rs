//! The names of waiting, and the history that wrong order and order inversions need.
//!
//! The amounts of the simple patterns are those that [`Clock`](crate::clock::Clock) returns for
//! the call: late sender, barrier, all to all, late broadcast, early reduce, early scan.

mod collective;
mod inversions;
mod wrong_order;

pub use collective::{Collective, late_receiver_ns};
pub use inversions::Inversions;
pub use tinyprof_vocabulary::Pattern;
pub use wrong_order::{Waited, WrongOrder};
