//! Windows and files that ranks have made together, and accesses to windows that both sides take
//! part in.

use tinyprof::__calls::Visited;

use super::Call;
use crate::abi::Handle;
use crate::arguments::{Arguments, Kind};
use crate::communicators::{self, Communicator};
use crate::companions::{self, Access, Joint, Lock, Object, Removed, Span, objects};
use crate::function::{Epoch, Frees, Function, Positions};

impl Arguments {
    /// Notes the window or file that all ranks of a communicator have made by the call. One
    /// that has failed is counted, as it may not have failed on all ranks.
    pub(super) fn make_object(&self, object: Object, function: &Function, new: Option<Handle>) {
        let parent = self.handle(function.at.comm, Kind::Communicator);
        if let Some(parent) = communicators::find(parent) {
            objects::make(self.mpi, parent, object, new);
        }
    }

    /// Takes the window or file that the call frees out of the table.
    #[inline(never)]
    pub(super) fn remove_object(&self, function: &Function) -> Option<Removed> {
        let at = &function.at;
        let handle = match function.frees {
            Frees::Window => self.handle_at(at.win, 0, Kind::Window),
            Frees::File => self.handle_at(at.fh, 0, Kind::File),
            Frees::Nothing | Frees::Request | Frees::Communicator | Frees::Datatype => return None,
        };
        objects::remove(self.mpi, handle)
    }

    /// Returns the window or the file of the call, if it is followed.
    pub(super) fn object(&self, function: &Function) -> Option<&'static Joint> {
        let at = &function.at;
        objects::find(match function.frees {
            Frees::Window => self.handle_at(at.win, 0, Kind::Window),
            Frees::File => self.handle_at(at.fh, 0, Kind::File),
            Frees::Nothing | Frees::Request | Frees::Communicator | Frees::Datatype => {
                if at.win == Positions::NO {
                    self.handle(at.fh, Kind::File)
                } else {
                    self.handle(at.win, Kind::Window)
                }
            }
        })
    }
}

impl Call {
    /// Notes posts, the ends of accesses, and locks to be released, before the call.
    #[inline(never)]
    pub(super) fn begin_access(&self, visited: Visited, entered_ns: u64) {
        let epoch = self.function.epoch;
        if !matches!(epoch, Epoch::Post | Epoch::Complete | Epoch::Unlock) {
            return;
        }
        let Some(access) = self.access(visited) else { return };
        // Those who wait for the post may go on before it returns here.
        let partners = if epoch == Epoch::Post { self.partners() } else { None };
        companions::with(self.recorder, |state| match epoch {
            Epoch::Post => {
                if let Some(to) = partners {
                    state.post_memory(access, entered_ns, to);
                }
            }
            Epoch::Complete => state.end_access(access, entered_ns),
            Epoch::Unlock => state.release_lock(access, entered_ns, self.locked_rank()),
            Epoch::None | Epoch::Start | Epoch::Wait | Epoch::Lock | Epoch::Access => {}
        });
    }

    /// Finds out whether the call has waited for posts, for the ends of accesses, or for a lock.
    #[inline(never)]
    pub(super) fn conclude_access(&self, visited: Visited, span: Span) {
        let Some(access) = self.access(visited) else { return };
        companions::with(self.recorder, |state| match self.function.epoch {
            Epoch::Lock => state.wait_for_lock(access, span, self.lock()),
            Epoch::Wait => match self.function.at.flag {
                Positions::NO => state.wait_for_ends(access, Some(span)),
                flag if self.arguments.output(flag) != 0 => state.wait_for_ends(access, None),
                _ => {}
            },
            Epoch::Start => {
                if let Some(of) = self.partners() {
                    state.begin_access(access, of);
                    state.wait_for_posts(access, span, false);
                }
            }
            Epoch::Complete => state.wait_for_posts(access, span, true),
            Epoch::Post | Epoch::Access => state.wait_for_posts(access, span, false),
            Epoch::None | Epoch::Unlock => {}
        });
    }

    /// Returns the lock that the call takes.
    fn lock(&self) -> Lock {
        let lock_type = self.function.at.lock_type;
        let is_exclusive = lock_type != Positions::NO
            && self.arguments.int(lock_type) == self.mpi().abi.lock_exclusive;
        Lock { of: self.locked_rank(), is_exclusive }
    }

    /// Returns the ranks of the group that the call has, relative to this one in the world.
    fn partners(&self) -> Option<Vec<i32>> {
        let group = self.arguments.handle(self.function.at.group, Kind::Group);
        Communicator::relative_in_group(self.mpi(), group)
    }

    /// Returns the rank whose memory the call locks or unlocks; `None` for all.
    fn locked_rank(&self) -> Option<u32> {
        match self.function.at.rank {
            Positions::NO => None,
            rank => u32::try_from(self.arguments.int(rank)).ok(),
        }
    }

    fn access(&self, visited: Visited) -> Option<Access<'static>> {
        let (mpi, recorder) = (self.mpi(), self.recorder);
        let window = self.arguments.object(self.function)?;
        Some(Access { mpi, recorder, visited, window })
    }
}
