//! Windows and files that ranks have made together, and accesses to windows that both sides take
//! part in.

use tinyprof::__calls::Visited;

use super::Call;
use crate::arguments::{Arguments, Kind};
use crate::communicators::{self, Communicator};
use crate::companions::{self, Access, Joint, Object, Removed, Span, objects};
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
    /// Takes note of posts, and of the begin and end of accesses, before the call.
    pub(super) fn begin_access(&self, visited: Visited, entered_ns: u64) {
        let role = self.function.role;
        if !matches!(role, Role::Post | Role::StartAccess | Role::CompleteAccess) {
            return;
        }
        let Some(access) = self.access(visited) else { return };
        companions::with_messages(self.recorder, |state| {
            if role == Role::CompleteAccess {
                return state.end_access(access, entered_ns);
            }
            let group = self.arguments.handle(self.function.at.group, Kind::Group);
            let Some(ranks) = Communicator::relative_in_group(self.mpi(), group) else { return };
            if role == Role::Post {
                state.post_memory(access, entered_ns, ranks);
            } else {
                state.begin_access(access, ranks);
            }
        });
    }

    /// Finds out whether the call has waited for posts, or for the ends of accesses.
    pub(super) fn conclude_access(&self, visited: Visited, span: Span) {
        let Some(access) = self.access(visited) else { return };
        let flag = self.function.at.flag;
        companions::with_messages(self.recorder, |state| match self.function.role {
            Role::WaitExposure if flag == Positions::NO => state.wait_for_ends(access, Some(span)),
            Role::WaitExposure if self.arguments.output(flag) != 0 => {
                state.wait_for_ends(access, None);
            }
            Role::WaitExposure => {}
            role => state.wait_for_posts(access, span, role == Role::CompleteAccess),
        });
    }

    fn access(&self, visited: Visited) -> Option<Access<'static>> {
        let (mpi, recorder) = (self.mpi(), self.recorder);
        let window = self.arguments.object(self.function)?;
        Some(Access { mpi, recorder, visited, window })
    }
}
