//! The choice of events by class, time and part of the tree, and their clock.

use tinyprof_format::model::{EventCell, EventPolicy, MessageEnd, Region, SiteId};

use super::*;

const NAMES: [&str; 3] = ["main", "solve", "MPI_Send"];

fn id(at: usize) -> CallpathId {
    CallpathId::from_bits(at as u64 + 1)
}

fn callpaths() -> CallpathTable {
    CallpathTable::from_parents((0..3).map(|at| {
        let module = if at == 2 { "mpi" } else { "" }.to_owned();
        let site = SiteId::from_bits(at as u64);
        let region = Region { module, ..Region::named(site, NAMES[at]) };
        (id(at), at.checked_sub(1).map(id), region)
    }))
}

/// Returns the events of a rank: `main` from 0 to 1,000 ns, `solve` from 100 to 500 with a call
/// from 200 to 300, of which another one is lost.
fn events(origin_ns: u64) -> RankEvents {
    let visit = |at: usize, begin_ns, duration_ns| {
        let depth = u32::try_from(at).unwrap() + 1;
        VisitEvent { callpath: id(at), depth, begin_ns, duration_ns }
    };
    let message = |at: usize, at_ns| {
        let (partner, communicator, tag, number, bytes) = (1, 0, 0, at_ns, 8);
        let is_receive = false;
        let end = MessageEnd { is_receive, partner, communicator, tag, number, bytes };
        MessageEvent { callpath: id(at), at_ns, end }
    };
    let (class, depth) = (EventClass::Call, 3);
    let cell = EventCell { class, depth, kept: 1, lost: 1, lost_first_ns: 5, lost_last_ns: 9 };
    let thread = ThreadEvents {
        thread: 0,
        policy: EventPolicy::Ring,
        memory_bytes: 1 << 20,
        stopped_ns: None,
        cut: 0,
        cells: vec![cell],
        visits: vec![visit(0, 0, 1_000), visit(1, 100, 400), visit(2, 200, 100)],
        messages: vec![message(1, 100), message(2, 210)],
    };
    RankEvents { origin_ns, threads_without_memory: 0, threads: vec![thread] }
}

/// Returns the visits of the second of two ranks, whose recording starts 50 ns later: name, begin
/// and duration, and `sent` for a message; and what is told of both.
fn shown(selection: &EventSelection, is_whole: bool) -> (Vec<(&'static str, u64, u64)>, Told) {
    let each = |_: &RankChoice<'_>, visit: &mut EventVisitor<'_>| {
        visit(0, &events(7_000))?;
        visit(1, &events(7_050))
    };
    let all = callpaths();
    let part = CallpathTable::from_parents(all.rows()[1..].iter().map(|row| {
        (row.id, row.parent.filter(|parent| parent.row() > 0).map(|_| id(1)), row.region.clone())
    }));
    let callpaths = if is_whole { &all } else { &part };
    let facts = vec![RankFacts::default(); 2];
    let profile = EventsProfile { callpaths, is_whole, facts: &facts };
    let events = ShownEvents::of(selection, profile, &each).unwrap();
    let mut found = Vec::new();
    let told = events.each(&|_| true, &mut |rank, events| {
        let thread = &events.threads[0];
        if rank == 1 {
            assert_eq!(thread.complete_ns(), Some((9 + 50 + 1, u64::MAX)));
            found.extend(thread.visits.iter().map(|visit| {
                let at = usize::try_from(visit.callpath.to_bits()).unwrap() - 1;
                (NAMES[at], visit.begin_ns, visit.duration_ns)
            }));
            found.extend(thread.messages.iter().map(|message| ("sent", message.at_ns, 8)));
        }
        Ok(())
    });
    (found, told.unwrap())
}

#[test]
fn all_events_are_on_the_clock_of_the_first_rank() {
    let (found, told) = shown(&EventSelection::default(), true);
    let messages = [("sent", 150, 8), ("sent", 260, 8)];
    assert_eq!(found[..3], [("main", 50, 1_000), ("solve", 150, 400), ("MPI_Send", 250, 100)]);
    assert_eq!((&found[3..], told.messages, told.messages_lost), (&messages[..], 4, 0));
    assert_eq!((told.ranks, told.threads, told.shown, told.kept, told.lost), (2, 2, 6, 6, 2));
    let notes = told.notes();
    assert!(notes.len() == 1 && notes[0].starts_with("2 of 8 visits were not kept"), "{notes:?}");
}

#[test]
fn a_window_cuts_what_reaches_beyond_it() {
    let window = Some(Window { from_ns: 200, to_ns: 300 });
    let (found, told) = shown(&EventSelection { window, classes: Vec::new() }, true);
    let sent = ("sent", 260, 8);
    assert_eq!(found, [("main", 200, 100), ("solve", 200, 100), ("MPI_Send", 250, 50), sent]);
    assert_eq!((told.cut, told.shown), (5, 6), "the call of rank 0 is within it");
}

#[test]
fn classes_and_parts_of_the_tree_are_chosen() {
    let of = |classes: &[ClassName], is_whole| {
        let classes = classes.to_vec();
        let (found, told) = shown(&EventSelection { window: None, classes }, is_whole);
        let (sent, visits): (Vec<_>, Vec<_>) = found.into_iter().partition(|of| of.0 == "sent");
        assert_eq!(told.shown, 2 * visits.len() as u64);
        let calls = visits.iter().filter(|(name, ..)| *name != "main").count();
        assert_eq!(sent.len(), calls, "a message is shown with its call");
        visits.into_iter().map(|(name, ..)| name).collect::<Vec<_>>()
    };
    assert_eq!(of(&[ClassName::Call], true), ["MPI_Send"]);
    assert_eq!(of(&[ClassName::Root, ClassName::AroundCalls], true), ["main", "solve"]);
    assert_eq!(of(&[ClassName::Computation], true), [""; 0]);
    assert_eq!(of(&[], false), ["solve", "MPI_Send"]);
}
