//! The files in which the threads of this process record, which survive it if it is killed.

use std::env;
use std::ffi::CString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

use tinyprof_format::model::ProfileId;
use tinyprof_format::segment::{
    DIRECTORY_VARIABLE, ProcessDescription, create_directory, default_directory, usable_directory,
};
use tinyprof_segment::clock::Moment;
use tinyprof_segment::layout::{VERSION, clock, header};

use super::launcher;
use super::message::warn;
use super::metadata::metadata;
use super::name::profile_name;
use super::session::{Session, session};
use super::snapshot::monotonic_ns;
use crate::record::clock::Clock;
use crate::record::segments::{self, Segments};
use crate::record::thread::{arenas, current};
use crate::sys::{
    boot_id, cpus, effective_user_id, host_name, in_forked_child, pid_namespace, refuse_segment,
    share_room_among, start_time,
};

/// The number of bytes of the command line that are kept in case the process is killed.
const COMMAND_BYTES_MAX: usize = 16 << 10;

/// Set if the segments are in the directory that `tinyprof recover` searches by default.
static IS_DEFAULT: AtomicBool = AtomicBool::new(false);

/// Set in a child made by `fork`.
static IS_FORKED_CHILD: AtomicBool = AtomicBool::new(false);

/// The rank, with the number of ranks in the high half; 0 if they were not set.
static RANK: AtomicU64 = AtomicU64::new(0);

/// Makes the threads of this process record into files from now on. There are none without `/proc`,
/// because their owner could not be determined later.
pub(super) fn prepare() {
    if let Some(segments) = segments_of(session()) {
        in_forked_child(part_from_files);
        share_room_among(launcher::processes_here(cpus()));
        segments::install(segments);
        if let Some(place) = launcher::place() {
            set_rank(place.rank, place.size);
        }
    }
}

/// Sets the rank of this process and the number of ranks.
///
/// They are for the profile that `tinyprof recover` makes if the process is killed, and for the
///          head
/// of an on-demand report. Any thread; the last call counts.
pub fn set_rank(rank: u32, size: u32) {
    RANK.store(u64::from(size) << 32 | u64::from(rank), Relaxed);
    segments::set_rank(rank, size, arenas());
}

/// Returns the rank of this process and the number of ranks, if they were set.
pub(super) fn rank() -> Option<(u32, u32)> {
    let half = |word: u64| u32::try_from(word & u64::from(u32::MAX)).unwrap_or_default();
    let word = RANK.load(Relaxed);
    (word >> 32 > 0).then(|| (half(word), half(word >> 32)))
}

/// Begins a profile of everything that this process has recorded, and returns its number.
///
/// The number is then in the segments of all threads: see [`set_profile_id`].
#[must_use]
pub fn new_profile_id(name: &Path) -> ProfileId {
    let id = fresh_profile_id();
    set_profile_id(id, name);
    id
}

/// Returns a number that no other profile has.
#[must_use]
pub fn fresh_profile_id() -> ProfileId {
    let boot_id = boot_id().unwrap_or_default();
    let process_id = u64::from(std::process::id());
    ProfileId::of(&[
        low_half(boot_id),
        low_half(boot_id >> 64),
        pid_namespace().unwrap_or_default(),
        process_id,
        monotonic_ns(),
    ])
}

/// Sets the number of the profile that is about to be written of everything that this process has
/// recorded.
///
/// If that profile is complete, `tinyprof recover` does not make a second one from the segments; it
/// looks for the profile at `name`. The last call counts. Any thread, before the manifest is
/// written.
pub fn set_profile_id(id: ProfileId, name: &Path) {
    if session().process_id == std::process::id() {
        let expected = profile_name();
        if name.parent() != expected.parent()
            && let Some(own) = current().arena()
        {
            segments::describe_again(description(name).as_bytes(), own);
        }
        segments::set_profile_id(id, arenas());
    }
}

/// Removes the segments, from which a killed process would be recovered. Call it once the profile
/// is written. Any thread.
///
/// Recording continues in memory; measurements after this call do not survive the process.
pub fn discard_segments() {
    if session().process_id == std::process::id() {
        segments::remove_all(arenas());
    }
}

/// The place of measurements that would survive the process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surviving {
    directory: &'static Path,
    is_default: bool,
}

/// Says that they are safe, and how to make a profile of them. Allocates nothing.
impl fmt::Display for Surviving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what was recorded is safe: `tinyprof recover")?;
        if !self.is_default {
            write!(f, " {}", self.directory.display())?;
        }
        f.write_str("` makes a profile of it")
    }
}

/// Returns the place of this process's measurements, if they survive it. Allocates nothing.
pub(super) fn surviving() -> Option<Surviving> {
    let directory = segments::directory().filter(|_| arenas().any(|arena| arena.has_file()))?;
    Some(Surviving { directory, is_default: IS_DEFAULT.load(Relaxed) })
}

/// Returns whether this process is known to be a child that a recorded one has made by `fork`.
pub(super) fn is_forked_child() -> bool {
    IS_FORKED_CHILD.load(Relaxed)
}

/// Detaches a child made by `fork` from the mapped files of its parent, to which it must not write.
extern "C" fn part_from_files() {
    IS_FORKED_CHILD.store(true, Relaxed);
    arenas().for_each(crate::record::Arena::part_from_file);
}

fn segments_of(session: &Session) -> Option<Segments> {
    let start_time = start_time()?;
    let boot_id = boot_id()?;
    let user_id = effective_user_id();
    let mut words = [0; header::WORDS];
    let Moment { ticks: start_ticks, monotonic_ns: start_ns } = session.started;
    for (word, value) in [
        (header::VERSION, VERSION),
        (header::PROCESS, u64::from(user_id) << 32 | u64::from(session.process_id)),
        (header::START_TIME, start_time),
        (header::BOOT_ID, low_half(boot_id)),
        (header::BOOT_ID + 1, low_half(boot_id >> 64)),
        (header::NAMESPACE, pid_namespace()?),
        (header::THREAD, u64::from(clock_number(session.clock)) << 32),
        (header::START_TICKS, start_ticks),
        (header::START_NS, start_ns),
        (header::LAUNCH_DATE, session.launch_date_s),
    ] {
        words[word] = value;
    }
    Some(Segments {
        directory: CString::new(directory(user_id).into_os_string().into_vec()).ok()?,
        start_time,
        process_id: session.process_id,
        words,
        description: description(&profile_name()).into_bytes(),
    })
}

/// Returns the directory of the segments, which is created if it is missing. If there is none that
/// can be used, the one that should have been.
fn directory(user_id: u32) -> PathBuf {
    let named = env::var_os(DIRECTORY_VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
    IS_DEFAULT.store(named.is_none(), Relaxed);
    let Some(named) = named else {
        return usable_directory(user_id).unwrap_or_else(|refusal| {
            refuse_segment(refusal);
            default_directory(user_id)
        });
    };
    // A path that holds after the program has changed its working directory.
    let directory = std::path::absolute(&named).unwrap_or(named);
    if let Err(refusal) = create_directory(&directory, user_id) {
        refuse_segment(refusal);
        if launcher::speaks_for_all() {
            warn(format_args!(
                "{DIRECTORY_VARIABLE}={} is not used, so what is recorded would not survive a kill: {refusal}",
                directory.display()
            ));
        }
    }
    directory
}

fn low_half(wide: u128) -> u64 {
    u64::try_from(wide & u128::from(u64::MAX)).unwrap_or_default()
}

const fn clock_number(of: Clock) -> u32 {
    if of.is_counter() { clock::COUNTER } else { clock::MONOTONIC }
}

fn description(profile: &Path) -> String {
    let mut metadata = metadata();
    // The run is just beginning: it is not known yet what the filter will exclude.
    metadata.regions_filtered = None;
    let mut room = COMMAND_BYTES_MAX;
    metadata.cmdline.retain(|argument| {
        let fits = argument.len() < room;
        room -= if fits { argument.len() } else { room };
        fits
    });
    let job = format!("{} {}", metadata.executable, std::os::unix::process::parent_id());
    // `recover` looks for the profile there, wherever it is started.
    let profile = std::path::absolute(profile).unwrap_or_else(|_| profile.to_owned());
    let profile = profile.to_string_lossy().into_owned();
    ProcessDescription { profile, job, host: host_name(), metadata }.to_json()
}
