//! The profiler whose program this is: the steps before and after MPI's own, and whether calls are
//! recorded now.

use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};

use tinyprof::__calls::set_aside_switched_off;

use crate::loaded::arrange_now;

/// The profiler's steps when MPI begins and ends. None of the functions may panic.
#[derive(Clone, Copy, Debug)]
pub struct Session {
    /// Called before `MPI_Init`; returns whether calls are to be recorded. Called for each attempt.
    pub before_init: fn() -> bool,
    /// Called after `MPI_Init`, unless that has failed.
    pub after_init: fn(),
    /// Called before `MPI_Finalize`, when MPI can still be used.
    pub before_finalize: fn(),
    /// Called before `MPI_Abort`, which does not return.
    pub before_abort: fn(),
}

static SESSION: OnceLock<Session> = OnceLock::new();
/// The function to be called before each blocking collective operation on the world.
static AT_COLLECTIVE: OnceLock<fn()> = OnceLock::new();

/// True if the program has made a key for attributes.
static HAS_ATTRIBUTES: AtomicBool = AtomicBool::new(false);

/// 0: calls are recorded, and nothing else. Otherwise the reasons why not.
static REASONS: AtomicU32 = AtomicU32::new(OUTSIDE);
/// MPI has not begun, or has ended, or recording is off.
const OUTSIDE: u32 = 1;
/// The program has called `MPI_Pcontrol(0)`.
const PAUSED: u32 = 2;
/// Calls are recorded, and messages observed: not in the shortest way.
const MESSAGES: u32 = 4;
/// Calls are recorded, and collective operations on the world are watched.
const COLLECTIVES: u32 = 8;

/// The bits that keep no call from being recorded.
const BESIDES: u32 = MESSAGES | COLLECTIVES;

/// Registers the profiler, before MPI begins. Further registrations have no effect.
pub fn register(session: Session) {
    // The first one stays: there is one profiler in a copy of this library.
    let _ = SESSION.set(session);
}

/// Returns whether calls are recorded now.
#[inline]
pub(crate) fn is_recording() -> bool {
    REASONS.load(Relaxed) & !BESIDES == 0
}

/// Returns whether calls are recorded now, and nothing else is observed.
#[inline]
pub(crate) fn records_calls_alone() -> bool {
    REASONS.load(Relaxed) == 0
}

/// Returns whether the program has paused the recording, and nothing else keeps calls from being
/// recorded.
pub(crate) fn is_paused() -> bool {
    REASONS.load(Relaxed) & !BESIDES == PAUSED
}

/// Begins to observe messages besides calls.
pub(crate) fn observe_messages() {
    REASONS.fetch_or(MESSAGES, Relaxed);
}

/// Calls `hook` before each blocking collective operation on the world, of the outermost call
/// alone. It must not unwind, and may call MPI. Further hooks have no effect.
///
/// All ranks come there in the same order (MPI 4.0, section 6.14), and each must be ready to wait
/// there for the others, as the operation may do so.
pub fn watch_collectives(hook: fn()) {
    let _ = AT_COLLECTIVE.set(hook);
    REASONS.fetch_or(COLLECTIVES, Relaxed);
}

/// Returns the function to be called before collective operations on the world, if they are
/// watched.
pub(crate) fn at_collective() -> Option<fn()> {
    if REASONS.load(Relaxed) & COLLECTIVES == 0 { None } else { AT_COLLECTIVE.get().copied() }
}

/// Returns the profiler, if there is one. A preloaded one that the loader has not come to yet
/// registers itself.
pub(crate) fn session() -> Option<&'static Session> {
    SESSION.get().or_else(|| {
        arrange_now();
        SESSION.get()
    })
}

/// Begins the recording.
pub(crate) fn begin() {
    REASONS.fetch_and(!OUTSIDE, Relaxed);
}

/// Has calls take a way of their own while measuring is switched off, unless messages are observed:
/// companions go on then. To be called before the program can make calls.
pub(crate) fn has_begun() {
    set_aside_switched_off(REASONS.load(Relaxed) & MESSAGES == 0);
}

/// Ends the recording: MPI has ended, or has not begun.
pub(crate) fn end() {
    REASONS.fetch_or(OUTSIDE, Relaxed);
    REASONS.fetch_and(!COLLECTIVES, Relaxed);
}

/// Expects that the program's communicators may have attributes, from now on.
pub(crate) fn expect_attributes() {
    HAS_ATTRIBUTES.store(true, Relaxed);
}

/// Returns whether the program's communicators may have attributes, with functions of the program
/// that are called when they are duplicated (MPI 4.0, section 7.7).
#[must_use]
pub fn may_have_attributes() -> bool {
    HAS_ATTRIBUTES.load(Relaxed)
}

/// Handles `MPI_Pcontrol`: 0 pauses the recording of calls, any other level resumes it. Where
/// messages are observed, it has no effect: a rank that sends no companions would be waited for.
pub(crate) fn control(level: i32) {
    if REASONS.load(Relaxed) & MESSAGES != 0 {
        return;
    }
    if level == 0 {
        REASONS.fetch_or(PAUSED, Relaxed);
    } else {
        REASONS.fetch_and(!PAUSED, Relaxed);
    }
}
