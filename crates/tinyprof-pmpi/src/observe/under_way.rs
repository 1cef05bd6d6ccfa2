//! Collective operations that one call starts and another completes: where ranks share memory, the
//! completing call has waited until the last rank had started the operation.

use tinyprof::__calls::{EdgeInstance, EdgeKey, EdgeKind, Visited};

use super::Call;
use crate::arguments::Kind;
use crate::communicators::Communicator;
use crate::companions::{self, Meet, Object, Span, started};
use crate::function::{Counts, Meets, Positions};
use crate::requests::{self, Pending, Request};

impl Call {
    /// Keeps the operation that the call has started, for the call that completes it. Returns false
    /// if the call has completed it itself.
    #[inline(never)]
    pub(super) fn keep_operation(&self, meet: &Meet, visited: Visited) -> bool {
        if self.function.at.request == Positions::NO {
            return false;
        }
        let (callpath, communicator) = (visited.callpath(), Some(meet.group()));
        let request = Request { callpath, communicator, pending: Pending::Started };
        if let Some(place) = self.remember(request) {
            started::keep(place, meet);
        }
        true
    }

    /// Gives a persistent operation its own place in shared memory: ranks may start several of a
    /// communicator in different orders.
    pub(super) fn prepare_operation(&self, group: &'static Communicator, place: Option<usize>) {
        let Meets::AtStart(shape) = self.function.meets else { return };
        if !companions::is_on() {
            return;
        }
        let at = &self.function.at;
        let root = if at.root == Positions::NO { 0 } else { self.arguments.int(at.root) };
        let meet = companions::join_object(self.mpi(), group, Object::Request)
            .map(|twin| Meet::prepare(group, shape, root, twin));
        match (place, meet) {
            (Some(place), Some(meet)) => started::keep(place, &meet),
            (Some(place), None) => started::keep_none(place),
            (None, Some(meet)) => meet.leave(),
            (None, None) => {}
        }
    }

    /// Notes that the call starts persistent operations.
    #[inline(never)]
    pub(super) fn restart_operations(&self, entered_ns: u64) {
        if self.function.counts != Counts::Started {
            return;
        }
        let (count, array) = self.requests_to_start();
        for index in 0..count {
            let handle = self.arguments.handle_at(array, index, Kind::Request);
            let Some((place, request)) = requests::find(handle) else { continue };
            if let (Pending::Collective { .. }, Some(group)) =
                (request.pending, request.communicator)
                && let Some(meet) = started::at(place, group)
                && let Some(meet) = meet.begin_again(Some((self.recorder, entered_ns)))
            {
                started::keep(place, &meet);
            }
        }
    }

    /// Notes an operation that has been completed, for the end of the call.
    pub(super) fn note_operation(&self, place: usize, request: &Request, visited: Visited) {
        if !companions::is_on() {
            return;
        }
        let Some(group) = request.communicator else { return };
        let Some(meet) = started::at(place, group).filter(Meet::is_under_way) else { return };
        started::complete(place);
        let from = visited.elsewhere(request.callpath).map_or(EdgeKey::UNKNOWN, Visited::id);
        companions::with(self.recorder, |state| {
            state.has_waited = true;
            state.operations.push((meet, from));
        });
    }

    /// Finds out for which operations the call has waited: as its requests have no order, for the
    /// one that began last of all. Returns the part of the call after that, in which it may have
    /// waited for messages.
    pub(super) fn conclude_operations(&self, visited: Visited, span: Span, waits: bool) -> Span {
        let take = |state: &mut companions::State| std::mem::take(&mut state.operations);
        let Some(mut operations) = companions::with(self.recorder, take) else { return span };
        if operations.is_empty() {
            return span;
        }
        operations.sort_by_key(|(meet, _)| meet.last_ns());
        let last = operations.len() - 1;
        let mut waited_ns = 0;
        for (number, &(ref meet, from)) in operations.iter().enumerate() {
            if waits && number == last {
                waited_ns = meet.wait(self.recorder, visited, span, from);
            } else {
                meet.find(self.recorder);
            }
            if from != EdgeKey::UNKNOWN {
                let key = EdgeKey { kind: EdgeKind::Completion, partner: 0, from };
                visited.add_edge(&key, &EdgeInstance::default());
            }
        }
        operations.clear();
        companions::with(self.recorder, |state| state.operations = operations);
        Span { entered_ns: (span.entered_ns + waited_ns).min(span.left_ns), ..span }
    }
}
