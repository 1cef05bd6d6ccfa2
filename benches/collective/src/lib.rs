//! What the studies share: the data that is flushed, what a simulation charges for what it does not
//! execute, the rows in which results are kept, how programs are launched and what they have
//! written, and what pages are made of.

#[cfg(feature = "document")]
pub mod document;
pub mod files;
pub mod launch;
pub mod map;
pub mod model;
pub mod rows;
pub mod tracker;
