//! The classes of callpaths by which visits are chosen.

use clap::ValueEnum;
use tinyprof_format::model::{CallpathTable, EventClass};
use tinyprof_report::MpiCall;

/// The classes, as they are named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ClassName {
    Root,
    Call,
    AroundCalls,
    Computation,
}

impl From<ClassName> for EventClass {
    fn from(name: ClassName) -> Self {
        match name {
            ClassName::Root => Self::Root,
            ClassName::Call => Self::Call,
            ClassName::AroundCalls => Self::AroundCalls,
            ClassName::Computation => Self::Computation,
        }
    }
}

/// Returns the class of each callpath, by row. A callpath is around calls if there is a call below
/// it, whether or not one was made during a visit.
pub(super) fn of_callpaths(callpaths: &CallpathTable) -> Vec<EventClass> {
    let of = |at: usize| {
        let row = &callpaths.rows()[at];
        if MpiCall::of_region(&row.region).is_some() {
            EventClass::Call
        } else if row.parent.is_none() {
            EventClass::Root
        } else {
            EventClass::Computation
        }
    };
    let mut classes: Vec<EventClass> = (0..callpaths.len()).map(of).collect();
    // Callees come after their callers.
    for at in (0..classes.len()).rev() {
        let parent = callpaths.rows()[at].parent.map(|parent| parent.row());
        let is_around = matches!(classes[at], EventClass::Call | EventClass::AroundCalls);
        if let Some(parent) = parent.filter(|_| is_around)
            && classes[parent] == EventClass::Computation
        {
            classes[parent] = EventClass::AroundCalls;
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{CallpathId, Region, SiteId};

    use super::*;

    #[test]
    fn a_callpath_is_around_the_calls_below_it() {
        let names = ["main", "solve", "exchange", "MPI_Send", "kernel"];
        let parents = [None, Some(0), Some(1), Some(2), Some(1)];
        let id = |at: usize| CallpathId::from_bits(at as u64 + 1);
        let rows = (0..5).map(|at| {
            let site = SiteId::from_bits(at as u64);
            let module = if at == 3 { "mpi" } else { "" }.to_owned();
            let region = Region { module, ..Region::named(site, names[at]) };
            (id(at), parents[at].map(id), region)
        });
        let table = CallpathTable::from_parents(rows);
        let mut found: Vec<(&str, EventClass)> = table
            .rows()
            .iter()
            .map(|row| row.region.name.as_str())
            .zip(of_callpaths(&table))
            .collect();
        found.sort_unstable();
        let expected = [
            ("MPI_Send", EventClass::Call),
            ("exchange", EventClass::AroundCalls),
            ("kernel", EventClass::Computation),
            ("main", EventClass::Root),
            ("solve", EventClass::AroundCalls),
        ];
        assert_eq!(found, expected);
    }
}
