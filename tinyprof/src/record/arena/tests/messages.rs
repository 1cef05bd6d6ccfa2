//! Messages of callpaths: their limit, a reader that watches, and a child of the process.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use tinyprof_format::model::{MessageKey, MessageKind, Traffic};
use tinyprof_segment::layout::header;

use super::super::messages::RECORDS_MAX;
use super::*;

type Messages = BTreeMap<(CallpathId, MessageKey), Traffic>;

/// Returns the messages of an arena that no thread is writing.
fn messages(arena: &Arena) -> Messages {
    let read = arena.message_readings().map(|reading| reading.expect("nobody writes"));
    let mut all = Messages::new();
    for (callpath, key, traffic) in read {
        assert!(all.insert((callpath, key), traffic).is_none(), "one record each: {key:?}");
    }
    all
}

fn to(partner: i32, bytes: u64) -> MessageKey {
    MessageKey::new(MessageKind::MessageOut, partner, bytes)
}

#[test]
fn messages_of_a_callpath_add_up_by_kind_partner_and_size() {
    let arena = Arena::new(Clock::Manual).unwrap();
    let mut expected = Messages::new();
    for site in [&A, &B] {
        let visit = open(&arena, site);
        let line = line_of(&visit);
        for number in 0..200_u64 {
            let kind = MessageKind::from_number(u8::try_from(number % 2).unwrap()).unwrap();
            let bytes = number % 5 * 3;
            let key =
                MessageKey::new(kind, [-1, 1][usize::try_from(number % 4 / 2).unwrap()], bytes);
            arena.add_message(line, key, bytes);
            let callpath = CallpathId::root(site.id());
            expected.entry((callpath, key)).or_default().absorb(Traffic { count: 1, bytes });
        }
        close(&arena, visit);
    }
    assert_eq!(messages(&arena), expected);
    assert_eq!(arena.messages_lost.load(Relaxed), 0);
}

#[test]
fn partners_beyond_the_limit_share_a_record_and_are_counted() {
    const BEYOND: u32 = 50;
    let arena = Arena::new(Clock::Manual).unwrap();
    let visit = open(&arena, &A);
    let line = line_of(&visit);
    let partners = i32::try_from(RECORDS_MAX + BEYOND).unwrap();
    for _ in 0..3 {
        for partner in 0..partners {
            arena.add_message(line, to(partner, 8), 8);
        }
    }
    close(&arena, visit);
    let all = messages(&arena);
    let callpath = CallpathId::root(A.id());
    assert_eq!(all.len(), RECORDS_MAX as usize + 1);
    let anyone = to(MessageKey::ANY_PARTNER, 8);
    let beyond = u64::from(3 * BEYOND);
    assert_eq!(all[&(callpath, anyone)], Traffic { count: beyond, bytes: 8 * beyond });
    for partner in 0..i32::try_from(RECORDS_MAX).unwrap() {
        assert_eq!(all[&(callpath, to(partner, 8))], Traffic { count: 3, bytes: 24 });
    }
    assert_eq!(arena.messages_lost.load(Relaxed), beyond);
    assert_eq!(arena.header(header::MESSAGES_LOST).load(Relaxed), beyond);
}

#[test]
fn every_reading_of_messages_is_of_one_moment() {
    const MESSAGES: u64 = if cfg!(miri) { 100 } else { 200_000 };
    let arena = Arena::new(Clock::Manual).unwrap();
    let (started, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut seen = Messages::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let visit = open(&arena, &A);
            let line = line_of(&visit);
            while !started.load(Acquire) {
                std::hint::spin_loop();
            }
            for number in 0..MESSAGES {
                // Records are added while the reader walks them.
                let partner = i32::try_from(number * 16 / MESSAGES).unwrap();
                arena.add_message(line, to(partner, 100), 100);
            }
            close(&arena, visit);
            done.store(true, Release);
        });
        while !done.load(Acquire) {
            for (callpath, key, traffic) in arena.message_readings().flatten() {
                assert_eq!(traffic.bytes, 100 * traffic.count, "{key:?}");
                let before = seen.insert((callpath, key), traffic).unwrap_or_default();
                assert!(traffic.count >= before.count, "messages are never taken back");
            }
            started.store(true, Release);
        }
    });
    let all = messages(&arena);
    assert_eq!((all.len(), all.values().map(|t| t.count).sum()), (16, MESSAGES));
}

#[test]
fn a_child_starts_without_the_messages_of_its_parent() {
    let arena = Arena::new(Clock::Manual).unwrap();
    let visit = open(&arena, &A);
    arena.add_message(line_of(&visit), to(1, 8), 8);
    close(&arena, visit);
    assert_eq!(messages(&arena).len(), 1);
    arena.clear_messages();
    arena.hot.clear();
    assert_eq!(messages(&arena), Messages::new());
    arena.hot.begin();
    let visit = open(&arena, &A);
    arena.add_message(line_of(&visit), to(1, 8), 8);
    close(&arena, visit);
    let all = messages(&arena);
    let callpath = CallpathId::root(A.id());
    assert_eq!(all, [((callpath, to(1, 8)), Traffic { count: 1, bytes: 8 })].into());
}
