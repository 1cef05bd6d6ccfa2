//! Notable findings in a run: rules over its facts, and the choice of those that are reported.

mod choice;
mod finding;
mod hint;
mod phrases;
mod run;
mod subjects;
// Generated: `tinyprof-rules` translates its `hints.toml`.
#[rustfmt::skip]
#[expect(clippy::comparison_to_empty, clippy::useless_format, reason = "as the rules say it")]
mod table;
mod values;

pub use choice::FINDINGS_MAX;
pub(crate) use choice::findings;
pub use finding::{Certainty, Finding, FindingKind, Words};
pub use hint::{Hint, HintScope, plain_number};
pub(crate) use run::{Facts, Run};
pub use subjects::{HintSubjects, Subject};
pub use table::HINTS;
pub use values::{FactValue, Values};
