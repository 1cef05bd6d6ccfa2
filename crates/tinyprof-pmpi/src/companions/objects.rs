//! The program's windows and files, where ranks share memory: what all ranks of a communicator have
//! made together, and meet at.
//!
//! Each has a place of its own in shared memory, as it may outlive its communicator. It is found by
//! its handle in a table without locks, as communicators are.

use std::sync::{Mutex, PoisonError};

use super::naming::Object;
use super::{shared, state, twin};
use crate::abi::Handle;
use crate::communicators::{Communicator, Twin};
use crate::library::Mpi;
use crate::table::Table;

/// Slots in the table.
const SLOTS: usize = 4096;

static KNOWN: Table<Joint, SLOTS> = Table::new();

/// A window or a file.
#[derive(Debug)]
pub(crate) struct Joint {
    /// Its ranks, with their place in shared memory as twin.
    pub(crate) group: Communicator,
    /// The place of a window's locks in shared memory.
    pub(super) locks: Option<Twin>,
    /// The accesses of a window that are under way.
    epochs: Mutex<Epochs>,
}

/// The accesses under way. Partners are ranks of the world, relative to the caller.
#[derive(Debug, Default)]
pub(super) struct Epochs {
    /// Those that may access the caller's memory.
    pub(super) exposed: Vec<i32>,
    /// Those whose memory the caller may access.
    pub(super) accessed: Vec<i32>,
    /// Of them those that have not been seen to post it, with the numbers of their posts.
    pub(super) awaited: Vec<(i32, u64)>,
    /// The locks that the caller has.
    pub(super) locks: Vec<Lock>,
}

impl Joint {
    /// Calls `work` with the accesses under way, of which a program has one of a kind at a time.
    pub(super) fn with_epochs<T>(&self, work: impl FnOnce(&mut Epochs) -> T) -> T {
        work(&mut self.epochs.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A lock of the memory of one rank of a window, or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lock {
    /// The rank in the window.
    pub(crate) of: Option<u32>,
    pub(crate) is_exclusive: bool,
}

/// One that the program frees. Dropping it gives its place back, when the call has ended.
pub(crate) struct Removed {
    joint: *mut Joint,
    mpi: &'static Mpi,
}

/// Notes a window or a file that all ranks of `parent` have made. All of them have to count
/// it, also if it has failed, without a handle.
pub(crate) fn make(mpi: &Mpi, parent: &Communicator, object: Object, handle: Option<Handle>) {
    let Some(twin) = twin::join_object(mpi, parent, object) else { return };
    let locks = if object == Object::Window { twin::join_locks(mpi, &twin) } else { None };
    let leave_both = || leave(parent, [Some(twin), locks]);
    let Some(handle) = handle else { return leave_both() };
    let Some(group) = parent.for_object() else { return leave_both() };
    group.set_twin(twin);
    if KNOWN.insert(handle, Joint { group, locks, epochs: Mutex::default() }).is_none() {
        leave_both();
    }
}

/// Returns what is known of a window or a file that the program passes to MPI in a call under way.
#[inline]
pub(crate) fn find(handle: Handle) -> Option<&'static Joint> {
    // SAFETY: under this key there is a pointer from `make`, valid until the program frees the
    // object, which it must not do while it is used in a call.
    unsafe { KNOWN.find(handle).as_ref() }
}

/// Takes an object out of the table, before the program frees it: another thread may get the same
/// handle as soon as MPI has freed it.
pub(crate) fn remove(mpi: &'static Mpi, handle: Handle) -> Option<Removed> {
    KNOWN.take(handle).map(|joint| Removed { joint, mpi })
}

fn leave(group: &Communicator, twins: [Option<Twin>; 2]) {
    twins.iter().flatten().for_each(|twin| shared::leave(twin, group.places().end));
}

impl Drop for Removed {
    fn drop(&mut self) {
        // SAFETY: it comes from `Box::into_raw`, has left the table, and is dropped once. The call
        // that has freed the object has ended.
        let joint = unsafe { Box::from_raw(self.joint) };
        if let Some(twin) = joint.group.twin()
            && state::forget_communicator(self.mpi, &twin)
        {
            leave(&joint.group, [Some(twin), joint.locks]);
        }
    }
}
