//! Edges between callpaths: one record for each kind, partner and origin, beside the records of
//! callpaths.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use tinyprof_format::model::{CallpathId, Edge, EdgeKey};
use tinyprof_format::segment::edge_of_record;
use tinyprof_segment::layout::{edge, header};
use tinyprof_segment::sequence::{begin_update, end_update, publish, retry, try_read};
use tinyprof_segment::words::{Line, high, low, pack};

use super::reading::Ids;
use super::{Arena, DEPTH_MAX};

/// The size of a record: two lines.
const CLASS: u32 = 1;

/// The most records of a thread. Edges of further ones go to a key that stands for all.
pub(super) const RECORDS_MAX: u32 = if cfg!(test) { 100 } else { 1 << 16 };

/// The numbers of one instance of an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeInstance {
    /// The bytes of the message.
    pub bytes: u64,
    /// The time: what it means depends on the kind, see [`Edge`].
    pub ns: u64,
    /// The waiting that there would have been without measurement.
    pub compensated_ns: u64,
    /// The time in the call after the partner had come.
    pub transfer_ns: u64,
    /// The time that the sender was blocked until the receive was posted.
    pub late_receiver_ns: u64,
}

impl Arena {
    /// Adds an instance of an edge to the callpath at `callpath`. Owner only.
    ///
    /// # Cost
    /// A look-up in a cache, and an update of a record.
    #[inline]
    pub(crate) fn add_edge(&self, callpath: Line, key: &EdgeKey, instance: &EdgeInstance) {
        let Some(record) = self.edge_record(callpath, key, true) else { return self.lose_edge() };
        if !begin_update(&record[edge::SEQUENCE]) {
            return self.lose_edge();
        }
        let change = |word: usize, changed: &dyn Fn(u64) -> u64| {
            record[word].store(changed(record[word].load(Relaxed)), Relaxed);
        };
        let add = |word: usize, value: u64| change(word, &|before| before.wrapping_add(value));
        add(edge::COUNT, 1);
        add(edge::SUM, instance.ns);
        change(edge::MIN, &|before| before.min(instance.ns));
        change(edge::MAX, &|before| before.max(instance.ns));
        change(edge::SQUARES, &|before| (f64::from_bits(before) + square(instance.ns)).to_bits());
        // Most edges are flow edges, which have none of these.
        if instance.bytes
            | instance.compensated_ns
            | instance.transfer_ns
            | instance.late_receiver_ns
            != 0
        {
            add(edge::BYTES, instance.bytes);
            add(edge::COMPENSATED, instance.compensated_ns);
            add(edge::TRANSFER, instance.transfer_ns);
            add(edge::LATE_RECEIVER, instance.late_receiver_ns);
        }
        end_update(&record[edge::SEQUENCE]);
    }

    /// Adds waiting due to the order of receives to an edge, without an instance. Owner only.
    pub(crate) fn add_wrong_order(&self, callpath: Line, key: &EdgeKey, ns: u64) {
        let Some(record) = self.edge_record(callpath, key, false) else { return };
        if !begin_update(&record[edge::SEQUENCE]) {
            return;
        }
        let word = &record[edge::WRONG_ORDER];
        word.store(word.load(Relaxed).wrapping_add(ns), Relaxed);
        end_update(&record[edge::SEQUENCE]);
    }

    /// Returns the record of an edge, or `None` if there is no memory for it. An instance that goes
    /// to the record for all others is counted.
    #[inline(always)]
    fn edge_record(
        &self,
        callpath: Line,
        key: &EdgeKey,
        is_instance: bool,
    ) -> Option<&[AtomicU64; edge::WORDS]> {
        let cache = self.hot.edge_cache();
        let place = mix(callpath, key) as usize % cache.len();
        // Two places for each hash: which edges of a program have the same one is chance, and what
        // a call costs is not to be.
        let (first, second) = (&cache[place], &cache[place ^ 1]);
        for cached in [first, second] {
            let known = Line::from_number(cached.load(Relaxed));
            if !known.is_none() && self.is_edge(known, callpath, key) {
                return Some(self.edge(known));
            }
        }
        let line = self.find_or_insert_edge(callpath, key, is_instance)?;
        second.store(first.load(Relaxed), Relaxed);
        first.store(line.number(), Relaxed);
        Some(self.edge(line))
    }

    /// Returns the record at `line`, which must be that of an edge: it comes from the cache, the
    /// look-up or the chain of all records.
    #[inline]
    fn edge(&self, line: Line) -> &[AtomicU64; edge::WORDS] {
        // SAFETY: the line is that of a block which `insert_edge` has allocated as a record, and
        // which is never released afterwards.
        unsafe { self.segment.record(line, 0) }
    }

    #[inline]
    fn is_edge(&self, line: Line, callpath: Line, key: &EdgeKey) -> bool {
        let record = self.edge(line);
        let differences = (record[edge::KEY].load(Relaxed) ^ key.to_bits())
            | (record[edge::FROM].load(Relaxed) ^ key.from.to_bits())
            | u64::from(low(record[edge::CALLPATH].load(Relaxed)) ^ callpath.number());
        differences == 0
    }

    #[cold]
    #[inline(never)]
    fn find_or_insert_edge(
        &self,
        callpath: Line,
        key: &EdgeKey,
        is_instance: bool,
    ) -> Option<Line> {
        self.check_process();
        self.reentrancy.change(|| {
            let find = |key: &EdgeKey| {
                let is = |line| self.is_edge(line, callpath, key);
                self.edge_lookup.find(&self.segment, mix(callpath, key), is)
            };
            let insert = |key: &EdgeKey| {
                let full = self.edges.load(Relaxed) >= RECORDS_MAX;
                if full { None } else { self.insert_edge(callpath, key) }
            };
            find(key).or_else(|| insert(key)).or_else(|| {
                let anyone = key.with_any_partner();
                let line = find(&anyone).or_else(|| self.insert_edge(callpath, &anyone))?;
                if is_instance {
                    self.lose_edge();
                }
                Some(line)
            })
        })?
    }

    fn insert_edge(&self, callpath: Line, key: &EdgeKey) -> Option<Line> {
        let (line, record) = self.segment.allocate_zeroed(CLASS)?;
        record[edge::KEY].store(key.to_bits(), Relaxed);
        record[edge::FROM].store(key.from.to_bits(), Relaxed);
        let chained = pack(callpath.number(), self.last_edge.load(Relaxed));
        record[edge::CALLPATH].store(chained, Relaxed);
        record[edge::MIN].store(u64::MAX, Relaxed);
        record[edge::ORDER].store(self.edges.load(Relaxed).into(), Relaxed);
        if !self.edge_lookup.insert(&self.segment, mix(callpath, key), line) {
            // SAFETY: the line is that of the new block, and nothing refers to it yet.
            unsafe { self.segment.release(line, CLASS) };
            return None;
        }
        self.edges.fetch_add(1, Relaxed);
        self.last_edge.store(line.number(), Release);
        if self.is_mapped() {
            publish(self.header(header::LAST_EDGE), line.number().into());
        }
        Some(line)
    }

    /// Counts an edge whose partner and origin, or which itself, is not recorded. Rare.
    #[cold]
    fn lose_edge(&self) {
        let lost = self.edges_lost.load(Relaxed) + 1;
        self.edges_lost.store(lost, Relaxed);
        self.header(header::EDGES_LOST).store(lost, Relaxed);
    }

    /// Forgets all edges, whose memory is gone.
    pub(super) fn clear_edges(&self) {
        self.edge_lookup.clear();
        self.edges.store(0, Relaxed);
        self.last_edge.store(0, Relaxed);
        self.edges_lost.store(0, Relaxed);
    }

    /// Returns all records of edges, newest first, with `None` for one that changed in every
    /// attempt. Any thread.
    pub(crate) fn edge_readings(
        &self,
    ) -> impl Iterator<Item = Option<(CallpathId, EdgeKey, Edge)>> {
        let mut next = Line::from_number(self.last_edge.load(Acquire));
        let mut ids = Ids::default();
        std::iter::from_fn(move || {
            let line = (!next.is_none()).then_some(next)?;
            let record = self.edge(line);
            let callpath = record[edge::CALLPATH].load(Relaxed);
            next = Line::from_number(high(callpath));
            let callpath = ids.of(self, Line::from_number(low(callpath)));
            let words = || record.each_ref().map(|word| word.load(Relaxed));
            let words = retry(|| try_read(&record[edge::SEQUENCE], words));
            Some(
                words
                    .and_then(|words| edge_of_record(&words))
                    .map(|(key, edge)| (callpath, key, edge)),
            )
        })
    }

    /// Returns the id of the callpath at `callpath`. Owner only.
    ///
    /// # Cost
    /// A look-up in a cache; at first a walk to the root.
    #[inline]
    pub(crate) fn id_of(&self, callpath: Line) -> CallpathId {
        let cached = self.hot.cached_id(callpath.number());
        if cached.callpath.load(Relaxed) == u64::from(callpath.number()) {
            return CallpathId::from_bits(cached.id.load(Relaxed));
        }
        self.find_id(callpath)
    }

    #[cold]
    #[inline(never)]
    fn find_id(&self, callpath: Line) -> CallpathId {
        let mut way = [Line::NONE; DEPTH_MAX as usize + 2];
        let mut length = 0;
        let mut at = callpath;
        while !at.is_none() && length < way.len() {
            way[length] = at;
            length += 1;
            at = self.node(at).parent();
        }
        let sites = way[..length].iter().rev().map(|&at| self.site(at).id());
        let id = sites.fold(None, |parent: Option<CallpathId>, site| {
            Some(parent.map_or_else(|| CallpathId::root(site), |parent| parent.child(site)))
        });
        let id = id.unwrap_or(EdgeKey::UNKNOWN);
        // Empty meanwhile: a signal handler may look.
        let cached = self.hot.cached_id(callpath.number());
        cached.callpath.store(0, Relaxed);
        cached.id.store(id.to_bits(), Relaxed);
        cached.callpath.store(callpath.number().into(), Relaxed);
        id
    }
}

#[inline]
#[expect(clippy::cast_precision_loss, reason = "squares are statistics: 53 bits are plenty")]
fn square(ns: u64) -> f64 {
    // No time has the highest bit, and numbers with a sign are converted by one instruction.
    let ns = ns.cast_signed() as f64;
    ns * ns
}

#[inline]
fn mix(callpath: Line, key: &EdgeKey) -> u32 {
    let word = key.to_bits() ^ key.from.to_bits() ^ u64::from(callpath.number()).rotate_left(12);
    high(word.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
