//! Programs that are not rebuilt, under the MPI of the build.

mod callers;
mod causes;
mod commands;
mod counts;
mod disturbed;
mod events;
mod functions;
mod inside;
mod interim;
mod killed;
mod made;
mod messages;
mod order;
mod places;
mod processor;
mod push;
mod questions;
mod sampled;
mod settings;
mod small_memory;
mod steering;
mod structure;
mod support;
mod truth;
mod unharmed;
mod why;
