//! Sections with the messages and edges of callpaths: who sent what, and who waited for whom.
//!
//! A section holds several callpaths, until they have 8,192 messages and edges on all ranks
//! together: a section of its own would take more bytes than the few numbers of a small run. Its
//! key has the row of the last one, or a later one.
//!
//! ```text
//! callpaths (a varint)
//! gaps: rows between it and the next callpath       one for each callpath; the last: row of the
//!                                                   key, minus its row
//! keys of messages | keys of edges                  one for each callpath
//! sets of ranks                                     see `rank_sets.rs`
//! kinds | partners (zigzag) | size classes | sets   one for each key of messages
//! kinds | partners (zigzag) | origins | sets        one for each key of edges
//! unknown origins (a varint), then the id of each
//! numbers of messages, then of edges, see `rows.rs`, each as in `numbers.rs`
//! ```
//!
//! The keys of a callpath ascend by kind, partner, and size class or origin. Partners are relative
//! to the rank. An origin is 0 if nobody knows it, otherwise one more than the row of the callpath;
//! numbers above all rows are those of the unknown origins.
//!
//! Values are in the order of callpaths, keys and ranks.

mod decode;
mod encode;
mod numbers;
mod rank_sets;
mod rows;
mod squares;
#[cfg(test)]
mod tests;
mod usual;

pub(super) use decode::{Slices, Targets, decode_section};
pub(super) use encode::Communication;
