//! Windows and files that ranks have made together, and accesses to windows that both sides take
//! part in.

use tinyprof::__calls::Visited;

use super::Call;
use crate::arguments::{Arguments, Kind};
use crate::communicators::{self, Communicator};
use crate::companions::{self, Access, Joint, Lock, Object, Removed, Span, objects};
use crate::function::{Function, Positions, Role};

impl Arguments {
    /// Takes note of the window or file that all ranks of a communicator have made by the call. One
    /// that has failed is counted, as it may not have failed on all ranks.
    pub(super) fn make_object(&self, function: &Function, is_successful: bool) {
        let at = &function.at;
        let (object, kind, position) = match function.role {
            Role::MakeWindow => (Object::Window, Kind::Window, at.win),
            Role::OpenFile => (Object::File, Kind::File, at.fh),
            _ => return,
        };
        let parent = self.handle(at.comm, Kind::Communicator);
        if let Some(parent) = communicators::find(parent) {
            let handle = is_successful.then(|| self.handle_at(position, 0, kind));
            objects::make(self.mpi, parent, object, handle);
        }
    }

    /// Takes the window or file that the call frees out of the table.
    #[inline(never)]
    pub(super) fn remove_object(&self, function: &Function) -> Option<Removed> {
        let at = &function.at;
        match function.role {
            Role::FreeWindow => objects::remove(self.mpi, self.handle_at(at.win, 0, Kind::Window)),
            Role::CloseFile => objects::remove(self.mpi, self.handle_at(at.fh, 0, Kind::File)),
            _ => None,
        }
    }

    /// Returns the window or the file of the call, if it is followed.
    pub(super) fn object(&self, function: &Function) -> Option<&'static Joint> {
        let at = &function.at;
        objects::find(match function.role {
            Role::FreeWindow => self.handle_at(at.win, 0, Kind::Window),
            Role::CloseFile => self.handle_at(at.fh, 0, Kind::File),
            _ if at.win != Positions::NO => self.handle(at.win, Kind::Window),
            _ => self.handle(at.fh, Kind::File),
        })
    }
}

impl Call {
    /// Takes note before the call of posts, of the ends of accesses, and of locks to be released.
    #[inline(never)]
    pub(super) fn begin_access(&self, visited: Visited, entered_ns: u64) {
        let role = self.function.role;
        if !matches!(role, Role::Post | Role::CompleteAccess | Role::Unlock | Role::UnlockAll) {
            return;
        }
        let Some(access) = self.access(visited) else { return };
        // Those who wait for the post may go on before it returns here.
        let partners = if role == Role::Post { self.partners() } else { None };
        companions::with(self.recorder, |state| match (role, partners) {
            (Role::Post, Some(to)) => state.post_memory(access, entered_ns, to),
            (Role::CompleteAccess, _) => state.end_access(access, entered_ns),
            (Role::Unlock | Role::UnlockAll, _) => {
                state.release_lock(access, entered_ns, self.locked_rank());
            }
            _ => {}
        });
    }

    /// Finds out whether the call has waited for posts, for the ends of accesses, or for a lock.
    #[inline(never)]
    pub(super) fn conclude_access(&self, visited: Visited, span: Span) {
        let Some(access) = self.access(visited) else { return };
        let at = &self.function.at;
        if matches!(self.function.role, Role::Lock | Role::LockAll) {
            let is_exclusive = at.lock_type != Positions::NO
                && self.arguments.int(at.lock_type) == self.mpi().abi.lock_exclusive;
            let lock = Lock { of: self.locked_rank(), is_exclusive };
            companions::with(self.recorder, |state| state.wait_for_lock(access, span, lock));
            return;
        }
        companions::with(self.recorder, |state| match self.function.role {
            Role::WaitExposure if at.flag == Positions::NO => {
                state.wait_for_ends(access, Some(span));
            }
            Role::WaitExposure if self.arguments.output(at.flag) != 0 => {
                state.wait_for_ends(access, None);
            }
            Role::WaitExposure => {}
            Role::StartAccess => {
                if let Some(of) = self.partners() {
                    state.begin_access(access, of);
                    state.wait_for_posts(access, span, false);
                }
            }
            role => state.wait_for_posts(access, span, role == Role::CompleteAccess),
        });
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
