//! What ranks do, as graphs: of one rank, and by classes of ranks.
//!
//! A node is a callpath that ends in an MPI call, or a control node: begin and end of the program,
//! entry and exit of a loop. Edges are computations between two nodes (flow), messages, and calls
//! that complete a request (completion). Nodes and edges are counted, so that the size of a graph
//! depends on the code of a program and not on how long it runs.
//!
//! ```text
//!  one rank    Tag                                     what the rank did
//!  all ranks   Tag, Tag, ... -> Phases -> classes      which ranks did the same, phase by phase
//! ```
//!
//! The graph has circles, and instances are added up, so that a path in it is no chain of causes.
//! Those are in [`delay`](crate::delay).

mod classes;
mod compare;
mod digest;
mod fold;
mod node;
mod peers;
mod section;
mod tag;
mod tally;

pub use classes::{Class, Phase, phases, phases_of};
pub use compare::{Comparison, Difference, Part};
pub use fold::{Folded, RECURSIVE, folded};
pub use node::{NodeKey, NodeKind};
pub use section::{Place, Section};
pub use tag::{Direction, MessageEdge, Messages, Node, Tag};
pub use tally::Tally;
pub use tinyprof_vocabulary::RankSet;
