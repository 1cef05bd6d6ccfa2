//! The command line tools as users and scripts see them.

mod diff;
mod documents;
mod estimates;
mod formats;
mod manual;
mod mpi;
mod reports;
mod support;
mod terminal;
