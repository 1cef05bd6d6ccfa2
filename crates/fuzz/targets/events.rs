//! A buffer of events in which hostile words replace some of those that a recorder wrote.
#![no_main]

use std::sync::LazyLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use libfuzzer_sys::fuzz_target;
use tinyprof_events::buffer::Times;
use tinyprof_events::layout::BYTES_MIN;
use tinyprof_events::{Buffer, EventClass, EventPolicy, MessageEnd, Visit, read};

/// The words of a ring with some nested visits and some messages.
static RECORDED: LazyLock<Vec<AtomicU64>> = LazyLock::new(|| {
    let words: Vec<AtomicU64> = (0..BYTES_MIN / 8).map(|_| AtomicU64::new(0)).collect();
    let buffer = Buffer::prepare(&words, EventPolicy::Ring, Times::default()).expect("it fits");
    for number in 0..500_u64 {
        let class = EventClass::ALL[number as usize % 4];
        let (begin, depth) = (number * 100, 1 + number as u32 % 20);
        buffer.record(Visit { callpath: depth, class, depth, begin, end: begin + number });
        let is_receive = number % 2 == 0;
        let (partner, communicator, tag) = (depth as i32 - 9, depth % 3, depth as i32);
        let end = MessageEnd { is_receive, partner, communicator, tag, number, bytes: begin };
        buffer.record_message(depth, begin, &end);
    }
    words
});

/// The words that have a meaning are at the begin, and at the begin of each bin.
fn place(bytes: [u8; 3]) -> usize {
    let word = usize::from(bytes[1]) | usize::from(bytes[2] & 7) << 8;
    if bytes[0] & 1 == 0 {
        word
    } else {
        16 + 5 * 16 * 8 + 1024 + usize::from(bytes[0]) * 256 + word
    }
}

fuzz_target!(|bytes: &[u8]| {
    let words = &*RECORDED;
    let mut before = Vec::new();
    for change in bytes.as_chunks::<11>().0 {
        let [at @ .., a, b, c, d, e, f, g, h] = *change;
        let word = &words[place(at) % words.len()];
        before.push((word, word.swap(u64::from_le_bytes([a, b, c, d, e, f, g, h]), Relaxed)));
    }
    if let Some(found) = read(words) {
        assert!(found.visits.len() <= words.len() * 8);
        assert_eq!(found.totals().kept, found.visits.len() as u64);
    }
    before.into_iter().rev().for_each(|(word, value)| word.store(value, Relaxed));
});
