//! The steps of the profiler around `MPI_Init`, `MPI_Finalize` and `MPI_Abort`, registered with the
//! wrappers of MPI's functions before the program begins.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tinyprof::__mpi as recorder;
use tinyprof_pmpi::{Session, register, set_callers, set_wrappers};

use crate::run;

/// Registers the profiler. Runs when the executable or library is loaded; may be called before, and
/// again.
pub extern "C" fn arrange() {
    recorder::end_with_process();
    register(Session { before_init, after_init, before_finalize, before_abort });
}

#[used]
#[unsafe(link_section = ".init_array")]
static ARRANGE: extern "C" fn() = arrange;

/// Runs one of our own steps within a C function, into which a panic must not cross.
fn quietly<T: Default>(step: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(|| recorder::undisturbed(step))).unwrap_or_else(|_| {
        recorder::warn("an internal error: the profile may be missing; please report it");
        T::default()
    })
}

/// Returns whether calls are to be recorded. If recording is off, there is nothing to do.
fn before_init() -> bool {
    if !run::is_on() {
        return false;
    }
    recorder::starting(|| {
        quietly(run::sign_in);
        set_wrappers(recorder::wrappers());
        set_callers(recorder::callers());
        recorder::read_causes_by(tinyprof_why::recorded_causes);
        run::records_calls()
    })
}

fn after_init() {
    if run::is_on() {
        recorder::starting(|| quietly(run::begin));
    }
}

fn before_finalize() {
    if run::is_on() {
        quietly(run::flush_at_finalize);
    }
}

fn before_abort() {
    if run::is_on() {
        quietly(run::at_abort);
    }
}
