//! What the studies of the collective writer share: the data that is flushed, what a simulation charges for what it
//! does not execute, and the rows in which results are kept.

pub mod map;
pub mod model;
pub mod rows;
pub mod tracker;
