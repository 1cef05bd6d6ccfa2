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
//! * [`FACTS`]: all that a rule can ask.
//!
//! Only the command contains this crate, and nothing that runs inside of a profiled program. It
//! reads and writes no file.
#![forbid(unsafe_code)]

mod apply;
mod case;
mod collect;
mod expression;
mod facts;
mod parse;
mod references;
mod rule;
mod rules;
mod template;

pub use facts::{FACTS, Fact, Scope};
pub use parse::Problem;
pub use rule::Rule;
pub use rules::Rules;
