//! Atomics and threads: those of the language, or those of loom.
//!
//! A program for loom is compiled with `--cfg loom` and the feature `loom`.

#[cfg(not(loom))]
pub use std::{
    sync::atomic::{AtomicU64, fence},
    thread::yield_now,
};

#[cfg(loom)]
pub use loom::{
    sync::atomic::{AtomicU64, fence},
    thread::yield_now,
};
