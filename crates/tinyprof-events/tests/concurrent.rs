//! A reader beside the thread that records.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_events::buffer::Times;
use tinyprof_events::cell::CELLS;
use tinyprof_events::layout::{BYTES_MIN, cell, header};
use tinyprof_events::{Buffer, EventClass, EventPolicy, MessageEnd, Recording, Visit, read};

/// Returns visit number `number`: where and what it is follows from its number.
fn visit(number: u64) -> Visit {
    let depth = 1 + u32::try_from(number % 5).expect("it fits");
    let class = EventClass::ALL[usize::try_from(number % 4).expect("it fits")];
    let begin = number * 100;
    let callpath = u32::try_from(number % 77).expect("it fits");
    Visit { callpath, class, depth, begin, end: begin + number % 99 }
}

fn check(recording: &Recording, recorded_before: u64) {
    assert_eq!(recording.totals().kept, recording.visits.len() as u64);
    let all = recording.totals().kept + recording.totals().lost;
    assert!(all >= recorded_before, "{all} of {recorded_before}");
    for kept in &recording.visits {
        let made = visit(kept.begin / 100);
        assert_eq!((kept.callpath, kept.begin, kept.end), (made.callpath, made.begin, made.end));
        assert_eq!((kept.cell.class(), kept.cell.depth()), (made.class, made.depth));
    }
}

#[test]
fn what_is_read_meanwhile_was_recorded() {
    const VISITS: u64 = 60_000;
    for policy in EventPolicy::ALL {
        let words: Vec<AtomicU64> = (0..BYTES_MIN / 8).map(|_| AtomicU64::new(0)).collect();
        let buffer = Buffer::prepare(&words, policy, Times::default()).expect("it fits");
        let recorded = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..VISITS {
                    buffer.record(visit(number));
                    recorded.store(number + 1, Relaxed);
                }
            });
            while recorded.load(Relaxed) < VISITS {
                let before = recorded.load(Relaxed);
                // Words of different cells are not read at one moment, but none goes back.
                check(&read(&words).expect("it fits"), before);
            }
        });
        let recording = read(&words).expect("it fits");
        check(&recording, VISITS);
        assert_eq!(recording.totals().kept + recording.totals().lost, VISITS);
        assert_eq!(recording.bins_unreadable, 0);
    }
}

#[test]
fn words_that_are_no_buffer_are_none() {
    let zeros: Vec<AtomicU64> = (0..BYTES_MIN / 8).map(|_| AtomicU64::new(0)).collect();
    assert_eq!(read(&zeros), None);
    assert_eq!(read(&zeros[..9]), None);
    let buffer = Buffer::prepare(&zeros, EventPolicy::Thin, Times::default()).expect("it fits");
    buffer.record(visit(7));
    assert_eq!(read(&zeros).expect("it fits").visits.len(), 1);
    assert_eq!(read(&zeros[..zeros.len() - 1024]), None, "of another geometry");
}

#[test]
fn extreme_words_do_no_harm() {
    let words: Vec<AtomicU64> = (0..BYTES_MIN / 8).map(|_| AtomicU64::new(0)).collect();
    let buffer = Buffer::prepare(&words, EventPolicy::Ring, Times::default()).expect("it fits");
    for number in 0..40 {
        buffer.record(visit(number));
        let (partner, communicator, tag) = (-1, 2, 3);
        let end =
            MessageEnd { is_receive: true, partner, communicator, tag, number, bytes: number };
        buffer.record_message(1, number * 100, &end);
    }
    let (most, high, low) = (u64::MAX, u64::MAX << 32, u64::MAX >> 32);
    let pairs = [(0, 0), (most, most), (0, most), (most, 0), (1, most), (high, high), (low, low)];
    let cells_end = header::WORDS + CELLS as usize * cell::WORDS;
    let has_meaning = |at: usize| at < cells_end || words[at].load(Relaxed) != 0;
    let with_meaning: Vec<usize> = (0..words.len() - 1).filter(|&at| has_meaning(at)).collect();
    for at in with_meaning {
        // Words that belong together are next to each other.
        for (first, second) in pairs {
            let before = (words[at].swap(first, Relaxed), words[at + 1].swap(second, Relaxed));
            if let Some(found) = read(&words) {
                assert_eq!(found.totals().kept, found.visits.len() as u64, "word {at}");
            }
            words[at].store(before.0, Relaxed);
            words[at + 1].store(before.1, Relaxed);
        }
    }
}

#[test]
fn damaged_words_do_no_harm() {
    let words: Vec<AtomicU64> = (0..BYTES_MIN / 8).map(|_| AtomicU64::new(0)).collect();
    let buffer = Buffer::prepare(&words, EventPolicy::Ring, Times::default()).expect("it fits");
    for number in 0..60_000 {
        buffer.record(visit(number));
    }
    let mut random = 1_u64;
    for _ in 0..60 {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(7);
        let at = usize::try_from(random >> 33).expect("it fits") % words.len();
        let before = words[at].swap(random, Relaxed);
        let found = read(&words);
        assert!(found.is_none_or(|found| found.visits.len() < words.len() * 8));
        words[at].store(before, Relaxed);
    }
}
