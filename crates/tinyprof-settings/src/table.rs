//! The table of all settings. A new setting is a row here, and the code that obeys it.
//!
//! Its documentation comes from here, too: `TINYPROF_UPDATE_DOCS=1 cargo test -p tinyprof-settings`
//! writes the tables in the documentation of the crates and in the README.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use tinyprof_format::file::{OutputFormat, Permissions};
use tinyprof_format::model::Precision;
use tinyprof_format::segment::DIRECTORY_VARIABLE;

use crate::choice::{
    Aggregators, ClockChoice, MessageOrder, MpiLevel, ReportSignal, SeriesGather, Steer, World,
};
use crate::events::{self, Events, EventsWindow};
use crate::parse::{
    count, duration_up_to, is_filter, path, profile_name, share, switch, text, word,
};
use crate::rows::settings;
use crate::setting::Setting;
use crate::trigger::Trigger;

/// The number that keeps all interim profiles: none is removed, not even after the run.
pub const ALL_INTERIM_PROFILES: u32 = u32::MAX;

/// The deadline unless another one is set.
pub const DEADLINE_DEFAULT: Duration = Duration::from_secs(30);

/// The accepted values of a path, which may be empty in the environment.
const PATH: &str = "PATH";

settings! {
    everywhere {
        /// Recording.
        recording: bool {
            key: "recording",
            variable: "TINYPROF",
            values: "off",
            expected: "on or off",
            meaning: "no recording in this run",
            default: "on",
            read: switch,
        }
        /// The name of the profile; `.tprof` is added where it is missing.
        out: PathBuf {
            key: "out",
            variable: "TINYPROF_OUT",
            values: PATH,
            expected: "the name of a directory that can be created",
            meaning: "name of the profile; `.tprof` is added where missing",
            default: "`./EXE-JOBID.tprof`, or the process id (of rank 0)",
            read: profile_name,
            /// Sets the name of the profile; `.tprof` is added if it is missing. `TINYPROF_OUT`
            /// wins.
            out(name: impl AsRef<::tinyprof_settings::__types::Path>) => name.as_ref().to_owned(),
        }
        /// The table on standard error at the end.
        report: bool {
            key: "report",
            variable: "TINYPROF_REPORT",
            values: "off",
            expected: "on or off",
            meaning: "no table on standard error (of rank 0) at the end",
            default: "on",
            read: switch,
            /// Sets whether a table is printed to standard error when the profile is written: under
            /// MPI by rank 0. `TINYPROF_REPORT` wins.
            report(report: bool) => report,
        }
        /// The format of the final profile. Interim profiles, and profiles that a rank writes
        /// alone, are always in our own format.
        format: OutputFormat {
            key: "format",
            variable: "TINYPROF_FORMAT",
            values: "tprof|csv",
            expected: "tprof or csv",
            meaning: "format of the profile; `csv` is the text format of the paper, \
                      `NAME.csv/part-NNNNN.csv`",
            default: "`tprof`",
            read: |value| word(value, |word| match word {
                "tprof" => Some(OutputFormat::Tprof),
                "csv" => Some(OutputFormat::Csv),
                _ => None,
            }),
            /// Sets the format of the profile: our own format, or the paper's text, under MPI one
            /// `NAME.csv/part-NNNNN.csv` for each aggregator. `TINYPROF_FORMAT` wins; the setting
            /// of rank 0 applies. Interim profiles are always in our own format, and so is the
            /// profile that a rank writes alone when others are missing.
            format(format: ::tinyprof_settings::__types::OutputFormat) => format,
        }
        /// The regions to record, as patterns with `*`.
        filter: String {
            key: "filter",
            variable: "TINYPROF_FILTER",
            values: "-*fields_at*,+main",
            expected: "patterns with a comma between them, as in -*fields_at*,+main",
            meaning: "regions to leave out of this run, by name or `module::name`, without a \
                      rebuild",
            default: "all regions are recorded",
            read: |value| text(value, |text| is_filter(text).then(|| text.to_owned())),
            /// Leaves regions out of the recording, for callpaths that are visited first after the
            /// start: `-*fields_at*,+main`. If several processes make one profile, all of them
            /// should set the same filter. `TINYPROF_FILTER` wins.
            filter(patterns: impl Into<String>) => patterns.into(),
        }
        /// The share of each thread's time that timing may take, from 0 to 1; 1 means no limit.
        budget: f64 {
            key: "budget",
            variable: "TINYPROF_BUDGET",
            values: "1%",
            expected: "a percentage from 0.001% to 100%, as in 1%, or off",
            meaning: "limit on the share of each thread's time that timing may take",
            default: "no limit",
            read: share,
            /// Limits the share of each thread's time that timing may take, from 0 to 1, for
            /// callpaths that are visited first after the start. `TINYPROF_BUDGET` wins.
            budget(share: f64) => share,
        }
        /// The number of samples of each thread in a second of its processor time.
        sample: u32 {
            key: "sample",
            variable: "TINYPROF_SAMPLE",
            values: "100",
            expected: "a number of samples per second from 1 to 1000, or off",
            meaning: "samples of the program's functions and lines: how many in each second of a \
                      thread's processor time",
            default: "no samples",
            read: |value| word(value, |word| match word {
                "off" => Some(0),
                number => count(number).filter(|&number| number <= 1000),
            }),
        }
        /// The visits that are kept one by one.
        events: Events {
            key: "events",
            variable: "TINYPROF_EVENTS",
            values: "window|ring|thin",
            expected: "off, window, ring or thin",
            meaning: "single visits with begin and end, in memory of fixed size: until it is full, \
                      the newest, or all of the run at falling resolution",
            default: "off: none are kept",
            read: |value| word(value, events::events),
        }
        /// The memory for the events of each thread, in bytes.
        events_memory: u64 {
            key: "events-memory",
            variable: "TINYPROF_EVENTS_MEMORY",
            values: "4MiB",
            expected: "a size from 256KiB to 128MiB, as in 4MiB",
            meaning: "memory for the events of each thread, rounded down to a power of two",
            default: "`4MiB`",
            read: |value| text(value, events::memory),
        }
        /// The part of the run of which events are kept.
        events_window: EventsWindow {
            key: "events-window",
            variable: "TINYPROF_EVENTS_WINDOW",
            values: "10s+5s",
            expected: "a begin and a length as in 10s+5s, visits of a region as in solve@100-110, \
                      or program",
            meaning: "when events are kept: some time, or some visits of a region (`solve@100-110`, \
                      from 0 on), or only where the program asks for it (`program`)",
            default: "always",
            read: |value| text(value, events::window),
        }
        /// The commands that the program obeys while it runs.
        steer: Steer {
            key: "steer",
            variable: "TINYPROF_STEER",
            values: "on|hold",
            expected: "off, on or hold",
            meaning: "commands of `tinyprof ctl` that the program obeys, of its own user: none, those \
                      that keep events, or also those that hold it",
            default: "off: others may only read",
            read: |value| word(value, |word| match word {
                "off" => Some(Steer::Off),
                "on" => Some(Steer::On),
                "hold" => Some(Steer::Hold),
                _ => None,
            }),
        }
        /// What is to be done when a condition holds.
        on: Trigger {
            key: "on",
            variable: "TINYPROF_ON",
            values: "efficiency<0.5: save",
            expected: "a condition and what to do, notify, save, record or hold, as in \
                       'efficiency < 0.5: save,record times 3 for 5s'",
            meaning: "what `tinyprof run` does when a condition holds of the running job: \
                      `notify`, `save`, `record` or `hold`; once, or `times N`",
            default: "nothing",
            read: |value| text(value, Trigger::parse),
        }
        /// The time between two interim profiles; zero for none.
        interim_interval: Duration {
            key: "interval",
            variable: "TINYPROF_INTERVAL",
            values: "5s",
            expected: "a time from 1ms to 1000h with its unit, as in 5s, 500ms or 2m, or off",
            meaning: "time between two interim profiles, `NAME-interim-NNNN.tprof` (`ms`, `s`, \
                      `m`, `h`)",
            default: "no interim profiles",
            read: |value| text(value, |text| {
                if text.eq_ignore_ascii_case("off") { Some(Duration::ZERO) } else { duration_up_to(text, 1000) }
            }),
            /// Makes the program write an interim profile about every `interval`: a profile of
            /// everything so far, `NAME-interim-NNNN.tprof`, which stays if the job dies.
            /// `TINYPROF_INTERVAL` wins; zero means none. Under MPI the setting of rank 0 applies.
            ///
            /// Interim profiles are written at a flush point: where a root region ends, or between
            /// two iterations of a loop that is marked `flush_point`. Without MPI these are the
            /// flush points of all threads. A root region that ends in a signal handler counts, and
            /// must not.
            ///
            /// Under MPI they are the flush points of the thread that starts the profiler, which
            /// must be the one that initialised MPI. All ranks write at the flush point of the same
            /// number, on which they agree without waiting for each other. So a rank must get to
            /// its n-th flush point without anything that another rank does after its own n-th, as
            /// with time steps. With `MPI_THREAD_SERIALIZED` there are no interim profiles at
            /// intervals, as it is unknown when the profiler may call MPI. A program without a
            /// profiler, whose interval is that of `TINYPROF_INTERVAL`, also has flush points
            /// before blocking collective operations on `MPI_COMM_WORLD`.
            ///
            /// # Cost
            /// A flush point takes up to 50 ns more, measured with MPI (`docs/scaling.md`) and
            /// without (`docs/cost.md`). Under MPI there are two non-blocking reductions of a
            /// number between two interim profiles.
            interim_interval(interval: ::tinyprof_settings::__types::Duration) => interval,
        }
        /// The number of the newest interim profiles to keep; [`ALL_INTERIM_PROFILES`] for all.
        interim_profiles_kept: u32 {
            key: "keep",
            variable: "TINYPROF_KEEP",
            values: "all|N",
            expected: "all or a number from 1 to 1000000",
            meaning: "number of newest interim profiles to keep; with `all` none is removed, even \
                      after the final profile is written",
            default: "2",
            read: |value| word(value, |word| match word {
                "all" => Some(ALL_INTERIM_PROFILES),
                number => count(number),
            }),
            /// Sets how many interim profiles stay, the newest, at least one. The default is two;
            /// `ALL_INTERIM_PROFILES` keeps all of them, also when the final profile is written.
            /// `TINYPROF_KEEP` wins.
            keep_interim_profiles(newest: u32) => newest,
        }
        /// The precision of the times in the profile.
        precision: Precision {
            key: "precision",
            variable: "TINYPROF_PRECISION",
            values: "exact|8bit",
            expected: "exact or 8bit",
            meaning: "precision of the times in the profile: as measured, or rounded to 8 bits, \
                      off by at most 0.4 %, in half the bytes; counts stay exact",
            default: "`exact`",
            read: |value| word(value, |word| match word {
                "exact" => Some(Precision::Exact),
                "8bit" => Some(Precision::EightBit),
                _ => None,
            }),
            /// Sets the precision of the times in the profile. `TINYPROF_PRECISION` wins. It should
            /// be equal on all ranks: if one is to keep its times exact, all do, and rank 0 warns.
            precision(precision: ::tinyprof_settings::__types::Precision) => precision,
        }
        /// The access to the profiles.
        permissions: Permissions {
            key: "permissions",
            variable: Permissions::VARIABLE,
            values: "private|umask",
            expected: Permissions::EXPECTED,
            meaning: "access to profiles: the user alone (directory 0700, files 0600), or as the \
                      umask allows",
            default: "`private`",
            read: |value| text(value, Permissions::parse),
        }
        /// The signal that prints the on-demand report.
        report_on_signal: ReportSignal {
            key: "signal",
            variable: "TINYPROF_SIGNAL",
            values: "usr1|usr2",
            expected: "usr1, usr2 or off",
            meaning: "signal that prints the on-demand report to standard error; a program that \
                      handles the signal itself keeps its handler; MPICH uses `SIGUSR1` itself",
            default: "off: the signal keeps its effect",
            read: |value| word(value, |word| match word {
                "usr1" | "sigusr1" => Some(ReportSignal::Usr1),
                "usr2" | "sigusr2" => Some(ReportSignal::Usr2),
                "off" => Some(ReportSignal::Off),
                _ => None,
            }),
            /// Makes this process print the on-demand report to standard error whenever it gets
            /// `SIGUSR1`, and continue. `TINYPROF_SIGNAL` wins, which may also name `SIGUSR2`:
            /// MPICH reserves the first for itself.
            ///
            /// A new thread sleeps until the signal comes; all signals are blocked in it. The
            /// report covers this process: under MPI, its rank. If the process already handles or
            /// ignores the signal, that stays in effect, and a line on standard error says so. A
            /// handler that it installs later replaces ours. System calls that the signal
            /// interrupts are resumed, except those that never are, such as `nanosleep`: they
            /// return early, as with any handler.
            ///
            /// # Cost
            /// Nothing until the signal comes; then a snapshot.
            report_on_signal(on: bool) => if on {
                ::tinyprof_settings::ReportSignal::Usr1
            } else {
                ::tinyprof_settings::ReportSignal::Off
            },
        }
        /// The longest time that the program may be held up while the profiler waits for a disk,
        /// another rank, or a reader of standard error.
        deadline: Duration {
            key: "deadline",
            variable: "TINYPROF_DEADLINE",
            values: "5s",
            expected: "a time from 1ms to 24h with its unit, as in 5s, 500ms or 2m",
            meaning: "longest time that a step at the end waits for files, or for other ranks \
                      (`ms`, `s`, `m`, `h`)",
            default: "`30s`",
            read: |value| text(value, |text| duration_up_to(text, 24)),
            /// Sets the longest time that the program is held up while the profiler waits for files
            /// or for standard error. `TINYPROF_DEADLINE` wins; the default is 30 seconds.
            ///
            /// Under MPI it is also the longest time that a rank waits for the others in each step
            /// of a flush, before it gives up and writes its own data as a separate profile. A rank
            /// that comes later than this is not in the profile of the others, so the deadline
            /// should be longer than the ranks are apart at the flush.
            deadline(deadline: ::tinyprof_settings::__types::Duration) => deadline,
        }
        /// The clock for visits.
        clock: ClockChoice {
            key: "clock",
            variable: "TINYPROF_CLOCK",
            values: "auto|monotonic|fenced",
            expected: "auto, monotonic or fenced",
            meaning: "clock for visits: `fenced` for regions under 100 ns, at 1.9 times the cost; \
                      `monotonic` for `clock_gettime`",
            default: "`auto`: the processor's counter where it is steady",
            read: |value| word(value, |word| match word {
                "auto" => Some(ClockChoice::Auto),
                "monotonic" => Some(ClockChoice::Monotonic),
                "fenced" => Some(ClockChoice::Fenced),
                _ => None,
            }),
        }
        /// The directory of the files in which threads record.
        segment_directory: PathBuf {
            key: "segment-dir",
            variable: DIRECTORY_VARIABLE,
            values: PATH,
            expected: "a path",
            meaning: "directory in which threads keep what they record, so that it survives \
                      `kill -9`",
            default: "`/dev/shm/tinyprof-UID`",
            read: path,
        }
    }
    mpi {
        /// The number of ranks that write parts of the profile.
        aggregators: Aggregators {
            key: "aggregators",
            variable: "TINYPROF_AGGREGATORS",
            values: "auto|N|node",
            expected: "auto, node or a number from 1 to 1000000",
            meaning: "number of ranks that write; `node`: one on each node",
            default: "`auto`: one to every 16, more for long lists",
            read: |value| text(value, |text| match text {
                "auto" => Some(Aggregators::Auto),
                "node" => Some(Aggregators::PerNode),
                number => count(number).map(Aggregators::Count),
            }),
            /// Sets the number of ranks that write parts of the profile. `TINYPROF_AGGREGATORS`
            /// wins.
            aggregators(aggregators: ::tinyprof_settings::Aggregators) => aggregators,
        }
        /// The way in which series are gathered, for measurements.
        series: SeriesGather {
            key: "series",
            variable: "TINYPROF_SERIES",
            values: "auto|padded|counts",
            expected: "auto, padded or counts",
            meaning: "for measurements: series padded to the longest and sent with the summaries, \
                      or sent separately, unpadded",
            default: "`auto`: padded if that adds at most a quarter",
            read: |value| text(value, |text| match text {
                "auto" => Some(SeriesGather::Auto),
                "padded" => Some(SeriesGather::Padded),
                "counts" => Some(SeriesGather::Counts),
                _ => None,
            }),
        }
        /// The ranks of the job that run this profiler, if the user knows them.
        world: World {
            key: "world",
            variable: "TINYPROF_WORLD",
            values: "auto|all",
            expected: "auto or all",
            meaning: "with `all`, all ranks of the job are assumed to run this profiler; on one \
                      host their marks decide",
            default: "`auto`: known at the start on one host, asked at the end across hosts",
            read: |value| word(value, |word| match word {
                "auto" => Some(World::Auto),
                "all" => Some(World::All),
                _ => None,
            }),
        }
        /// The data about MPI calls.
        mpi: MpiLevel {
            key: "mpi",
            variable: "TINYPROF_MPI",
            values: "off|calls|messages",
            expected: "off, calls or messages",
            meaning: "what is recorded of MPI: nothing, every call, or also who waits for whom",
            default: "`calls`",
            read: |value| word(value, |word| match word {
                "off" => Some(MpiLevel::Off),
                "calls" => Some(MpiLevel::Calls),
                "messages" => Some(MpiLevel::Messages),
                _ => None,
            }),
            /// Sets which data about the program's MPI calls is recorded. `TINYPROF_MPI` wins. To
            /// be set before MPI is initialised, alike on all ranks.
            mpi(level: ::tinyprof_settings::MpiLevel) => level,
        }
        /// Functions through which the program calls MPI.
        wrappers: String {
            key: "wrappers",
            variable: "TINYPROF_WRAPPERS",
            values: "mp_*,Halo::push",
            expected: "names of functions, or patterns, with a comma between them, as in mp_*",
            meaning: "functions that do no more than call MPI: calls are shown where these are \
                      called; beside those that are known by their names, such as `my_mpi_send`",
            default: "none",
            read: |value| text(value, |text| {
                (!text.trim().is_empty()).then(|| text.to_owned())
            }),
        }
        /// The functions around a call of MPI that become callpaths.
        callers: u32 {
            key: "callers",
            variable: "TINYPROF_CALLERS",
            values: "2",
            expected: "a number of functions from 1 to 8, or off",
            meaning: "calls of MPI of a program that is not rebuilt below the functions that led \
                      to them: how many of those",
            default: "no callers",
            read: |value| word(value, |word| match word {
                "off" => Some(0),
                number => count(number).filter(|&number| number <= 8),
            }),
        }
        /// What is done about the order of messages.
        order: MessageOrder {
            key: "order",
            variable: "TINYPROF_ORDER",
            values: "observe|enforce",
            expected: "observe or enforce",
            meaning: "at level `messages`: count the messages that measuring has put into another \
                      order, or, as an experiment, keep the order",
            default: "`observe`",
            read: |value| word(value, |word| match word {
                "observe" => Some(MessageOrder::Observe),
                "enforce" => Some(MessageOrder::Enforce),
                _ => None,
            }),
        }
    }
}

impl Setting {
    /// Returns the setting with this key.
    #[must_use]
    pub fn of_key(key: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.key == key)
    }
}

impl Settings {
    /// Returns true if regions are to be recorded.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.recording.unwrap_or(true)
    }

    /// Returns the longest time that the program may be held up.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        self.deadline.unwrap_or(DEADLINE_DEFAULT)
    }
}

/// Returns the value of one setting, if it is set and accepted.
fn read_one<T>(
    lookup: impl Fn(&str) -> Option<OsString>,
    variable: &str,
    read: impl FnOnce(&OsStr) -> Option<T>,
    refused: &mut impl FnMut(&Setting, &OsStr),
) -> Option<T> {
    let text = lookup(variable)?;
    let value = read(&text);
    let setting = SETTINGS.iter().find(|setting| setting.variable == variable)?;
    if value.is_none() && !(text.is_empty() && setting.values == PATH) {
        refused(setting, &text);
    }
    value
}

#[cfg(test)]
mod tests;
