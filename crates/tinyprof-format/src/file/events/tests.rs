//! Events on their way through a section.

use std::sync::Arc;

use super::*;
use crate::bytes::{Cursor, Malformed};
use crate::model::{EventClass, EventPolicy, MessageEnd};

/// Returns the events of a rank with a thread of this many visits, and a message of each, as in a
/// halo exchange with four neighbours.
pub(in crate::file) fn some_events(visits: u64) -> RankEvents {
    let visit = |number: u64| VisitEvent {
        callpath: CallpathId::from_bits(7 + number % 3),
        depth: 1 + u32::try_from(number % 3).unwrap(),
        begin_ns: number * 1000 + number % 17,
        duration_ns: 100 + number % 700,
    };
    let cell = |class, lost| EventCell {
        class,
        depth: 2,
        kept: visits,
        lost,
        lost_first_ns: 3,
        lost_last_ns: 9,
    };
    let message = |number: u64| MessageEvent {
        callpath: CallpathId::from_bits(7 + number % 2),
        at_ns: number * 1000 + number % 13,
        end: MessageEnd {
            is_receive: number % 2 == 1,
            partner: [-20, -1, 1, 20][usize::try_from(number / 2 % 4).unwrap()],
            communicator: 3,
            tag: i32::try_from(number / 2 % 4).unwrap() - 1,
            number: 1000 + number / 8,
            bytes: 8 * 1024,
        },
    };
    let thread = ThreadEvents {
        thread: 3,
        policy: EventPolicy::Ring,
        memory_bytes: 4 << 20,
        stopped_ns: Some(8),
        cut: 2,
        cells: vec![cell(EventClass::Call, 0), cell(EventClass::Message, 4)],
        visits: (0..visits).map(visit).collect(),
        messages: (0..visits).map(message).collect(),
    };
    let empty = ThreadEvents { thread: 4, stopped_ns: None, visits: Vec::new(), ..thread.clone() };
    RankEvents { origin_ns: 1 << 50, threads_without_memory: 1, threads: vec![thread, empty] }
}

fn decoded(bytes: &[u8], ranks: usize) -> Result<Vec<(usize, Arc<RankEvents>)>, Malformed> {
    let mut found = Vec::new();
    let mut cursor = Cursor::new(bytes, 0);
    decode_section(&mut cursor, ranks, &|_| true, &mut |rank, events| found.push((rank, events)))?;
    cursor.finish("the section")?;
    Ok(found)
}

#[test]
fn events_come_back() {
    for visits in [0, 1, 40, 3000] {
        let events = some_events(visits);
        let section = encode_section(&[None, Some(encode(&events)), None]).unwrap();
        assert_eq!(decoded(&section, 3), Ok(vec![(1, Arc::new(events))]));
    }
    assert_eq!(encode_section(&[None::<Vec<u8>>, None]), None);
}

#[test]
fn a_visit_and_a_message_take_few_bytes() {
    let visits = 10_000;
    let mut events = some_events(visits);
    let all = encode(&events).len() as u64;
    events.threads.iter_mut().for_each(|thread| thread.messages.clear());
    let bytes = encode(&events).len() as u64;
    assert!(bytes < 5 * visits, "{bytes} bytes for {visits} visits");
    // Messages are in both threads.
    assert!(all - bytes < 2 * 8 * visits, "{} bytes for messages", all - bytes);
}

#[test]
fn hostile_events_are_errors() {
    let bytes = encode_section(&[Some(encode(&some_events(50)))]).unwrap();
    for cut in 0..bytes.len() {
        assert!(decoded(&bytes[..cut], 1).is_err(), "cut at {cut}");
    }
    for at in 0..bytes.len() {
        for flip in [1, 0x40, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            // It may be other numbers, but nothing worse.
            drop(decoded(&damaged, 1));
        }
    }
}
