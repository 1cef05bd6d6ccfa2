//! The functions of the C library that this library replaces: that by which a program enters a
//! sandbox, and that by which it makes threads.

mod stack;

use std::ffi::{c_int, c_long, c_ulong, c_void};
use std::ptr;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof::__mpi::{Start, announce_threads, end_after_all, new_worker, note_sandbox};
use tinyprof_job::arrange;

use stack::with_room;

/// The type of the system's `pthread_create`.
type MakeThread = unsafe extern "C" fn(
    *mut libc::pthread_t,
    *const libc::pthread_attr_t,
    Start,
    *mut c_void,
) -> c_int;

/// Does what must be done before the program begins.
#[used]
// The loader calls what is in this section with arguments that the function may ignore.
#[unsafe(link_section = ".init_array")]
static ANNOUNCE: extern "C" fn() = announce;

/// Says that threads are made by way of [`pthread_create`], before there can be any, and has the
/// profile be written at the very end.
extern "C" fn announce() {
    announce_threads();
    if let Some(end) = end_after_all() {
        // SAFETY: the handler stays, as `build.rs` has the linker mark this library as one that is
        // never unloaded. No library is named as its owner, with which the loader would end it.
        unsafe { __cxa_atexit(end, ptr::null_mut(), ptr::null_mut()) };
    }
}

unsafe extern "C" {
    /// Registers a handler with its argument, and the library at whose end it is called, if any.
    /// One that is registered before the program begins is called after all destructors.
    fn __cxa_atexit(
        handler: extern "C" fn(*mut c_void),
        argument: *mut c_void,
        library: *mut c_void,
    ) -> c_int;
}

/// Does what is done when this library is loaded. The wrapper of `MPI_Init` finds it by name, if a
/// constructor of another library calls that: the loader may call those constructors before ours.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn tinyprof_arrange() {
    announce();
    arrange();
}

/// Calls the system's `pthread_create`, with room for us on a small stack, and has the thread be
/// sampled, if the user wants samples.
///
/// # Safety
/// * As the system's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    let Some(make) = make_thread() else { return libc::EAGAIN };
    // SAFETY: the caller keeps the system's rules.
    let roomy = unsafe { with_room(attributes) };
    let make = |start: Start, argument| {
        // SAFETY: the caller keeps the rules of the system's function, which is this call.
        let make_with = |attributes| unsafe { make(thread, attributes, start, argument) };
        match roomy.as_ref().map(|roomy| make_with(ptr::from_ref(roomy))) {
            // There may be memory for what the program wants.
            None | Some(libc::EAGAIN) => make_with(attributes),
            Some(code) => code,
        }
    };
    let Some(worker) = new_worker(start, argument) else { return make(start, argument) };
    let (begin, of_worker) = worker.start();
    let code = make(begin, of_worker);
    if code != 0 {
        worker.forget();
    }
    code
}

/// Returns the `pthread_create` that comes after ours.
fn make_thread() -> Option<MakeThread> {
    static FOUND: AtomicUsize = AtomicUsize::new(0);
    let mut found = FOUND.load(Relaxed);
    if found == 0 {
        // SAFETY: the name ends with a zero.
        found = unsafe { libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr()) }.addr();
        FOUND.store(found, Relaxed);
    }
    // SAFETY: null, or the system's function of this type.
    unsafe { std::mem::transmute::<usize, Option<MakeThread>>(found) }
}

/// Calls the system's `prctl`, and notes that the program has entered a seccomp sandbox, in which
/// it may not even be asked.
///
/// # Safety
/// * As the system's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn prctl(
    option: c_int,
    second: c_ulong,
    third: c_ulong,
    fourth: c_ulong,
    fifth: c_ulong,
) -> c_int {
    let enters = option == libc::PR_SET_SECCOMP && is_first_thread();
    let number: c_long = libc::SYS_prctl;
    // SAFETY: the caller keeps the rules of the system's function, which is this call.
    let result = unsafe { libc::syscall(number, option, second, third, fourth, fifth) };
    if enters && result == 0 {
        note_sandbox();
    }
    // Its results are small, or -1.
    c_int::try_from(result).unwrap_or(-1)
}

/// Returns whether the calling thread is the one that ends the program. Others have sandboxes of
/// their own.
fn is_first_thread() -> bool {
    // SAFETY: takes nothing.
    let thread = unsafe { libc::gettid() };
    // SAFETY: takes nothing.
    thread == unsafe { libc::getpid() }
}
