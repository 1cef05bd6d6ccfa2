//! Work on a thread of its own, whose failures do not affect the program.
//!
//! A failed allocation aborts a Rust program, a write to a hanging file system stops it, and a
//! caller with a stack of 16 KiB has no room for either. Work that runs here has its own stack. If
//! it aborts or faults, its thread is parked for ever. If it takes too long, nothing waits for it
//! any more. The caller continues in all three cases.
//!
//! Nothing here uses the heap, which may be exhausted.

mod containment;
mod here;
mod mapping;

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::mem::{MaybeUninit, size_of};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::time::Duration;

use tinyprof_segment::clock::monotonic_ns;

use super::loader;
use super::sandbox;
use super::signals::with_all_signals_blocked;
use super::undisturbed::{calculate_as_usual, undisturbed};
use containment::Containment;
use here::here;
use mapping::Mapping;

/// Sizes of a worker's stack, in bytes. The stack also holds the thread-local variables of the
/// whole program.
const STACK_BYTES: [usize; 3] = [4 << 20, 64 << 20, 1 << 20];
/// The interval at which the caller checks its patience. Time in which the whole process was
/// stopped does not count.
const SLICE: Duration = Duration::from_millis(100);
/// The time that a thread may take to end after its work is done.
const END_PATIENCE_S: libc::time_t = 2;

const RUNNING: u32 = 0;
const DONE: u32 = 1;
const PANICKED: u32 = 2;
const DIED: u32 = 3;
/// The state after the caller has left.
const ABANDONED: u32 = 4;

/// The reason why isolated work has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotDone {
    /// The system gave no thread, or no memory for its stack.
    NoThread,
    /// The work was aborted or faulted. Its thread is parked for ever.
    Died,
    /// The work has panicked.
    Panicked,
    /// The work takes longer than the caller's patience. It continues; its result will be lost.
    Late,
    /// The program has entered a seccomp sandbox, in which system calls of ours may end it.
    Sandboxed,
}

impl std::fmt::Display for NotDone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.reason())
    }
}

impl NotDone {
    /// Returns the reason as a fragment of a sentence.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NoThread => "the system gave no memory or no thread for it",
            Self::Died => "it was aborted, most likely because memory ran out",
            Self::Panicked => "an internal error, please report it",
            Self::Late => "it took longer than TINYPROF_DEADLINE allows",
            Self::Sandboxed => {
                "the program has entered a seccomp sandbox, in which system calls may end it"
            }
        }
    }
}

/// The data that the two threads share.
struct Task<F, T> {
    state: AtomicU32,
    work: UnsafeCell<MaybeUninit<F>>,
    result: UnsafeCell<MaybeUninit<T>>,
}

thread_local! {
    /// The state of the task that this thread works on, if it is a worker.
    static TASK: Cell<*const AtomicU32> = const { Cell::new(ptr::null()) };
}

/// Runs `work` on a thread of its own and returns its result, waiting for at most `patience`.
///
/// All signals but those of faults are blocked in the worker. Any thread may call this, even while
/// the process ends. In a constructor or destructor of a library, the work runs on the caller's
/// thread, and is not contained.
///
/// # Errors
/// If there is no result; the work may then be partly done, or still running.
///
/// # Cost
/// About 50 us for the thread.
pub(crate) fn isolated<F, T>(patience: Duration, work: F) -> Result<T, NotDone>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    if cfg!(miri) {
        return catch_unwind(AssertUnwindSafe(work)).map_err(|_| NotDone::Panicked);
    }
    if sandbox::is_entered() {
        return Err(NotDone::Sandboxed);
    }
    if loader::has_called() {
        return here(work);
    }
    let _containment = Containment::begin();
    let mut work = Some(work);
    undisturbed(|| {
        STACK_BYTES
            .into_iter()
            .find_map(|bytes| attempt(bytes, patience, &mut work))
            .unwrap_or(Err(NotDone::NoThread))
    })
}

/// Tries with a stack of this size. Returns `None` if no thread could be made.
fn attempt<F, T>(
    stack_bytes: usize,
    patience: Duration,
    work: &mut Option<F>,
) -> Option<Result<T, NotDone>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let mapping = Mapping::new(stack_bytes, size_of::<Task<F, T>>() + align_of::<Task<F, T>>())?;
    let task: *mut Task<F, T> = mapping.above_stack().cast();
    // SAFETY: the place is fresh, page-aligned, and large enough; the type asks for no more than a
    // page's alignment.
    unsafe {
        task.write(Task {
            state: AtomicU32::new(RUNNING),
            work: UnsafeCell::new(MaybeUninit::new(work.take()?)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        });
    }
    // SAFETY: the task was written above, and lives until the mapping is unmapped below.
    let shared = unsafe { &*task };
    let Some(thread) = mapping.start(run::<F, T>, task.cast()) else {
        // SAFETY: no thread was made, so that the work is still in its place, and nothing else will
        // take it.
        *work = Some(unsafe { shared.work.get().cast::<F>().read() });
        mapping.unmap();
        return None;
    };
    let state = wait(&shared.state, patience);
    if state == RUNNING
        && shared.state.compare_exchange(RUNNING, ABANDONED, AcqRel, Acquire).is_ok()
    {
        detach(thread);
        return Some(Err(NotDone::Late));
    }
    let state = shared.state.load(Acquire);
    // SAFETY: the worker has written the result before it said so, and does not touch it again.
    let result = (state == DONE).then(|| unsafe { shared.result.get().cast::<T>().read() });
    // A thread that dies in its last steps, the destructors of thread-local variables, never ends.
    if state != DIED && join(thread) {
        mapping.unmap();
    } else {
        detach(thread);
    }
    Some(match state {
        DONE => result.ok_or(NotDone::Died),
        PANICKED => Err(NotDone::Panicked),
        _ => Err(NotDone::Died),
    })
}

/// Runs the task on the worker.
extern "C" fn run<F: FnOnce() -> T, T>(task: *mut c_void) -> *mut c_void {
    // SAFETY: the caller of `start` gives a task of these types, which stays until this thread has
    // ended.
    let task = unsafe { &*task.cast::<Task<F, T>>() };
    TASK.set(&raw const task.state);
    containment::let_faults_through();
    calculate_as_usual();
    // SAFETY: written by the caller, and taken here alone.
    let work = unsafe { task.work.get().cast::<F>().read() };
    let state = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => {
            // SAFETY: the caller reads it after it has seen `DONE`.
            unsafe { task.result.get().cast::<T>().write(result) };
            DONE
        }
        Err(_) => PANICKED,
    };
    if task.state.compare_exchange(RUNNING, state, Release, Relaxed).is_ok() {
        wake(&task.state);
    }
    ptr::null_mut()
}

/// Returns whether this thread is a worker.
pub(super) fn is_worker() -> bool {
    !TASK.get().is_null()
}

/// Ends the work of this worker and parks its thread. Its frames are never left, so its work simply
/// stays unfinished. Called by a signal handler.
pub(super) fn die() -> ! {
    // SAFETY: the task of a thread that has not ended is mapped.
    let state = unsafe { &*TASK.get() };
    if state.compare_exchange(RUNNING, DIED, Release, Relaxed).is_ok() {
        wake(state);
    }
    with_all_signals_blocked(|| {
        loop {
            // SAFETY: waits for a signal; all of them are blocked.
            unsafe { libc::pause() };
        }
    })
}

/// Waits for at most `patience` until the state is no longer `RUNNING`, and returns the state.
fn wait(state: &AtomicU32, patience: Duration) -> u32 {
    let mut left = patience;
    loop {
        let now = state.load(Acquire);
        if now != RUNNING || left.is_zero() {
            return now;
        }
        let slice = left.min(SLICE);
        let begin_ns = monotonic_ns();
        futex_wait(state, slice);
        let waited = Duration::from_nanos(monotonic_ns().saturating_sub(begin_ns));
        left = left.saturating_sub(waited.min(2 * SLICE));
    }
}

fn futex_wait(state: &AtomicU32, at_most: Duration) {
    let timeout = libc::timespec {
        tv_sec: libc::time_t::try_from(at_most.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: at_most.subsec_nanos().into(),
    };
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: both places are valid for the call. However it ends, the caller checks the state
    // again.
    unsafe {
        libc::syscall(libc::SYS_futex, state.as_ptr(), operation, RUNNING, &raw const timeout)
    };
}

fn wake(state: &AtomicU32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the kernel only compares the address with those of waiting threads.
    unsafe { libc::syscall(libc::SYS_futex, state.as_ptr(), operation, 1) };
}

/// Waits for the end of a thread whose work is done. Returns false if it does not end.
fn join(thread: libc::pthread_t) -> bool {
    unsafe extern "C" {
        /// Joins a thread with a time limit. Provided by glibc and musl, but not by the crate
        /// `libc`.
        fn pthread_timedjoin_np(
            thread: libc::pthread_t,
            result: *mut *mut c_void,
            until: *const libc::timespec,
        ) -> libc::c_int;
    }
    let mut until = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is valid; the call cannot fail for this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut until) };
    until.tv_sec += END_PATIENCE_S;
    // SAFETY: the thread was made joinable, and is joined or detached once.
    unsafe { pthread_timedjoin_np(thread, ptr::null_mut(), &raw const until) == 0 }
}

fn detach(thread: libc::pthread_t) {
    // SAFETY: the thread was made joinable, and is joined or detached once.
    unsafe { libc::pthread_detach(thread) };
}

#[cfg(test)]
mod tests;
