//! Regions of one thread under a callpath of another.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::words::{Line, low};

use super::super::node::{PARENT, SITE};
use super::super::site::Site;
use super::{Arena, DEPTH_MAX, Entered};

/// An innermost open region: its record, and the execution that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenRegion {
    pub(super) line: Line,
    pub(super) execution: u32,
}

/// A thread's state before it stepped under a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    current: Line,
    execution: u32,
    under: Line,
}

impl Arena {
    /// Returns the innermost open region, or `None` outside of all regions. Owner only.
    pub(crate) fn place(&self) -> Option<OpenRegion> {
        let line = self.current();
        (!line.is_none()).then(|| OpenRegion { line, execution: self.execution() })
    }

    /// Makes the next regions be entered under `place`, of the arena `theirs`, without a visit of
    /// its own. Returns the argument for [`step_back`](Self::step_back), or `None` if there is no
    /// memory for the callpath. Owner only.
    pub(crate) fn enter_context(&self, theirs: &Self, place: OpenRegion) -> Option<Before> {
        let ours = std::ptr::eq(self, theirs);
        let under = if ours { place.line } else { self.same_callpath(theirs, place)? };
        self.take_samples();
        let before = Before { current: self.current(), execution: self.execution(), under };
        self.hot.current().store(under.number(), Relaxed);
        self.set_execution(place.execution);
        Some(before)
    }

    /// Undoes [`enter_context`](Self::enter_context), and closes regions that were left open since.
    /// Owner only.
    pub(crate) fn step_back(&self, before: Before) {
        self.take_samples();
        if self.current().is_none() && self.is_switched_off() {
            self.step_back_while_off(before.under, before.current);
            return self.set_execution(before.execution);
        }
        while self.current() != before.under && !self.current().is_none() {
            self.close_innermost();
        }
        self.hot.current().store(before.current.number(), Relaxed);
        self.set_execution(before.execution);
    }

    /// Returns our record of the callpath of `place` in `theirs`.
    pub(super) fn same_callpath(&self, theirs: &Self, place: OpenRegion) -> Option<Line> {
        let mut chain = [Line::NONE; DEPTH_MAX as usize + 2];
        let mut length = 0;
        let mut at = place.line;
        while !at.is_none() {
            *chain.get_mut(length)? = at;
            length += 1;
            at = Line::from_number(low(theirs.node(at).get(PARENT)));
        }
        let mut ours = Line::NONE;
        for &at in chain[..length].iter().rev() {
            ours = match self.find_or_insert_recorded(ours, theirs.site(at)) {
                Entered::Node(line) => line,
                Entered::Recursion(_) | Entered::Lost => return None,
            };
            let node = self.node(ours);
            if node.parent().is_none() && node.completed_or_depth() < place.execution {
                // A visit that is still open at a snapshot must count for the right execution.
                node.update(|| node.set_completed_or_depth(place.execution));
            }
        }
        Some(ours)
    }

    /// Returns the site of the record at `line`. Any thread.
    pub(super) fn site(&self, line: Line) -> &'static Site {
        let address = usize::try_from(self.node(line).get(SITE)).unwrap_or_default();
        let site = std::ptr::with_exposed_provenance::<Site>(address);
        // SAFETY: `insert` stored the address of a `&'static Site` and never changes it.
        unsafe { &*site }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use tinyprof_format::model::{Mode, RegionKind};

    use super::super::super::clock::Clock;
    use super::*;

    const fn site(name: &'static str, line: u32) -> Site {
        Site::new(name, "t", "t.rs", line, 1, RegionKind::Scope, Mode::Total)
    }
    static ROOT: Site = site("root", 1);
    static INNER: Site = site("inner", 2);
    static WORK: Site = site("work", 3);

    fn enter(arena: &Arena, site: &'static Site) -> Line {
        match arena.enter(site).entered() {
            Entered::Node(line) => line,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the path, and the visits of each execution, of every callpath with a visit.
    fn visits(arena: &Arena) -> Vec<(&'static str, Vec<(u32, u64)>)> {
        let seen = arena.readings().flatten().filter(|r| !r.executions.is_empty());
        let name = |r: &super::super::Reading| {
            if std::ptr::eq(r.site, &raw const WORK) { "work" } else { "other" }
        };
        seen.map(|r| (name(&r), r.executions.iter().map(|e| (e.execution, e.visits)).collect()))
            .collect()
    }

    #[test]
    fn work_stands_under_the_place_in_its_execution_and_the_place_gets_no_visit() {
        let (theirs, ours) =
            (Arena::new(Clock::Monotonic).unwrap(), Arena::new(Clock::Monotonic).unwrap());
        for _ in 0..3 {
            let root = enter(&theirs, &ROOT);
            let inner = enter(&theirs, &INNER);
            let before = ours.enter_context(&theirs, theirs.place().unwrap()).unwrap();
            let work = enter(&ours, &WORK);
            ours.exit(work);
            ours.step_back(before);
            theirs.exit(inner);
            theirs.exit(root);
        }
        assert_eq!(visits(&ours), [("work", vec![(0, 1), (1, 1), (2, 1)])]);
        let work =
            ours.readings().flatten().find(|r| std::ptr::eq(r.site, &raw const WORK)).unwrap();
        let inner =
            theirs.readings().flatten().find(|r| std::ptr::eq(r.site, &raw const INNER)).unwrap();
        assert_eq!(work.parent, Some(inner.id));
        assert!(ours.place().is_none());
    }

    #[test]
    fn a_thread_can_step_under_its_own_place_and_goes_on_where_it_was() {
        let arena = Arena::new(Clock::Monotonic).unwrap();
        let root = enter(&arena, &ROOT);
        let place = arena.place().unwrap();
        let inner = enter(&arena, &INNER);
        let before = arena.enter_context(&arena, place).unwrap();
        let work = enter(&arena, &WORK);
        assert_eq!(arena.node(work).parent(), root);
        arena.exit(work);
        arena.step_back(before);
        arena.exit(inner);
        arena.exit(root);
        assert_eq!(arena.visits_unbalanced.load(Relaxed), 0);
    }

    #[test]
    fn what_was_forgotten_under_a_place_is_counted_and_closed() {
        let arena = Arena::new(Clock::Monotonic).unwrap();
        let root = enter(&arena, &ROOT);
        let before = arena.enter_context(&arena, arena.place().unwrap()).unwrap();
        enter(&arena, &WORK);
        arena.step_back(before);
        assert_eq!(arena.place().map(|place| place.line), Some(root));
        assert_eq!(arena.visits_unbalanced.load(Relaxed), 1);
        arena.exit(root);
        assert!(arena.readings().flatten().all(|r| r.open.is_none()));
    }
}
