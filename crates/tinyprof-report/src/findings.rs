//! Notable findings in a run: rules over its facts, and the choice of those that are reported.

mod choice;
mod finding;
mod hint;
mod phrases;
mod run;
mod subjects;
// Generated: `tinyprof-rules` translates its `hints.toml`.
#[rustfmt::skip]
mod table;
mod values;

pub(crate) use choice::findings;
pub use choice::FINDINGS_MAX;
pub use finding::{Certainty, Finding, FindingKind, Words};
pub use hint::{Hint, HintScope, plain_number};
pub(crate) use run::{Facts, Run};
pub use subjects::{HintSubjects, Subject};
pub use table::HINTS;
pub use values::{FactValue, Values};
