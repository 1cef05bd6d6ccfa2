//! The paper's text format (section VI): one line per callpath, written for other tools and read
//! from them.
//!
//! ```text
//! "id","parent","tag","size","is_loop","times"
//! "main","null","null","0","0","0.569524-0.518518|0.522223-0.501202"
//! "main<solve","main","COMP","0","1","0.250000+0.250001-0.5|0.260001+0.240001-0.5"
//! ```
//!
//! * `times` holds seconds: ranks are separated by `|`, the executions of a rank by `-`, the visits
//!   of an execution by `+`. An empty place is a rank or an execution without a visit.
//! * `is_loop` is 1 if every visit has its value, 2 for a loop of which only sums are kept, else 0.
//! * Columns between `parent` and `is_loop` are constants of the region, by name; `null` means
//!   none.
//! * The names of a path are joined by `<`. The reader also accepts `>` and `-`, which the authors'
//!   tools wrote.
//!
//! # Names
//!
//! Characters that would read as a delimiter are written as `%` and two hexadecimal digits for each
//! byte: `| - + < > " , %` and all control characters. If siblings have the same name, the second
//! one ends in `%~2`, the third in `%~3`. An empty name is `%`, and a name or constant `null` is
//! `%6Eull`. The reader undoes all this; a `%` that begins none of these is literal.
//!
//! # What is not in the text
//!
//! Varying metrics, messages, edges, places in the source and facts of the run; and for a sum of
//! several visits, everything but the sum. A time has nine decimals if it needs them, six if it is
//! a whole number of microseconds; so nanoseconds are preserved exactly. Execution numbers below
//! 65,536 are preserved, too; larger ones are renumbered in their order.
//!
//! # Example
//!
//! ```
//! use tinyprof_format::text::{read_text, write_text};
//!
//! let damaged = b"\"id\",\"parent\",\"tag\",\"is_loop\",\"times\"\n\
//!     \"main\",\"null\",\"null\",\"0\",\"0.000004|0.285482|0.3\"\n\
//!     \"main-io\",\"main\",\"io\",\"0\",\"0.000001|0.0x5|0.2\"\n";
//! let imported = read_text(damaged)?;
//! let io = imported.profile.find("main<io").expect("the callpath");
//! assert_eq!(imported.profile.values(io, 2).inclusive_ns(), 200_000_000);
//! assert_eq!((imported.salvage.values_lost, imported.salvage.problems[0].rank), (1, Some(1)));
//!
//! let mut text = Vec::new();
//! write_text(&imported.profile, &mut text)?;
//! let text = String::from_utf8_lossy(&text);
//! assert!(text.contains("\"main<io\",\"main\",\"io\",\"0\",\"0.000001||0.200000\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod joined;
mod names;
mod paths;
mod read;
mod records;
mod row;
mod salvage;
mod seconds;
mod times;
mod write;

pub use error::TextError;
pub(crate) use joined::join_ranks;
pub use read::{Imported, read_text};
pub use salvage::{Problem, ProblemKind, Salvage};
pub use write::{Omitted, TextSurvey, TextWriter, write_text};
