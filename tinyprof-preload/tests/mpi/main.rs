//! Programs that are not rebuilt, under the MPI of the build.

mod counts;
mod functions;
mod messages;
mod order;
mod structure;
mod support;
mod unharmed;
