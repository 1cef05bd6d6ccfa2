//! Rules of findings as data: a condition over the facts of a run, and what to say where it holds.
//!
//! An internal crate of TinyProf: nothing here is stable. Programs use `tinyprof` and
//! `tinyprof-mpi`.
//!
//! ```text
//!  TOML                ->  Rule      its condition and its texts in CEL, checked
//!  Totals and Why      ->  Subjects  the facts of the run, its ranks, regions, calls and findings
//!  both                ->  further findings, and advice, in Why
//! ```
//!
//! * [`Rules`]: the built-in rules and those of users, and what they find.
//! * [`load`]: these, from the user's files.
//! * [`FACTS`]: all that a rule can ask.
//!
//! The command and the Python package contain this crate, and nothing that runs inside of a
//! profiled program. It reads files of rules, and writes none.
#![forbid(unsafe_code)]

mod apply;
mod case;
mod collect;
mod expression;
mod facts;
mod host_work;
mod load;
mod parse;
mod references;
mod rule;
mod rules;
mod stack;
mod template;
#[cfg(test)]
mod translate;

pub use facts::{FACTS, Fact, Scope};
pub use load::{files_of_user, load, text_of};
pub use parse::Problem;
pub use rule::Rule;
pub use rules::Rules;
