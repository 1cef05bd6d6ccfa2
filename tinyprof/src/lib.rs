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
//! That is all it takes. When the program ends, it writes the profile `EXE-PID.tprof` and prints a
//! short table to standard error; `tinyprof report EXE-PID.tprof` prints the table again. A program
//! on MPI also needs `use tinyprof_mpi as _;` and gets one profile for all of its ranks.
//!
//! # What is recorded
//!
//! * A **region** is a function with [`profile`](macro@profile), a [`profile_scope!`] or a
//!   [`profile_loop!`]. An `async fn` is a region too; its time is that of its polls.
//! * A **callpath** is the chain of open regions of a thread, starting at a root region:
//!   `solve<step`. It has the count, sum, minimum, maximum and sum of squares of its visits' times,
//!   for each execution.
//! * An **execution** is one visit of the root region: a program that solves 20 times has 20
//!   executions.
//! * A **metric** belongs to a region. A text is kept once with the region. A number is taken for
//!   each visit, at its beginning or with [`record!`].
//! * In mode `each` the time of every visit is also kept, in order. Each iteration of a loop is a
//!   visit.
//!
//! Direct recursion is one callpath: every call counts, and the time is that of the outermost call.
//! Regions that call each other in cycles occur at most four times on a callpath; deeper visits
//! count for the innermost of these. Long series and many executions are folded to bound memory.
//! Sums stay exact, and the profile reports what was folded. Callpaths of more than 1,024 regions,
//! and those beyond a million on one thread, share a callpath `[other]`.
//!
//! # Settings
//!
//! The environment overrides the settings that the program makes with a [`Builder`].
//!
//! | variable | builder | meaning | default |
//! |---|---|---|---|
//! | `TINYPROF=off` |  | no recording in this run | on |
//! | `TINYPROF_OUT=PATH` | [`Builder::out`] | name of the profile; `.tprof` is added where missing | `./EXE-JOBID.tprof`, or the process id (of rank 0) |
//! | `TINYPROF_REPORT=off` | [`Builder::report`] | no table on standard error (of rank 0) at the end | on |
//! | `TINYPROF_FORMAT=tprof\|csv` | [`Builder::format`] | format of the profile; `csv` is the text format of the paper, `NAME.csv/part-NNNNN.csv` | `tprof` |
//! | `TINYPROF_FILTER=-*fields_at*,+main` | [`Builder::filter`] | regions to leave out of this run, by name or `module::name`, without a rebuild | all regions are recorded |
//! | `TINYPROF_BUDGET=1%` | [`Builder::budget`] | limit on the share of each thread's time that timing may take | no limit |
//! | `TINYPROF_SAMPLE=100` |  | samples of the program's functions and lines: how many in each second of a thread's processor time | no samples |
//! | `TINYPROF_EVENTS=window\|ring\|thin` |  | single visits with begin and end, in memory of fixed size: until it is full, the newest, or all of the run at falling resolution | off: none are kept |
//! | `TINYPROF_EVENTS_MEMORY=4MiB` |  | memory for the events of each thread, rounded down to a power of two | `4MiB` |
//! | `TINYPROF_EVENTS_WINDOW=10s+5s` |  | when events are kept: some time, or some visits of a region (`solve@100-110`, from 0 on), or only where the program asks for it (`program`) | always |
//! | `TINYPROF_STEER=on\|hold` |  | commands of `tinyprof ctl` that the program obeys, of its own user: none, those that keep events, or also those that hold it | off: others may only read |
//! | `TINYPROF_ON=efficiency<0.5: save` |  | what `tinyprof run` does when a condition holds of the running job: `notify`, `save`, `record` or `hold`; once, or `times N` | nothing |
//! | `TINYPROF_INTERVAL=5s` | [`Builder::interim_interval`] | time between two interim profiles, `NAME-interim-NNNN.tprof` (`ms`, `s`, `m`, `h`) | no interim profiles |
//! | `TINYPROF_KEEP=all\|N` | [`Builder::keep_interim_profiles`] | number of newest interim profiles to keep; with `all` none is removed, even after the final profile is written | 2 |
//! | `TINYPROF_PRECISION=exact\|8bit` | [`Builder::precision`] | precision of the times in the profile: as measured, or rounded to 8 bits, off by at most 0.4 %, in half the bytes; counts stay exact | `exact` |
//! | `TINYPROF_PERMISSIONS=private\|umask` |  | access to profiles: the user alone (directory 0700, files 0600), or as the umask allows | `private` |
//! | `TINYPROF_SIGNAL=usr1\|usr2` | [`Builder::report_on_signal`] | signal that prints the on-demand report to standard error; a program that handles the signal itself keeps its handler; MPICH uses `SIGUSR1` itself | off: the signal keeps its effect |
//! | `TINYPROF_DEADLINE=5s` | [`Builder::deadline`] | longest time that a step at the end waits for files, or for other ranks (`ms`, `s`, `m`, `h`) | `30s` |
//! | `TINYPROF_CLOCK=auto\|monotonic\|fenced` |  | clock for visits: `fenced` for regions under 100 ns, at 1.9 times the cost; `monotonic` for `clock_gettime` | `auto`: the processor's counter where it is steady |
//! | `TINYPROF_SEGMENT_DIR=PATH` |  | directory in which threads keep what they record, so that it survives `kill -9` | `/dev/shm/tinyprof-UID` |
//!
//! A filter is a list of patterns with `*` for a region's name or `module::name`. `-` excludes
//! regions, `+` or nothing includes them, and the last pattern that matches wins. A region that no
//! pattern matches is recorded, unless the first pattern includes. Regions inside an excluded
//! region appear under the region around it. The report lists what was excluded.
//!
//! Under a budget, callpaths that are visited too often are timed on some visits only. Counts stay
//! exact; times become estimates with a standard error.
//!
//! # Interim profiles
//!
//! With `TINYPROF_INTERVAL=5s`, or [`Builder::interim_interval`], the program writes a complete
//! profile of everything so far about every five seconds, as `NAME-interim-NNNN.tprof`. These
//! profiles remain if the job dies. They are written at a flush point: where a root region ends, or
//! between two iterations of a loop marked `flush_point`. The manifest of an interim profile says
//! that the run had not ended. The newest two are kept until the profile of the whole run is
//! written. With an interval set, regions of signal handlers must not be root regions, because a
//! handler cannot write a profile. The end of an `async fn` is not a flush point.
//!
//! # Switched off
//!
//! `TINYPROF=off` switches recording off for a run. Without the Cargo feature `enable`, which is on
//! by default, the attribute and the macros compile to the same machine code as a program without
//! them. A library that leaves it to the program whether its regions are measured depends on this
//! crate with `default-features = false`.
//!
//! # What it never does
//!
//! It does not change the program's result, output, exit code or signals. It does not overwrite a
//! profile. It does not lose a measurement silently: everything that was dropped or folded is
//! counted in the profile.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "alloc")]
pub mod alloc;
mod calls;
pub mod collect;
mod context;
pub mod events;
mod metric;
mod polled;
mod record;
mod region;
mod split;
mod sys;
#[cfg(feature = "tracing")]
pub mod tracing;

pub use collect::{Builder, StartError};
pub use context::{Attached, Position, current};
pub use region::Guard;
pub use tinyprof_format::file::OutputFormat;
pub use tinyprof_format::model::Precision;
pub use tinyprof_macros::{profile, profile_loop, profile_scope, record, scope};

/// The interface of the wrappers of MPI's functions. Not for use by hand: it changes without
/// notice.
#[doc(hidden)]
pub mod __calls {
    pub use crate::calls::{
        Activity, CALLERS_MAX, CallChain, CallPlace, Callpath, CallpathId, ClockFacts, ClockRate,
        EdgeInstance, EdgeKey, EdgeKind, Like, MessageEnd, MessageKind, Open, Recorder, ScriptLine,
        Signature, Site, VISIT_UNITS, Visited, clock_rate, keep_causes, lose_message,
        no_processor_ns, set_aside_switched_off, visit_ns_now, with_discarded_records,
    };
    pub use crate::collect::for_mpi::starting;
    pub use crate::sys::{boot_id, undisturbed};
}

/// The expansion of the macros. Not for use by hand: it changes without notice.
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

/// The interface of `tinyprof-job`. Not for other crates: it changes without notice.
#[doc(hidden)]
pub mod __mpi {
    pub use crate::collect::for_mpi::*;
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
