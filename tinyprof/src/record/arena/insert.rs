//! The first visit of a callpath on a thread, and sites that are visited from changing places.
//! Rare.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

use tinyprof_format::model::Mode;
use tinyprof_segment::layout::header;
use tinyprof_segment::sequence::publish;
use tinyprof_segment::words::{Line, high, low, pack};

use super::super::filter;
use super::super::node::{EXECUTION, MIN, NODE_CLASS, Node, PARENT, SAMPLES, SERIES, SITE, kind};
use super::super::site::{OTHER, Site};
use super::hot::FILTERED;
use super::sampled;
use super::{Arena, DEPTH_MAX, Entered, NODES_MAX, NOT_USUAL};

impl Arena {
    /// Returns the record of a visit of `site` under `parent`. Owner only.
    ///
    /// A signal handler may arrive here while its thread is in this function. It would find
    /// half-changed tables, so its visit is lost.
    #[cold]
    #[inline(never)]
    pub(super) fn find_or_insert(&self, parent: Line, site: &'static Site) -> Entered {
        self.take_samples();
        self.find_or_insert_if(parent, site, true)
    }

    /// Returns the record for a region that another thread has recorded, or that is not the
    /// program's; no filter is consulted. Owner only.
    pub(in crate::record) fn find_or_insert_recorded(
        &self,
        parent: Line,
        site: &'static Site,
    ) -> Entered {
        self.find_or_insert_if(parent, site, false)
    }

    fn find_or_insert_if(&self, parent: Line, site: &'static Site, is_new: bool) -> Entered {
        self.check_process();
        let address = std::ptr::from_ref(site).addr() as u64;
        if !parent.is_none() && self.node(parent).get(SITE) == address {
            return Entered::Recursion(parent);
        }
        self.reentrancy.change(|| self.find_or_insert_child(parent, site, is_new)).unwrap_or_else(
            || {
                self.keep_out_visit();
                Entered::Lost
            },
        )
    }

    /// Returns the record of `metric` for the callpath at `parent`, or `None` if memory has run
    /// out. Owner only.
    #[cold]
    #[inline(never)]
    pub(super) fn find_or_insert_metric(
        &self,
        parent: Line,
        metric: &'static Site,
    ) -> Option<Line> {
        if self.is_metric_taken_out(metric) {
            return None;
        }
        self.check_process();
        self.reentrancy.change(|| {
            let known = self.find_node(parent, metric);
            let full = self.nodes.load(Relaxed) >= NODES_MAX;
            let line = known.or_else(|| if full { None } else { self.insert(parent, metric) })?;
            self.remember(parent, metric, line);
            Some(line)
        })?
    }

    fn find_or_insert_child(&self, parent: Line, site: &'static Site, is_new: bool) -> Entered {
        if is_new && filter::is_replaced() && self.is_taken_out(parent, site) {
            self.remember_as_filtered(site);
            return Entered::Lost;
        }
        if let Some(line) = self.find_node(parent, site) {
            if let Some(outer) = self.folded_onto(line) {
                return Entered::Recursion(outer);
            }
            self.remember(parent, site, line);
            return Entered::Node(line);
        }
        if is_new && !filter::is_replaced() && filter::takes_out(site) {
            self.remember_as_filtered(site);
            return Entered::Lost;
        }
        if let Some(outer) = self.too_often(parent, site) {
            self.insert_fold(parent, site, outer);
            return Entered::Recursion(outer);
        }
        let too_deep = self.depth_below(parent) > DEPTH_MAX;
        let full = too_deep || self.nodes.load(Relaxed) >= NODES_MAX;
        if !full && let Some(line) = self.insert(parent, site) {
            self.remember(parent, site, line);
            return Entered::Node(line);
        }
        self.enter_other(
            parent,
            if too_deep { &self.visits_too_deep } else { &self.visits_in_other },
        )
    }

    /// Returns whether a filter that was given by a command excludes the region. One that is or was
    /// outside of all others stays: its ends are flush points and executions, which all ranks
    /// count.
    fn is_taken_out(&self, parent: Line, site: &'static Site) -> bool {
        let is_root =
            || !site.is_call() && (parent.is_none() || self.find_node(Line::NONE, site).is_some());
        !is_root() && filter::takes_out(site)
    }

    /// Returns whether a command has excluded the metric.
    pub(super) fn is_metric_taken_out(&self, metric: &'static Site) -> bool {
        let is_out = self.is_filtered(metric) || filter::takes_out_metric(metric);
        if is_out {
            self.remember_as_filtered(metric);
        }
        is_out
    }

    /// Returns the child of `parent` that visits `site`.
    fn find_node(&self, parent: Line, site: &'static Site) -> Option<Line> {
        let address = std::ptr::from_ref(site).addr() as u64;
        self.lookup.find(&self.segment, hash(parent, address), |line| {
            let node = self.node(line);
            node.parent() == parent && node.get(SITE) == address
        })
    }

    /// Inserts a new node into the table of all. Returns false if memory has run out.
    pub(super) fn insert_into_table(&self, node: Node<'_>) -> bool {
        let hash = hash(node.parent(), node.get(SITE));
        self.lookup.insert(&self.segment, hash, node.line())
    }

    #[cold]
    fn enter_other(&self, parent: Line, counter: &AtomicU64) -> Entered {
        counter.fetch_add(1, Relaxed);
        self.publish_losses();
        if !parent.is_none()
            && self.node(parent).get(SITE) == std::ptr::from_ref(&OTHER).addr() as u64
        {
            return Entered::Recursion(parent);
        }
        let known = self.find_node(parent, &OTHER);
        match known.or_else(|| self.insert(parent, &OTHER)) {
            Some(line) => Entered::Node(line),
            None => {
                counter.fetch_sub(1, Relaxed);
                self.lose_visits(1);
                Entered::Lost
            }
        }
    }

    /// Returns the cache entry for `site`. Sites of other shared objects have none, nor do sites
    /// made at run time beyond the first few.
    fn entry(&self, site: &'static Site) -> Option<&AtomicU64> {
        let of_run_time = || self.hot.run_time_cache().get(site.run_time_index()?);
        self.hot.cache().get(site.dense_index()).or_else(of_run_time)
    }

    /// Returns whether visits of `site` are known to be filtered out. Owner only.
    pub(crate) fn is_filtered(&self, site: &'static Site) -> bool {
        self.entry(site).is_some_and(|entry| entry.load(Relaxed) == FILTERED)
    }

    fn remember_as_filtered(&self, site: &'static Site) {
        if let Some(entry) = self.entry(site) {
            entry.store(FILTERED, Relaxed);
        }
    }

    pub(super) fn remember(&self, parent: Line, site: &'static Site, line: Line) {
        if sampled::is_sampling() && !site.is_metric() {
            // Each visit is to be looked up, where samples are taken.
            return;
        }
        if let Some(entry) = self.entry(site) {
            // The entry also marks unusual visits, so that the shortest path has one value to test.
            let kind = high(self.node(line).get(EXECUTION)) | self.kind_of_entries();
            // Outside of all regions the shortest path is not tried.
            let is_usual = site.is_metric() || (kind == 0 && !parent.is_none());
            let key = parent.number() | if is_usual { 0 } else { NOT_USUAL };
            entry.store(pack(key, line.number()), Relaxed);
        }
    }

    /// Returns the cache entry for a site made at run time, or 0 if there is none.
    pub(super) fn cached_of_run_time(&self, site: &'static Site) -> u64 {
        let entry = site.run_time_index().and_then(|at| self.hot.run_time_cache().get(at));
        entry.map_or(0, |entry| entry.load(Relaxed))
    }

    /// Returns the depth of the children of `parent`; a root has depth 1.
    fn depth_below(&self, parent: Line) -> u32 {
        if parent.is_none() {
            return 1;
        }
        let parent = self.node(parent);
        if parent.parent().is_none() { 2 } else { parent.completed_or_depth().saturating_add(1) }
    }

    fn insert(&self, parent: Line, site: &'static Site) -> Option<Line> {
        let (line, _) = self.segment.allocate_zeroed(NODE_CLASS)?;
        let node = self.node(line);
        node.set(SITE, std::ptr::from_ref(site).expose_provenance() as u64);
        node.set(PARENT, pack(parent.number(), self.last_node.load(Relaxed)));
        if !parent.is_none() {
            node.set_completed_or_depth(self.depth_below(parent));
        }
        node.set(MIN, u64::MAX);
        // A metric has the mode of its region.
        let mode = if site.is_metric() { self.site(parent).mode() } else { site.mode() };
        node.set(SERIES + 1, pack(u32::from(mode == Mode::Each), 0));
        if !site.is_metric() {
            self.prepare_samples(node);
        }
        node.set(EXECUTION, pack(0, kind_of(node, site.is_call())));
        if !self.describe(site) || !self.insert_into_table(node) {
            // SAFETY: the line is that of the new block, and nothing refers to it yet.
            unsafe { self.segment.release(line, NODE_CLASS) };
            return None;
        }
        self.nodes.fetch_add(1, Relaxed);
        self.last_node.store(line.number(), Release);
        if self.is_mapped() {
            publish(self.header(header::LAST_NODE), line.number().into());
        }
        Some(line)
    }
}

/// Returns the kind of a new record, derived from its other words. Calls of MPI outside of all
/// regions are no executions.
fn kind_of(node: Node<'_>, is_call: bool) -> u32 {
    let kinds = [
        (node.parent().is_none() && !is_call, kind::ROOT),
        (low(node.get(SERIES + 1)) != 0, kind::SERIES),
        (low(node.get(SAMPLES)) != 0, kind::SAMPLED),
    ];
    kinds.iter().filter(|(is, _)| *is).fold(0, |sum, (_, kind)| sum | kind)
}

/// Returns the hash of a child, by its parent and the address of its site.
fn hash(parent: Line, site: u64) -> u32 {
    high((site ^ u64::from(parent.number()).rotate_left(40)).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
