//! Collective operations: who came last.
//!
//! Where ranks share memory, each writes on a board when it enters, and looks at it when it has
//! left. Elsewhere the ranks combine when they entered after the operation, by an operation of the
//! same shape on the twin: from the root where it sends, to the root where it receives. Either way
//! no rank waits for one that the program's own operation would not have made it wait for.

use std::ptr;

use tinyprof::__calls::{CallpathId, EdgeKey, Recorder, Visited};
use tinyprof_messages::clock::{Member, Unclear, Wait};
use tinyprof_messages::companion::Companion;
use tinyprof_messages::delay::Instance;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::{Offset, Post};
use tinyprof_messages::waiting::Collective;
use tinyprof_messages::ways::{Hints, Near, Place};

use super::causes::{Waited, Words};
use super::common_clock::{Span, now_ns};
use super::distance;
use super::exchange::{Exchanged, exchange, nothing, words, words_of_root};
use super::operation::{Meet, Met};
use super::receive::waited;
use super::shared::{self, Part, Read};
use super::state::{self, State};
use super::telling;
use crate::communicators;
use crate::function::Shape;
use crate::library::Mpi;

impl Meet {
    /// Begins an operation, which the program enters at `entered_ns`. `None` if there is nobody to
    /// wait for, or not all run the profiler.
    ///
    /// A thread that the state does not belong to has no clock, and one without a recorder has no
    /// time either: nobody waits for it, as far as the others can know.
    pub(crate) fn begin(met: Met, at: Option<(Recorder, u64)>) -> Option<Self> {
        let Met { group, shape, root, bytes, needs_board } = met;
        let twin = group.twin().filter(|_| group.has_others())?;
        let operation = shared::begin_operation(&twin);
        if operation.is_none() {
            let needs_board = needs_board || !matches!(shape, Shape::Of(_));
            if shared::is_on() {
                // There are more communicators than boards.
                at.map(|(recorder, _)| {
                    state::with(recorder, |state| state.facts.companions_missing += 1)
                });
                return None;
            }
            if needs_board || group.remote_size.is_some() {
                return None;
            }
        }
        let this = Self { shape, root, bytes, group, twin, operation };
        // One that another call completes needs what the rank itself has written.
        if needs_board || this.is_waited_for() {
            this.enter(at);
        }
        Some(this)
    }

    /// Begins a persistent operation again.
    pub(crate) fn begin_again(self, at: Option<(Recorder, u64)>) -> Option<Self> {
        let operation = Some(shared::begin_operation(&self.twin)?);
        let this = Self { operation, ..self };
        this.enter(at);
        Some(this)
    }

    #[inline]
    fn enter(&self, at: Option<(Recorder, u64)>) {
        if let (Some(operation), Some((recorder, entered_ns))) = (self.operation, at) {
            let hints = |state: &mut State| {
                self.place().map_or_else(Hints::default, |place| state.ways.hints(place))
            };
            let told = state::with(recorder, |state| (state.clock, hints(state)));
            let (clock, hints) = told.unwrap_or_default();
            let place = self.group.place();
            operation.enter(&clock.meeting(entered_ns, Offset::default(), place), hints);
        }
    }

    /// Takes back that an operation has begun: MPI has refused the call, which the program may make
    /// again.
    pub(crate) fn withdraw(&self) {
        if self.operation.is_some() {
            shared::end_of_no_operation(&self.twin);
        }
    }

    /// Finds out who came last, when the operation has ended, and counts the waiting. Returns since
    /// when the rest of our work is to be measured; `None` if since the end of the operation.
    pub(crate) fn end(
        &self,
        mpi: &Mpi,
        recorder: Recorder,
        visited: Visited,
        span: Span,
    ) -> Option<u64> {
        if self.operation.is_none() {
            return self.end_by_exchange(mpi, recorder, visited, span);
        }
        self.wait(recorder, visited, span, visited.id());
        if let Some(instance) = self.instance() {
            state::with(recorder, |state| state.align(instance, span.left_ns));
        }
        None
    }

    /// Counts the waiting of a call that has completed the operation, which `from` has started.
    /// Returns it in ns.
    pub(crate) fn wait(
        &self,
        recorder: Recorder,
        visited: Visited,
        span: Span,
        from: CallpathId,
    ) -> u64 {
        if let Some(place) = self.place() {
            return self.wait_along(place, recorder, visited, span, from);
        }
        match self.others() {
            Some(Read::Meeting(meeting)) => {
                self.count((recorder, Words::Asked), visited, span, &meeting, from)
            }
            Some(Read::Lost) => {
                state::with(recorder, |state| {
                    state.facts.companions_missing += 1;
                    state.is_unknown = true;
                });
                0
            }
            Some(Read::Nobody) | None => {
                // Others may, and maybe this rank for them.
                state::with(recorder, |state| state.clock.doubt(span.duration_ns()));
                0
            }
        }
    }

    /// As [`wait`](Self::wait), where data may be passed on along any of the ranks.
    fn wait_along(
        &self,
        place: Place,
        recorder: Recorder,
        visited: Visited,
        span: Span,
        from: CallpathId,
    ) -> u64 {
        let is_started = from != visited.id();
        let waited = state::with(recorder, |state| {
            let near = state.ways.near(place);
            // Rarely more is needed than was thought.
            self.join(state, place, near, span, is_started)
                .or_else(|Unclear| self.join(state, place, Near::all(place), span, is_started))
        });
        let Some(Ok(Some((wait, last)))) = waited else { return 0 };
        self.add_edge((recorder, span, Words::Asked), visited, last, from, &wait);
        wait.waiting_ns
    }

    /// Hears the members, as far as these ways need them, and goes on along the likeliest.
    #[inline]
    fn join(
        &self,
        state: &mut State,
        place: Place,
        near: Near,
        span: Span,
        is_started: bool,
    ) -> Result<Option<(Wait, u32)>, Unclear> {
        let heard = self.hear(place, near, &mut state.members);
        if heard.is_lost {
            state.facts.companions_missing += 1;
            state.is_unknown = true;
            return Ok(None);
        }
        let own = if is_started { self.begun() } else { None };
        let (posted_ns, intrusion_ns) =
            own.unwrap_or((span.entered_ns, state.clock.intrusion_ns()));
        let post = Post { posted_ns, intrusion_ns };
        let members = state.members.iter().copied();
        let ways = &mut state.ways;
        let waited = state.clock.meet_along(span, post, place, near, members, ways)?;
        if heard.is_incomplete || is_started && own.is_none() {
            state.clock.doubt(span.duration_ns());
        }
        state.facts.companions += u64::from(waited.is_some());
        Ok(waited)
    }

    /// Collects what the other members have told, of those that these ways need.
    #[inline]
    fn hear(&self, place: Place, near: Near, members: &mut Vec<Member>) -> Heard {
        let mut heard = Heard::default();
        members.clear();
        let Some(operation) = self.operation else { return heard };
        let others = (0..place.ranks).filter(|rank| *rank != place.rank);
        for rank in others.filter(|rank| near.needs(place, *rank)) {
            match operation.part(rank) {
                Part::Of(one, hints) => members.push((rank, Some((one, hints)))),
                Part::Nobody => members.push((rank, None)),
                Part::Lost => {
                    heard.is_incomplete = true;
                    heard.is_lost |= place.kind.waits_for(place.rank, rank, place.root);
                }
            }
        }
        heard
    }

    /// Returns when the rank itself has begun the operation, and its intrusion at that moment, in
    /// ns.
    fn begun(&self) -> Option<(u64, u64)> {
        let Part::Of(own, _) = self.operation?.part(self.rank()) else { return None };
        let unsigned = |ns| u64::try_from(ns).unwrap_or(0);
        Some((unsigned(own.last_ns), unsigned(own.last_ns.saturating_sub(own.virtual_ns))))
    }

    /// Notes that the operation was found complete: nobody has waited.
    pub(crate) fn find(&self, recorder: Recorder) {
        if let Some(Read::Meeting(meeting)) = self.others() {
            state::with(recorder, |state| {
                state.facts.companions += 1;
                let ideal_ns = u64::try_from(meeting.ideal_ns).unwrap_or(0);
                state.clock.find(&Companion { ideal_ns, ..Companion::default() });
            });
        }
    }

    /// As [`end`](Self::end), where the ranks combine their times by MPI. Collective over the twin.
    ///
    /// A rank that has left the operation may wait in the exchange for one that has not: that is
    /// part of the operation, and our cost is no more than that of the shortest exchange.
    fn end_by_exchange(
        &self,
        mpi: &Mpi,
        recorder: Recorder,
        visited: Visited,
        span: Span,
    ) -> Option<u64> {
        let clock = state::with(recorder, |state| state.clock).unwrap_or_default();
        let Shape::Of(kind) = self.shape else { return None };
        let own = words(&clock, span, self.rank(), self.size());
        let own = if kind == Collective::FromRoot {
            let is_root = self.rank() == self.root();
            words_of_root(own, is_root && telling::is_due(&self.twin, span.entered_ns))
        } else {
            own
        };
        let all = exchange(mpi, self.twin.handle, kind, self.root, own, self.size())?;
        let ended_ns = now_ns(recorder);
        state::with(recorder, |state| {
            state.exchange_ns = state.exchange_ns.min(ended_ns.saturating_sub(span.left_ns));
            state.cost(state.exchange_ns);
        });
        let (_, begun_ns) = recorder.moment();
        let (words, aligned) = self.tell(mpi, Some(recorder), kind, &all);
        if words == Words::Heard {
            let taken_ns = recorder.moment().1.saturating_sub(begun_ns);
            state::with(recorder, |state| state.cost(taken_ns));
        }
        if kind.waits(self.rank(), self.root()) {
            self.count((recorder, words), visited, span, &all.meeting(), visited.id());
        }
        if let Some(instance) = aligned {
            state::with(recorder, |state| state.align(instance, span.left_ns));
        }
        if matches!(kind, Collective::FromRoot | Collective::ToRoot) && self.rank() != self.root() {
            // Only the root is known, and the data may have come from others, or through this rank.
            state::with(recorder, |state| state.clock.doubt(span.duration_ns()));
        }
        let (_, begun_ns) = recorder.moment();
        if !self.compare_clocks(mpi, kind, &all) {
            return Some(ended_ns);
        }
        let taken_ns = recorder.moment().1.saturating_sub(begun_ns);
        state::with(recorder, |state| state.delay(taken_ns));
        Some(now_ns(recorder))
    }

    /// Compares the clocks of hosts after an exchange with this result, if that is due. All ranks
    /// that take part in the exchange do so, or none. Returns whether they did.
    fn compare_clocks(&self, mpi: &Mpi, kind: Collective, all: &Exchanged) -> bool {
        let is_of_world =
            || communicators::get(mpi, mpi.abi.world).is_some_and(|of| ptr::eq(of, self.group));
        all_wait(kind) && is_of_world() && distance::compare_if_due(mpi, all.last_ns())
    }

    /// Takes part in the exchange after an operation, on a thread without a recorder, or where it
    /// has failed on this rank alone.
    pub(crate) fn take_part(&self, mpi: &Mpi) {
        if let (None, Shape::Of(kind)) = (self.operation, self.shape) {
            let (twin, size) = (self.twin.handle, self.size());
            let all = exchange(mpi, twin, kind, self.root, nothing(), size);
            if let Some(all) = all {
                self.tell(mpi, None, kind, &all);
                self.compare_clocks(mpi, kind, &all);
            }
        }
    }

    /// Lets the last rank tell the others what it did, if all wait for all and that is due, or the
    /// root, if it has said that it will. Collective over the twin. Returns how the others know
    /// then, and the operation behind which all are compared, if there is one.
    fn tell(
        &self,
        mpi: &Mpi,
        recorder: Option<Recorder>,
        kind: Collective,
        all: &Exchanged,
    ) -> (Words, Option<Instance>) {
        let own = |words: &mut [u64]| {
            let common = telling::names(mpi, &self.twin);
            let tell =
                |state: &mut State| state.causes.as_mut()?.tell_all(common, all.last_ns(), words);
            recorder.and_then(|recorder| state::with(recorder, tell)).flatten().unwrap_or(0)
        };
        let hear = |words: &[u64]| {
            let hear = |state: &mut State| state.causes.as_mut().map(|of| of.hear(words));
            recorder.and_then(|recorder| state::with(recorder, hear));
        };
        match kind {
            Collective::FromRoot if all.has_told() => {
                telling::hand_out(mpi, &self.twin, (self.rank(), self.root()), own, hear);
                (Words::Heard, None)
            }
            Collective::FromRoot => (Words::Later, None),
            _ if all_wait(kind) => {
                let instance = telling::tell(mpi, &self.twin, self.rank(), all, own, hear);
                (if instance.is_some() { Words::Heard } else { Words::Later }, instance)
            }
            _ => (Words::Asked, None),
        }
    }

    fn count(
        &self,
        (recorder, words): (Recorder, Words),
        visited: Visited,
        span: Span,
        meeting: &Meeting,
        from: CallpathId,
    ) -> u64 {
        let last = match (self.shape, self.group.remote_size) {
            (Shape::Of(Collective::FromRoot), None) => self.root(),
            _ => meeting.last_rank,
        };
        let wait = state::with(recorder, |state| {
            state.facts.companions += 1;
            if from == visited.id() {
                state.clock.meet_at(span, meeting, Offset::default())
            } else {
                // Started by another call: its way may have begun before this one.
                state.clock.meet(span, meeting)
            }
        });
        let wait = wait.unwrap_or_default();
        self.add_edge((recorder, span, words), visited, last, from, &wait);
        wait.waiting_ns
    }

    /// Counts the waiting for the last rank.
    fn add_edge(
        &self,
        (recorder, span, words): (Recorder, Span, Words),
        visited: Visited,
        last: u32,
        from: CallpathId,
        wait: &Wait,
    ) {
        let partner = self.group.relative_at(last);
        let key = EdgeKey { kind: self.shape.edge(), partner, from };
        visited.add_edge(&key, &waited(wait));
        if wait.waiting_ns > 0 {
            let is_heard = words == Words::Heard && self.shape != Shape::Of(Collective::FromRoot);
            let is_aligned = self.instance().is_some() || is_heard;
            let is_mutual = from == visited.id() && is_aligned;
            let by = Waited::by(partner, visited.id(), span, wait.waiting_ns);
            let waited = Waited { is_mutual, words, ..by };
            state::with(recorder, |state| state.has_waited_for(recorder, &waited));
        }
    }

    /// Returns the operation by a name that its ranks agree on, if all of them wait for all.
    fn instance(&self) -> Option<Instance> {
        let is_mutual = matches!(
            self.shape,
            Shape::Of(Collective::Barrier | Collective::AllToAll) | Shape::Fence
        );
        let operation = self.operation.filter(|_| is_mutual && self.group.remote_size.is_none())?;
        Some(Instance {
            communicator: telling::name(&self.twin),
            number: operation.number().into(),
        })
    }
}

/// Returns whether all ranks wait for all in an operation.
const fn all_wait(kind: Collective) -> bool {
    matches!(kind, Collective::Barrier | Collective::AllToAll)
}

/// What a rank has heard of the members of an operation.
#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    /// The record is gone of a member that the rank waits for by definition.
    is_lost: bool,
    /// That of some member is gone.
    is_incomplete: bool,
}
