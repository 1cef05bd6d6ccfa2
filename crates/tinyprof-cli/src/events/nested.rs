//! The visits of a thread as begins and ends, in the order of time.

use tinyprof_format::model::{CallpathId, VisitEvent};

/// An end of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    Begin,
    End,
}

/// Passes both ends of all visits: each visit ends before those around it, and times never go back,
/// whatever a file says.
///
/// # Errors
/// Those of `visit`.
pub(crate) fn each_edge<E>(
    visits: &[VisitEvent],
    mut visit: impl FnMut(Edge, u64, CallpathId) -> Result<(), E>,
) -> Result<(), E> {
    let mut open: Vec<(u32, u64, CallpathId)> = Vec::new();
    let mut last_ns = 0;
    for one in visits {
        while let Some(&(depth, end_ns, callpath)) = open.last() {
            if depth < one.depth && one.begin_ns <= end_ns {
                break;
            }
            open.pop();
            last_ns = end_ns.max(last_ns);
            visit(Edge::End, last_ns, callpath)?;
        }
        last_ns = one.begin_ns.max(last_ns);
        visit(Edge::Begin, last_ns, one.callpath)?;
        let within_ns = open.last().map_or(u64::MAX, |&(_, end_ns, _)| end_ns);
        open.push((one.depth, one.end_ns().min(within_ns), one.callpath));
    }
    while let Some((_, end_ns, callpath)) = open.pop() {
        last_ns = end_ns.max(last_ns);
        visit(Edge::End, last_ns, callpath)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(visits: &[(u64, u32, u64, u64)]) -> Vec<(u64, u64)> {
        let visits: Vec<VisitEvent> = visits
            .iter()
            .map(|&(callpath, depth, begin_ns, duration_ns)| {
                let callpath = CallpathId::from_bits(callpath);
                VisitEvent { callpath, depth, begin_ns, duration_ns }
            })
            .collect();
        let mut found = Vec::new();
        each_edge(&visits, |edge, at_ns, callpath| {
            let sign = if edge == Edge::Begin { 0 } else { 100 };
            found.push((callpath.to_bits() + sign, at_ns));
            Ok::<(), ()>(())
        })
        .unwrap();
        found
    }

    #[test]
    fn a_visit_ends_before_the_next_of_its_depth_and_those_around_it() {
        let found = edges(&[(1, 1, 0, 100), (2, 2, 10, 20), (3, 2, 30, 0), (4, 2, 90, 10)]);
        let expected =
            [(1, 0), (2, 10), (102, 30), (3, 30), (103, 30), (4, 90), (104, 100), (101, 100)];
        assert_eq!(found, expected);
    }

    #[test]
    fn times_of_a_hostile_file_never_go_back() {
        let found = edges(&[(1, 1, 50, 10), (2, 2, 55, 500), (3, 2, 20, 5)]);
        assert!(found.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{found:?}");
        assert_eq!(found.len(), 6);
    }
}
