//! The visits of a thread as begins and ends, and its messages, in the order of time.

use tinyprof_format::model::{CallpathId, MessageEvent, ThreadEvents, VisitEvent};

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

/// An end of a visit or of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'e> {
    Visit(Edge, CallpathId),
    Message(&'e MessageEvent),
}

/// Passes both ends of all visits of a thread as [`each_edge`] does, and each message within the
/// visit of its call, if that is there.
///
/// # Errors
/// Those of `visit`.
pub(crate) fn each_step<'e, E>(
    thread: &'e ThreadEvents,
    mut visit: impl FnMut(u64, Step<'e>) -> Result<(), E>,
) -> Result<(), E> {
    let mut messages = thread.messages.iter().peekable();
    let mut last_ns = 0;
    each_edge(&thread.visits, |edge, at_ns, callpath| {
        let is_before = |message: &&MessageEvent| {
            let is_of_call = edge == Edge::End && message.callpath == callpath;
            message.at_ns < at_ns || message.at_ns == at_ns && is_of_call
        };
        while let Some(message) = messages.next_if(is_before) {
            visit(message.at_ns.max(last_ns), Step::Message(message))?;
        }
        last_ns = at_ns;
        visit(at_ns, Step::Visit(edge, callpath))
    })?;
    messages.try_for_each(|message| visit(message.at_ns.max(last_ns), Step::Message(message)))
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::MessageEnd;

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
    fn a_message_is_within_the_visit_of_its_call() {
        let id = |bits| CallpathId::from_bits(bits);
        let visit = |callpath, begin_ns, duration_ns| VisitEvent {
            callpath: id(callpath),
            depth: 1,
            begin_ns,
            duration_ns,
        };
        let message = |callpath, at_ns, is_receive| MessageEvent {
            callpath: id(callpath),
            at_ns,
            end: MessageEnd {
                is_receive,
                partner: 1,
                communicator: 0,
                tag: 0,
                number: at_ns,
                bytes: 8,
            },
        };
        let thread = ThreadEvents {
            // A send right after a receive, and one whose visit is missing.
            visits: vec![visit(1, 10, 20), visit(2, 30, 0), visit(2, 40, 5)],
            messages: vec![
                message(1, 30, true),
                message(2, 30, false),
                message(3, 35, false),
                message(2, 40, false),
                message(4, 50, true),
            ],
            ..ThreadEvents::default()
        };
        let mut found = Vec::new();
        let Ok(()) = each_step(&thread, |at_ns, step| {
            found.push(match step {
                Step::Visit(Edge::Begin, of) => format!("{at_ns} begin {}", of.to_bits()),
                Step::Visit(Edge::End, of) => format!("{at_ns} end {}", of.to_bits()),
                Step::Message(of) => format!("{at_ns} message {}", of.callpath.to_bits()),
            });
            Ok::<(), std::convert::Infallible>(())
        });
        let expected = [
            "10 begin 1",
            "30 message 1",
            "30 end 1",
            "30 begin 2",
            "30 message 2",
            "30 end 2",
            "35 message 3",
            "40 begin 2",
            "40 message 2",
            "45 end 2",
            "50 message 4",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn times_of_a_hostile_file_never_go_back() {
        let found = edges(&[(1, 1, 50, 10), (2, 2, 55, 500), (3, 2, 20, 5)]);
        assert!(found.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{found:?}");
        assert_eq!(found.len(), 6);
    }
}
