//! Waiting of the calls of a thread, and its causes.

use tinyprof::__calls::{CallpathId, EdgeKey, Recorder, Visited};
use tinyprof_messages::delay::{Block, Instance, Ledger, Sizes};
use tinyprof_messages::meeting::Meeting;

use super::blocked::{Come, begun_ns};
use super::causes::{Causes, Told, Waited, Words, not_explained};
use super::common_clock::{Span, now_ns};
use super::group::rank_and_size;
use super::processor::Processor;
use super::state::State;
use crate::library::Mpi;

/// A shorter wait is never looked at, in ns.
const SEEN_NS_MIN: u64 = Ledger::SHORT_NS;

impl State {
    /// Begins to look for causes, where ranks share memory.
    pub(super) fn begin_causes(&mut self, mpi: &Mpi, recorder: Recorder) {
        let (rank, _) = rank_and_size(mpi, mpi.abi.world);
        let (_, now_ns) = self.last_call();
        let carrier = &self.common().carrier;
        let (words, origin_ns) = (carrier.block(0), carrier.origin_ns(now_ns));
        let rank = rank.unsigned_abs();
        let causes = words.map(|words| Causes::new(words, rank, origin_ns, recorder));
        self.causes = causes.map(Box::new);
    }

    /// Adds what the thread did up to the call to `to`, which begins now.
    #[inline]
    pub(super) fn add_activities(&mut self, to: CallpathId, entered_ns: u64) {
        let (from, left_ns) = self.last_call();
        let Some(causes) = &mut self.causes else { return };
        let is_long = Processor::is_long(entered_ns.saturating_sub(left_ns));
        let in_gap_ns = if is_long { self.processor.after(left_ns, entered_ns) } else { 0 };
        let lost_ns = [std::mem::take(&mut self.lost_in_call_ns), in_gap_ns];
        causes.enter([from, to], left_ns, entered_ns, lost_ns);
        if is_long {
            self.cost(Processor::ASK_NS);
        }
    }

    /// Adds what the thread did up to its end.
    pub(super) fn end_activities(&mut self, now_ns: u64) {
        self.add_activities(EdgeKey::UNKNOWN, now_ns);
        if let Some(causes) = &mut self.causes {
            causes.end();
        }
    }

    /// Finds out what has made a call wait.
    #[inline]
    pub(super) fn has_waited_for(&mut self, recorder: Recorder, waited: &Waited) {
        if waited.waiting_ns < SEEN_NS_MIN {
            return;
        }
        if self.causes.as_mut().is_none_or(|causes| causes.is_worth(waited)) {
            self.find_cause(recorder, waited);
        }
    }

    /// Finds out what has made a call wait for senders that may have waited for receivers as well:
    /// what it did after the senders had come may be that.
    #[inline]
    pub(super) fn has_waited_for_sender(&mut self, recorder: Recorder, waited: Waited) {
        let mut waited = waited;
        if self.blocked.has_asked()
            && let Some(come) = self.last_come(waited.span)
            && come.until_ns > waited.until_ns + Ledger::LONG_NS
        {
            waited.span.left_ns = waited.span.entered_ns + waited.until_ns;
        }
        self.has_waited_for(recorder, &waited);
    }

    /// Finds out what has made a call wait for receivers that it has sent to, after it had waited
    /// for these senders. Returns the waiting that this explains, in ns.
    pub(super) fn has_waited_for_receivers(
        &mut self,
        recorder: Recorder,
        visited: Visited,
        span: Span,
        senders: Option<Meeting>,
    ) -> u64 {
        let Some(Come { rank, until_ns }) = self.last_come(span) else { return 0 };
        let waiting_ns = until_ns.saturating_sub(begun_ns(span, senders));
        if waiting_ns < Ledger::LONG_NS {
            return 0;
        }
        let by = Waited::by(rank, visited.id(), span, waiting_ns);
        self.has_waited_for(recorder, &Waited { until_ns, ..by });
        waiting_ns
    }

    /// Returns the receiver that came back to MPI last while the call under way may have waited for
    /// it. A call that has gone on for as long afterwards has done something else.
    fn last_come(&self, span: Span) -> Option<Come> {
        let long_ns = Ledger::LONG_NS;
        if span.duration_ns() < long_ns || self.causes.is_none() {
            return None;
        }
        let (blocked, carrier) = self.blocked_and_carrier();
        let come = blocked.last_come(span, |rank| {
            let page = Block::new(carrier.block(rank)?, Sizes::RECORDER).page();
            page.came_ns([span.entered_ns, span.left_ns], long_ns)
        })?;
        let after_ns = span.duration_ns().saturating_sub(come.until_ns);
        (after_ns <= (come.until_ns / 2).max(long_ns)).then_some(come)
    }

    #[cold]
    #[inline(never)]
    fn find_cause(&mut self, recorder: Recorder, waited: &Waited) {
        if self.causes.is_none() {
            return not_explained(waited.waiting_ns);
        }
        let begin_ns = now_ns(recorder);
        let lost_ns = self.lost_after(waited);
        let (Some(causes), common) = self.causes_and_common() else { return };
        let told = match common.carrier.block(waited.partner) {
            Some(words) => Some(Told::Page(Block::new(words, Sizes::RECORDER).page())),
            None if waited.words == Words::Heard => Some(Told::Heard),
            None if waited.words == Words::Later => return causes.defer(waited),
            None => {
                let came_ns = waited.span.entered_ns + waited.until_ns;
                common.carrier.told(waited.partner, came_ns).map(Told::Mail)
            }
        };
        causes.wait(waited, told.as_ref(), lost_ns);
        causes.spend(now_ns(recorder).saturating_sub(begin_ns));
    }

    /// Returns how long the thread had no processor in a call that ends, after those had come that
    /// it has waited for, at least, in ns: all that it has lost there, less that time.
    fn lost_after(&mut self, waited: &Waited) -> u64 {
        let Span { entered_ns, left_ns, .. } = waited.span;
        let after_ns = left_ns.saturating_sub(entered_ns).saturating_sub(waited.until_ns);
        if !Processor::is_long(after_ns) {
            return 0;
        }
        let (_, last_ns) = self.last_call();
        if last_ns > entered_ns {
            // Heard of after the end of the call.
            return self.lost_in_call_ns.saturating_sub(waited.until_ns);
        }
        self.cost(Processor::ASK_NS);
        self.processor.after(entered_ns, left_ns).saturating_sub(waited.until_ns)
    }

    /// Notes the end of an operation in which all ranks have waited for all.
    #[cold]
    #[inline(never)]
    pub(super) fn align(&mut self, instance: Instance, left_ns: u64) {
        if let Some(causes) = &mut self.causes {
            causes.align(instance, left_ns);
        }
    }
}
