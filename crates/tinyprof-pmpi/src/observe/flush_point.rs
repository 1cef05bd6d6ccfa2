//! Flush points of programs that mark none: the moments before blocking collective operations on
//! the world, which all ranks reach in the same order.

use tinyprof::__calls::Recorder;

use super::{calls_c, inside};
use crate::arguments::Arguments;
use crate::companions;
use crate::function::{Function, Looks};
use crate::library::mpi;
use crate::session;
use crate::words::Words;

impl Arguments {
    /// Passes a flush point, if the call is such an operation and they are watched.
    #[inline]
    pub(super) fn pass_flush_point(&self, function: &Function) {
        if let Some(hook) = session::at_collective()
            && self.is_on_world(function)
        {
            if let Some(recorder) = Recorder::current() {
                companions::conclude_before(recorder);
            }
            hook();
        }
    }
}

/// Passes a flush point of a call that is not recorded: all ranks count the same ones, whichever of
/// them have paused the recording. Until the result is dropped, calls that MPI makes of its own
/// functions are none.
///
/// # Safety
/// As for [`call`](super::call).
pub(super) unsafe fn pass_unrecorded(
    function: &Function,
    called: u32,
    words: Words,
) -> Option<inside::Inside> {
    session::at_collective().filter(|_| function.looks != Looks::Steers)?;
    let recorder = Recorder::current().filter(|_| !calls_c(called))?;
    if inside::is_inside(recorder) {
        return None;
    }
    // SAFETY: as the caller says.
    let arguments = unsafe { Arguments::new(words, called, function.is_large, mpi()) };
    arguments.pass_flush_point(function);
    Some(inside::enter(recorder))
}
