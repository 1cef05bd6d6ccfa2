//! One profile for all ranks of an MPI program.
//!
//! The whole set-up is one line:
//!
//! ```
//! use tinyprof_mpi as _;
//! ```
//!
//! With it the program's regions are written as one profile when it finalises MPI, because this
//! crate puts itself before `MPI_Init`, `MPI_Init_thread` and `MPI_Finalize`. The line must be
//! there: a dependency that is never named is not linked, and then every rank writes a profile of
//! its own and says so.
//!
//! Who wants the profile at another moment, under a name of the program's choice, or of some ranks
//! only, takes a [`Profiler`].
//!
//! # How it is written
//!
//! In the three phases of the paper (section V): all ranks agree on one dictionary of callpaths,
//! for which an Allreduce of 72 bytes (maxima, and beside them a sum) suffices where they visited
//! the same; one rank in sixteen gathers what its neighbours hold; and each of these aggregators
//! writes one part. The manifest comes last, and the profile gets its name when it is complete. A
//! failure anywhere is the same error on every rank, one line on rank 0's standard error, and
//! leaves nothing behind but the segments of all ranks, of which `tinyprof recover` makes a
//! profile. Work on files is done on a thread of its own, within three quarters of the deadline.
//!
//! # When ranks are missing
//!
//! No step of a flush waits for other ranks longer than a deadline, 30 seconds unless you say
//! otherwise. A rank whose deadline passes, or to which MPI returns an error, writes what it holds
//! as `NAME-rank-R.tprof`, marked incomplete with the reason. One of the first 16 ranks that are
//! left says it in one line, with the ranks that gave no sign.
//!
//! What this cannot do is end the program: `MPI_Finalize` waits for all ranks, and so does the
//! launcher, until a rank that is stopped goes on or somebody ends the job. The profiles are
//! written before that. A rank that dies usually ends the job at once; `tinyprof recover` is for
//! that.
//!
//! A rank that comes later than the deadline is missing too: it should be longer than the ranks are
//! apart at the flush, and than a part takes to be written.
//!
//! # When not all ranks have it
//!
//! A job may be of several programs (`mpiexec -n 2 a : -n 2 b`), not all of which have this
//! library, and recording may be off on some ranks. A collective of ours would hang such a job, so
//! each rank leaves a mark in shared memory (in the directory of the segments) before it
//! initialises MPI. If all ranks of the world are marked afterwards, they write one profile; if
//! ranks of this host are missing, each rank writes its own, `NAME-rank-R.tprof`, which one of them
//! says at the end.
//!
//! Marks are seen on one host. Where there may be ranks on others, all ranks are asked at the start
//! of `MPI_Finalize`, when no collective of the program can be under way any more. They write one
//! profile if all answer within the deadline, and each its own if not. Whether all take part is
//! then known too late for checkpoints at intervals, and for telling which ranks are missing. It is
//! known from the beginning in these cases:
//!
//! * `TINYPROF_WORLD=all` says that all ranks take part. It must be set for all of them: across
//!   hosts, Open MPI passes it on with `mpiexec -x TINYPROF_WORLD=all`. Said wrongly, it hangs the
//!   job.
//! * Open MPI is started under Slurm, with one program that is no script.
//! * A [`Profiler`] is started collectively by the program itself.
//!
//! Open MPI's ranks that are told of several programs on several hosts do not ask.
//!
//! With `TINYPROF=off`, or without the feature `enable`, the hooks call MPI's own functions and do
//! nothing else. With the former a [`Profiler`] still takes part in its collective steps, as other
//! ranks may record.
//!
//! # Settings
//!
//! Those of [`tinyprof`], and:
//!
//! | variable | builder | meaning | default |
//! |---|---|---|---|
//! | `TINYPROF_OUT` | [`Profiler::builder`] | name of the profile | `./EXE-JOBID.tprof`, or the process id of rank 0 |
//! | `TINYPROF_REPORT=off` | [`Builder::report`] | the table on rank 0's standard error | on |
//! | `TINYPROF_AGGREGATORS=auto\|N\|node` | [`Builder::aggregators`] | how many ranks write; `node`: one to each | `auto`: one to every 16; of long lists more, see [`Aggregators::Auto`] |
//! | `TINYPROF_FORMAT=tprof\|csv` | [`Builder::format`] | what the aggregators write; `csv` is the text of the paper, `NAME.csv/part-NNNNN.csv` | `tprof` |
//! | `TINYPROF_DEADLINE=5s` | [`Builder::deadline`] | how long a step of the flush waits for other ranks, and its work on files takes at most (`ms`, `s`, `m`, `h`) | `30s` |
//! | `TINYPROF_SERIES=auto\|padded\|counts` | | for measurements: series padded to the longest and sent with the summaries, or sent by themselves, as long as they are | `auto`: padded where that adds a quarter at most |
//! | `TINYPROF_WORLD=auto\|all` | | whether all ranks of the job are taken to run this profiler, see above | `auto` |
//! | `TINYPROF_FILTER=-*fields_at*` | [`Builder::filter`] | takes out the regions that match, by name or `module::name` | none |
//! | `TINYPROF_BUDGET=1%` | [`Builder::budget`] | cap on the share of each thread's time that timing may take | none |
//! | `TINYPROF_INTERVAL=5s` | [`Builder::checkpoint_interval`] | the time between two checkpoints | none |
//! | `TINYPROF_CHECKPOINTS=all\|N` | [`Builder::keep_checkpoints`] | how many checkpoints stay | the newest two |
//! | `TINYPROF_PRECISION=exact\|8bit` | [`Builder::precision`] | how exact the times in the profile are: as measured, or rounded to 8 bits, off by at most 0.4 % | exact |
//! | `TINYPROF_PERMISSIONS=private\|umask` | | who may read profiles: the user alone, or whom the umask lets; each rank that writes obeys its own environment | private |
//! | `TINYPROF_SIGNAL=usr1\|usr2` | [`Builder::report_on_signal`] | this signal has a rank print its table so far to standard error; MPICH has `SIGUSR1` for itself | off |
//!
//! # Checkpoints
//!
//! With an interval all ranks write a profile of everything so far now and then, each time at the
//! same boundary, on which they agree without a barrier: see [`Builder::checkpoint_interval`].
//! `TINYPROF_INTERVAL` works for programs without a [`Profiler`], too. It must then be there on all
//! ranks or on none, as `MPI_Init` waits for the others to begin with it: across hosts, Open MPI
//! passes it on with `mpiexec -x TINYPROF_INTERVAL`.

#[cfg(feature = "rsmpi")]
mod attendance;
#[cfg(feature = "rsmpi")]
mod checkpoint;
mod communicator;
mod observer;
mod phases;
#[cfg(feature = "rsmpi")]
mod profiler;
#[cfg(feature = "rsmpi")]
mod run;
#[cfg(feature = "rsmpi")]
mod settings;
#[doc(hidden)]
pub mod study;
#[cfg(feature = "rsmpi")]
mod sys;

pub use phases::Aggregators;
#[cfg(feature = "rsmpi")]
pub use profiler::{Builder, FlushError, Profiler, StartError};
#[cfg(feature = "rsmpi")]
pub use sys::{MPI_Finalize, MPI_Init, MPI_Init_thread};
pub use tinyprof_format::file::OutputFormat;

/// The program on the first page, which must compile.
#[cfg(all(doctest, feature = "rsmpi"))]
#[doc = include_str!("../../README.md")]
mod readme {}
