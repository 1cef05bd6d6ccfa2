//! Calls into the system that the cold path needs and std does not have: with `record`, the only unsafe code.

mod exit;
mod host;
mod signals;

pub(crate) use exit::at_exit;
pub(crate) use host::{host_name, user_id};
pub use signals::without_write_signals;
