//! Always-on profiling of parallel programs from one attribute.
//!
//! ```
//! use tinyprof::{profile, profile_loop, profile_scope};
//!
//! #[profile]
//! fn solve(steps: u32) -> u32 {
//!     let mut state = 0;
//!     profile_loop!("step", mode = each, for step in 0..steps {
//!         state += step;
//!     });
//!     profile_scope!("check");
//!     assert!(state >= steps - 1);
//!     state
//! }
//!
//! assert_eq!(solve(4), 6);
//! ```
//!
//! That is all. When the program ends it writes the profile `EXE-PID.tprof` and prints a short
//! table to standard error; `tinyprof report EXE-PID.tprof` prints it again. A program on MPI says
//! `use tinyprof_mpi as _;` besides, and gets one profile for all of its ranks.
//!
//! # What is recorded
//!
//! * A **region** is a function with [`profile`](macro@profile), a [`profile_scope!`] or a
//!   [`profile_loop!`]. An `async fn` is one too, with the time of its polls.
//! * A **callpath** is the chain of open regions of a thread, from a root region on: `solve<step`.
//!   Each has count, sum, minimum, maximum and sum of squares of its visits' times, for each
//!   execution.
//! * An **execution** is one visit of the root region: a program that solves 20 times has 20
//!   executions.
//! * A **metric** is said of a region: a text is kept with it, a number is taken anew for each
//!   visit, at its beginning or with [`record!`].
//! * In mode `each` the time of every visit is kept besides, in order; an iteration of a loop is a
//!   visit.
//!
//! Direct recursion is one callpath: every call counts, the time is that of the outermost. Regions
//! that call each other in circles are on a callpath four times at most: deeper visits count for
//! the innermost of these. Long series and many executions are folded so that memory stays bounded;
//! sums stay exact and the profile says what was folded. Callpaths of more than 1,024 regions, and
//! those beyond a million on one thread, share a callpath `[other]`.
//!
//! # Settings
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `TINYPROF=off` | recording off for this run | on |
//! | `TINYPROF_OUT` | name of the profile, `.tprof` added where missing | `./EXE-JOBID.tprof`, or the process id |
//! | `TINYPROF_REPORT=off` | no table on standard error | on |
//! | `TINYPROF_FORMAT=tprof\|csv` | what the profile is written as; `csv` is the text of the paper, in `NAME.csv/` | `tprof` |
//! | `TINYPROF_FILTER=-*fields_at*,+main` | takes regions out of the run without a build: patterns with `*` for a region's name or `module::name`; `-` takes out, `+` or nothing puts in, the last that matches wins. What none matches is recorded, unless the first pattern puts in. Regions inside stand under the region around; the report says what was taken out | all |
//! | `TINYPROF_BUDGET=1%` | cap on the share of each thread's time that timing may take: callpaths that are visited too often are timed on some visits only; counts stay exact, times become estimates with a standard error | no cap |
//! | `TINYPROF_INTERVAL=5s` | time between two checkpoints (`s`, `ms`, `m`): profiles of everything so far, `NAME-checkpoint-NNNN.tprof`, which stay if the job dies | none |
//! | `TINYPROF_CHECKPOINTS=all\|N` | how many checkpoints stay, the newest; they go when the profile is there, unless all are to stay | 2 |
//! | `TINYPROF_PRECISION=exact\|8bit` | how exact the times in the profile are: as measured, or rounded to 8 bits, off by at most 0.4 %, in half the bytes; counts stay exact | exact |
//! | `TINYPROF_PERMISSIONS=private\|umask` | who may read profiles: the user alone (directory 0700, files 0600), or whom the umask lets | private |
//! | `TINYPROF_SIGNAL=usr1\|usr2` | this signal has the process print the table so far to standard error, and go on; a program that handles the signal itself keeps it | off: the signal does what it does |
//! | `TINYPROF_CLOCK=auto\|monotonic\|fenced` | what visits are measured with: `fenced` for regions under 100 ns, at 1.9 times the cost; `monotonic` for `clock_gettime` | auto: the processor's counter where it is steady |
//! | `TINYPROF_SEGMENT_DIR` | where threads keep what they record, so that it survives `kill -9` | `/dev/shm/tinyprof-UID` |
//!
//! # Checkpoints
//!
//! With `TINYPROF_INTERVAL=5s`, or [`collect::set_checkpoint_interval`], the program writes a
//! complete profile of everything so far about every five seconds. It does so at a boundary: where
//! a root region ends, or between two iterations of a loop that is marked `checkpoint`. A
//! checkpoint says in its manifest that the run had not come to its end. The newest two are kept,
//! until the profile of the whole run is written. Regions of signal handlers must not be root
//! regions then, as writing is no work for a handler; the end of an `async fn` is no boundary.
//!
//! # Switched off
//!
//! `TINYPROF=off` switches recording off for a run. Without the Cargo feature `enable`, which is on
//! by default, the attribute and the macros leave the machine code that would be there without
//! them. A library whose regions are to be measured when the program wants it depends on this crate
//! with `default-features = false`.
//!
//! # What it never does
//!
//! It does not change the program's result, output, exit code or signals, does not overwrite a
//! profile, and does not lose a measurement in silence: whatever was dropped or folded is counted
//! in the profile.

#[cfg(feature = "alloc")]
pub mod alloc;
pub mod collect;
mod handover;
mod metric;
mod polled;
mod record;
mod region;
mod split;
mod sys;
#[cfg(feature = "tracing")]
pub mod tracing;

pub use handover::{Attached, Position, current};
pub use region::Guard;
pub use tinyprof_macros::{profile, profile_loop, profile_scope, record, scope};

/// What the macros expand to. Not for use by hand: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use core::module_path;
    pub use core::option::Option::Some;
    pub use core::pin::pin;

    pub use tinyprof_format::model::{Mode, RegionKind};

    pub use crate::metric::{Number, record};
    pub use crate::polled::{no_output, polled};
    pub use crate::record::Site;
    pub use crate::region::{Guard, LoopGuard, enter, enter_loop};
    pub use crate::split::{Key, Keys, key};
}

/// The examples in the documentation of the macros, which cannot be run in the crate that defines
/// them.
#[cfg(doctest)]
mod macro_examples {
    #[doc = include_str!("../../tinyprof-macros/docs/profile.md")]
    mod profile {}
    #[doc = include_str!("../../tinyprof-macros/docs/profile_loop.md")]
    mod profile_loop {}
    #[doc = include_str!("../../tinyprof-macros/docs/profile_scope.md")]
    mod profile_scope {}
    #[doc = include_str!("../../tinyprof-macros/docs/record.md")]
    mod record {}
    #[doc = include_str!("../../tinyprof-macros/docs/scope.md")]
    mod scope {}
}
