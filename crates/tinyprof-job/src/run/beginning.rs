//! The decisions that all ranks make together when MPI has begun.
//!
//! A decision on which a collective operation depends is made from words that all ranks share, and
//! never from a rank's own settings, in which ranks may differ.

use std::fmt;
use std::sync::Mutex;

use tinyprof::__mpi::{self as recorder, config};
use tinyprof::collect::{self, Ending};
use tinyprof_pmpi::{Agreed, Wish};
use tinyprof_settings::{MessageOrder, MpiLevel};

use super::{ATTENDANCE, at_exit, is_on};
use crate::attendance::{Attendance, Line, SignedIn, Voice};
use crate::interim_profile;
use crate::settings::Settings;
use crate::sys::{self, PrivateCommunicator, ProgramCommunicator};

/// The mark of this rank, from before `MPI_Init` until MPI has begun.
static SIGNED_IN: Mutex<Option<SignedIn>> = Mutex::new(None);

/// Tells the other ranks of the job, before MPI begins, that this one has a profiler. A second call
/// has no effect: an attempt to begin MPI may fail.
pub(crate) fn sign_in() {
    collect::take_over(at_exit);
    if let Ok(mut place) = SIGNED_IN.lock() {
        place.get_or_insert_with(SignedIn::new);
    }
}

/// Takes back the mark of this rank, if MPI has not begun.
fn sign_out() -> Option<SignedIn> {
    SIGNED_IN.lock().ok()?.take()
}

/// Handles the end of a process in which MPI has not begun: the call has failed, or the process has
/// ended in it. Without regions of the program there is nothing to write.
pub(super) fn end_unbegun() -> Ending {
    drop(sign_out());
    if recorder::has_regions() {
        recorder::write_alone(&recorder::profile_name())
    } else {
        Ending::default()
    }
}

/// Begins the recording when MPI has begun, so that the profile is written when MPI ends.
/// Collective over the world only if all of its ranks are known to take part.
///
/// No rank is known to if this library's hooks have not been called, and a profiler of the program
/// begins.
pub(crate) fn begin() {
    if !is_on() || !sys::is_usable() {
        return;
    }
    let world = ProgramCommunicator::world();
    let (rank, size) = (world.rank(), world.size());
    let mut is_new = false;
    let (attendance, voice) = ATTENDANCE.get_or_init(|| {
        is_new = true;
        sign_out().map_or((Attendance::Incomplete, Voice::default()), |rank_here| {
            rank_here.attendance(rank, size)
        })
    });
    if !is_new {
        return;
    }
    super::WORLD_RANK.get_or_init(|| rank);
    // `tinyprof recover` needs this if the job is killed before it can write its profile.
    recorder::set_rank(rank, size);
    collect::take_over(at_exit);
    if *attendance == Attendance::Complete {
        if size > 1 && !voice.is_of_all() {
            super::WORLD.get_or_init(PrivateCommunicator::of_world);
        }
        // One line at most, however many settings have no effect.
        if let Some(line) = agree(world).filter(|_| rank == 0) {
            recorder::warn(line);
        }
    } else if *attendance == Attendance::Open
        && let Some(what) = in_vain()
        && voice.speaks(Line::NoEffect)
    {
        recorder::warn(format_args!(
            "{what}: whether all ranks of a job on several hosts run TinyProf is known at its end \
             alone; start the launcher by tinyprof run, or set TINYPROF_WORLD=all for all ranks if \
             all of them do",
        ));
    }
}

/// A line on a setting that has no effect, and the reason.
struct NoEffect {
    what: &'static str,
    why: &'static str,
}

impl fmt::Display for NoEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

/// The beginning of a line where messages cannot be observed.
const NO_MESSAGES: &str = "TINYPROF_MPI=messages has no effect, calls are recorded";
/// The beginning of a line where their order cannot be kept.
const NO_ORDER: &str = "TINYPROF_ORDER=enforce has no effect";
const NEEDED_FOR_ORDER: &str =
    "it needs ranks on one host that share memory, without MPI_THREAD_MULTIPLE";
/// The beginning of a line where no interim profiles are written at intervals.
const NO_INTERVAL: &str = "TINYPROF_INTERVAL has no effect";
const NOT_ALL: &str = "not all ranks ask for it; set it alike on all ranks";

/// The same, where it is not yet known whether the program has a profiler of its own.
const NO_INTERVAL_YET: &str =
    "no profiles are written at intervals, unless the program starts a Profiler";
const NEITHER: &str = "TINYPROF_MPI=messages has no effect, calls are recorded, and no profiles are \
                       written at intervals, unless the program starts a Profiler";

/// Returns what this rank is asked for and needs all ranks of the job, if anything.
pub(super) fn in_vain() -> Option<&'static str> {
    let has_interval = Settings::default().interim_interval_ns() > 0;
    match (config().mpi == Some(MpiLevel::Messages), has_interval) {
        (true, false) => Some(NO_MESSAGES),
        (false, true) => Some(NO_INTERVAL_YET),
        (true, true) => Some(NEITHER),
        (false, false) => None,
    }
}

/// Agrees with all ranks on what is recorded. Returns what is to be said of it. Collective over the
/// world.
fn agree(world: ProgramCommunicator) -> Option<NoEffect> {
    let level = config().mpi.unwrap_or_default();
    let order = config().order == Some(MessageOrder::Enforce);
    let settings = Settings::default();
    let [of_rank_0, of_any] = interim_profile::proposal(world.rank(), &settings);
    // The complement's maximum is the minimum's complement.
    let [wants, level_word] = [u64::from(order), number(level)];
    let own =
        [level_word, !level_word, wants, !wants, of_rank_0, of_any, interim_profile::obstacle()];
    let [most, least, order_most, order_least, interval_ns, any_interval_ns, obstacle] =
        tinyprof_pmpi::maxima_of_world(&own)?;
    let (least, all_want_order) = (!least, !order_least != 0);
    let messages = number(MpiLevel::Messages);
    let mut said = None;
    if least == messages {
        let wish = Wish { messages: true, order: all_want_order };
        said = match tinyprof_pmpi::agree_on_messages(wish) {
            Agreed::Messages { is_without_order: true } => Some((NO_ORDER, NEEDED_FOR_ORDER)),
            Agreed::Messages { .. } if order_most != 0 && !all_want_order => {
                Some((NO_ORDER, NOT_ALL))
            }
            Agreed::Messages { .. } => None,
            _ => Some((NO_MESSAGES, "MPI has returned an error")),
        };
    } else if most == messages {
        said = Some((NO_MESSAGES, NOT_ALL));
    } else if most != least {
        said = Some((
            "TINYPROF_MPI=off has an effect on some ranks alone",
            "calls are recorded on the others; set it alike on all ranks",
        ));
    } else if order_most != 0 {
        said = Some((NO_ORDER, "it needs TINYPROF_MPI=messages"));
    }
    let has_calls = least > number(MpiLevel::Off);
    let interim = if interval_ns > 0 {
        let refused = interim_profile::begin(world, &settings, (interval_ns, obstacle), has_calls);
        refused.map(|why| ("no interim profiles are written", why))
    } else {
        (any_interval_ns > 0)
            .then_some((NO_INTERVAL, "the setting of rank 0 applies, and it has none"))
    };
    said.or(interim).map(|(what, why)| NoEffect { what, why })
}

fn number(level: MpiLevel) -> u64 {
    match level {
        MpiLevel::Off => 0,
        MpiLevel::Messages => 2,
        _ => 1,
    }
}
