//! One profile for all ranks of an MPI program.
//!
//! The whole set-up is one line:
//!
//! ```
//! use tinyprof_mpi as _;
//! ```
//!
//! With it the program's regions are written as one profile when it finalises MPI, because this
//! crate puts itself before `MPI_Init`, `MPI_Init_thread` and `MPI_Finalize`. The line is required:
//! a dependency that is never named is not linked, and then every rank writes its own profile and
//! says so.
//!
//! To get the profile at another time, under a name that the program chooses, or for some ranks
//! only, use a [`Profiler`].
//!
//! # How it is written
//!
//! In the three phases of the paper (section V). All ranks agree on one dictionary of callpaths; if
//! they visited the same ones, an Allreduce of 72 bytes (maxima and a sum) suffices. One rank in
//! sixteen gathers the data of its neighbours. Each of these aggregators writes one part. The
//! manifest comes last, and the profile gets its name when it is complete. A failure anywhere is
//! the same error on every rank and one line on rank 0's standard error. It leaves nothing behind
//! except the segments of all ranks, from which `tinyprof recover` makes a profile. Files are
//! accessed on a separate thread, within three quarters of the deadline.
//!
//! # When ranks are missing
//!
//! No step of a flush waits for other ranks longer than a deadline, 30 seconds by default. A rank
//! whose deadline passes, or to which MPI returns an error, writes its own data as
//! `NAME-rank-R.tprof`, marked incomplete with the reason. One of the first 16 ranks that are left
//! reports it in one line, with the ranks that gave no sign.
//!
//! This cannot end the program: `MPI_Finalize` waits for all ranks, and so does the launcher, until
//! a stopped rank continues or somebody ends the job. The profiles are written before that. A rank
//! that dies usually ends the job at once; for that case there is `tinyprof recover`.
//!
//! A rank that comes after the deadline is missing too. So the deadline should be longer than the
//! time by which the ranks are apart at the flush, and longer than it takes to write a part.
//!
//! # When not all ranks have it
//!
//! A job may consist of several programs (`mpiexec -n 2 a : -n 2 b`), some without this library,
//! and recording may be off on some ranks. A collective of ours would hang such a job, so each rank
//! leaves a mark in shared memory (in the directory of the segments) before it initialises MPI. If
//! all ranks of the world are marked afterwards, they write one profile. If ranks of this host are
//! missing, each rank writes its own, `NAME-rank-R.tprof`, which one of them reports at the end.
//! Marks are left in the user's usual directory for segments, and in `TINYPROF_SEGMENT_DIR`.
//!
//! Marks are visible on one host. If there may be ranks on others, all ranks are asked at the start
//! of `MPI_Finalize`, when no collective of the program can be under way any more. They write one
//! profile if all answer within the deadline, and one each if not. Then it is known too late
//! whether all take part, so there are no interim profiles at intervals, and missing ranks cannot
//! be named. It is known from the beginning in these cases:
//!
//! * `TINYPROF_WORLD=all` says that all ranks take part. It must be set for all of them: across
//!   hosts, Open MPI passes it on with `mpiexec -x TINYPROF_WORLD=all`. If it is set and not true,
//!   a job on several hosts hangs. On one host the marks decide.
//! * Open MPI is started under Slurm, with one program that is not a script.
//! * A [`Profiler`] is started collectively by the program itself.
//!
//! If Open MPI tells its ranks that there are several programs on several hosts, they do not ask.
//!
//! With `TINYPROF=off`, or without the feature `enable`, the hooks call MPI's own functions and do
//! nothing else. With `TINYPROF=off` a [`Profiler`] still takes part in its collective steps, as
//! other ranks may record.
//!
//! # Settings
//!
//! The environment overrides the settings that the program makes with the [`Builder`].
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
//! | `TINYPROF_AGGREGATORS=auto\|N\|node` | [`Builder::aggregators`] | number of ranks that write; `node`: one on each node | `auto`: one to every 16, more for long lists |
//! | `TINYPROF_SERIES=auto\|padded\|counts` |  | for measurements: series padded to the longest and sent with the summaries, or sent separately, unpadded | `auto`: padded if that adds at most a quarter |
//! | `TINYPROF_WORLD=auto\|all` |  | with `all`, all ranks of the job are assumed to run this profiler; on one host their marks decide | `auto`: known at the start on one host, asked at the end across hosts |
//! | `TINYPROF_MPI=off\|calls\|messages` | [`Builder::mpi`] | what is recorded of MPI: nothing, every call, or also who waits for whom | `calls` |
//! | `TINYPROF_WRAPPERS=mp_*,Halo::push` |  | functions that do no more than call MPI: calls are shown where these are called; beside those that are known by their names, such as `my_mpi_send` | none |
//! | `TINYPROF_CALLERS=2` |  | calls of MPI of a program that is not rebuilt below the functions that led to them: how many of those | no callers |
//! | `TINYPROF_ORDER=observe\|enforce` |  | at level `messages`: count the messages that measuring has put into another order, or, as an experiment, keep the order | `observe` |
//!
//! # Interim profiles
//!
//! With an interval, all ranks regularly write a profile of everything so far, each time at the
//! same flush point, on which they agree without a barrier: see [`Builder::interim_interval`].
//! `TINYPROF_INTERVAL` works for programs without a [`Profiler`], too; the setting of rank 0
//! applies. There, blocking collective operations on `MPI_COMM_WORLD` are flush points, too.

mod profiler;
#[doc(hidden)]
pub mod scaling_study;
mod sys;
#[cfg(without_mpi)]
mod without_mpi;

pub use profiler::{Builder, Profiler};
pub use tinyprof_format::file::OutputFormat;
pub use tinyprof_format::model::Precision;
pub use tinyprof_job::{FlushError, Interruption, StartError};
pub use tinyprof_settings::{Aggregators, MpiLevel};

/// The program on the first page, which must compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}
