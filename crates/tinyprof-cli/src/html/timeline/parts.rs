//! Visits that are too short to be shown one by one, added up in equal parts of a lane's time.

use serde_json::{Value, json};
use tinyprof_format::model::VisitEvent;

use crate::html::columns::Columns;

/// The number of parts of a lane.
const PARTS: u64 = 2_048;

/// The visits that are left out of a lane, by part of its time.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    from_ns: u64,
    to_ns: u64,
    width_ns: u64,
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Part {
    /// The visits that begin in it.
    visits: u64,
    /// The time in them, and in those of MPI.
    ns: u64,
    in_calls_ns: u64,
}

impl Parts {
    pub(super) fn new(from_ns: u64, to_ns: u64) -> Self {
        let width_ns = (to_ns.saturating_sub(from_ns) / PARTS + 1).max(1);
        Self { from_ns, to_ns, width_ns, parts: Vec::new() }
    }

    /// Adds a visit. The time of one that is inside another one that was added is there already.
    pub(super) fn add(&mut self, visit: &VisitEvent, is_call: bool, is_outermost: bool) {
        let (mut at_ns, end_ns) = (visit.begin_ns.max(self.from_ns), visit.end_ns());
        let place = |ns: u64| usize::try_from((ns - self.from_ns) / self.width_ns).unwrap_or(0);
        let last = place(at_ns.max(end_ns).min(self.to_ns));
        if self.parts.len() <= last {
            self.parts.resize(last + 1, Part::default());
        }
        let first = place(at_ns).min(last);
        self.parts[first].visits += 1;
        for (part, until) in self.parts[first..=last].iter_mut().zip(first as u64 + 1..) {
            let until_ns = end_ns.min(self.from_ns + until * self.width_ns);
            let ns = until_ns.saturating_sub(at_ns);
            part.ns += if is_outermost { ns } else { 0 };
            part.in_calls_ns += if is_call { ns } else { 0 };
            at_ns = until_ns;
        }
    }

    /// Returns the parts for the page; null if nothing was left out.
    pub(super) fn json(&self, columns: &mut Columns) -> Value {
        if self.parts.is_empty() {
            return Value::Null;
        }
        let mut of = |value: &dyn Fn(&Part) -> u64| columns.add_exact(self.parts.iter().map(value));
        json!({
            "width_ns": self.width_ns,
            "visits": of(&|part| part.visits),
            "times": of(&|part| part.ns),
            "in_calls": of(&|part| part.in_calls_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::CallpathId;

    use super::*;

    #[test]
    fn a_visit_is_divided_among_the_parts_that_it_touches() {
        let mut parts = Parts::new(1_000, 1_000 + 10 * PARTS - 1);
        assert_eq!(parts.width_ns, 10);
        let visit = |begin_ns, duration_ns| {
            let callpath = CallpathId::from_bits(1);
            VisitEvent { callpath, depth: 2, begin_ns, duration_ns }
        };
        parts.add(&visit(1_005, 20), false, true);
        parts.add(&visit(1_012, 3), true, false);
        parts.add(&visit(1_030, 0), true, true);
        let found: Vec<_> = parts.parts.iter().map(|p| (p.visits, p.ns, p.in_calls_ns)).collect();
        assert_eq!(found, [(1, 5, 0), (1, 10, 3), (0, 5, 0), (1, 0, 0)]);
    }
}
