//! The functions that begin, end, pause and resume the recording. Of these, only those that begin
//! MPI are calls that are recorded.

use std::ffi::c_int;

use tinyprof::__calls::Recorder;

use super::{inside, open};
use crate::arguments::Arguments;
use crate::companions;
use crate::function::{FUNCTIONS, Lifetime};
use crate::library::mpi;
use crate::session;
use crate::thread::{self, Thread};
use crate::weak;
use crate::words::Words;

/// Handles a call of the function at `index` that steers the recording, or while nothing is
/// recorded.
///
/// # Safety
/// `words` are those of a call of this function, which is under way.
#[cold]
pub(super) unsafe fn steer(
    index: usize,
    called: u32,
    words: Words,
    pass_on: impl Fn() -> c_int,
) -> c_int {
    // Fortran's function may call that of C.
    let is_outermost = !thread::current().is_steering.get();
    match FUNCTIONS[index].lifetime {
        Lifetime::Begins if is_outermost && !session::is_recording() => {
            weak::clear_missing();
            // SAFETY: as the caller says.
            unsafe { initialise(index, words, pass_on) }
        }
        // Regions may be recorded without calls, and recording may be paused.
        Lifetime::Ends if is_outermost => {
            // SAFETY: as the caller says.
            unsafe { finalize(index, words, pass_on) }
        }
        Lifetime::Aborts if is_outermost => {
            if let Some(session) = session::session() {
                (session.before_abort)();
            }
            pass_on()
        }
        Lifetime::Controls => {
            // SAFETY: as the caller says; `MPI_Pcontrol` has one argument, an `int`.
            let arguments = unsafe { Arguments::new(words, called, false, mpi()) };
            session::control(arguments.int(0));
            pass_on()
        }
        _ if session::is_paused() => {
            let function = &FUNCTIONS[index];
            // SAFETY: as the caller says.
            let arguments = unsafe { Arguments::new(words, called, function.is_large, mpi()) };
            arguments.pass_on_unrecorded(function, pass_on)
        }
        _ => pass_on(),
    }
}

/// Initialises MPI, with the profiler's steps before and after it.
///
/// # Safety
/// As for [`steer`].
unsafe fn initialise(index: usize, words: Words, pass_on: impl Fn() -> c_int) -> c_int {
    let Some(session) = session::session() else { return pass_on() };
    let steering = Steering::begin();
    let is_recorded = (session.before_init)();
    if is_recorded {
        session::begin();
    }
    let recorder = if is_recorded { Recorder::make() } else { None };
    let has_begun = || mpi().is_usable();
    let code = match recorder {
        Some(recorder) => {
            let inside = inside::enter(recorder);
            // SAFETY: as the caller says.
            let open = unsafe { open(recorder, index, words) };
            let code = pass_on();
            if has_begun() {
                companions::has_begun(recorder, open.visited());
            }
            drop(open);
            drop(inside);
            code
        }
        None => pass_on(),
    };
    if !has_begun() {
        // The program may try it again.
        session::end();
        drop(steering);
        return code;
    }
    match recorder {
        Some(recorder) => recorder.without_samples(session.after_init),
        None => (session.after_init)(),
    }
    if session::is_recording()
        && let Some(recorder) = recorder
    {
        session::has_begun();
        recorder.open_program();
    }
    drop(steering);
    code
}

/// Finalises MPI, after the profiler's last steps. In these ranks wait for each other, as MPI would
/// have them wait: so they are a part of the call.
///
/// # Safety
/// As for [`steer`].
unsafe fn finalize(index: usize, words: Words, pass_on: impl Fn() -> c_int) -> c_int {
    let steering = Steering::begin();
    let recorder = Recorder::current().filter(|_| session::is_recording());
    // SAFETY: as the caller says.
    let open = recorder.map(|recorder| unsafe { open(recorder, index, words) });
    if let (Some(recorder), Some(open)) = (recorder, &open) {
        companions::is_ending(mpi(), recorder, open.visited());
    }
    companions::store_facts();
    if let Some(session) = session::session() {
        (session.before_finalize)();
    }
    session::end();
    companions::end(mpi());
    let code = pass_on();
    drop(open);
    drop(steering);
    code
}

/// The time that a thread initialises or finalises MPI. Dropping it ends that.
struct Steering(&'static Thread);

impl Steering {
    fn begin() -> Self {
        let thread = thread::current();
        thread.is_steering.set(true);
        Self(thread)
    }
}

impl Drop for Steering {
    fn drop(&mut self) {
        self.0.is_steering.set(false);
    }
}
