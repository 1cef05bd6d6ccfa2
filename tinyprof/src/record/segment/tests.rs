//! Blocks of memory, and exhausted memory.

use tinyprof_segment::layout::LINE_WORDS;

use super::*;

#[test]
fn blocks_do_not_overlap_and_come_back() {
    let segment = Segment::reserve().unwrap();
    let a = segment.allocate(0).unwrap();
    let b = segment.allocate(3).unwrap();
    assert_eq!(b.number(), a.number() + 1);
    for word in 0..8 * LINE_WORDS {
        segment.word(b, word).store(7, Relaxed);
    }
    assert_eq!(segment.word(a, 0).load(Relaxed), 0);
    segment.release(b, 3);
    assert_ne!(segment.allocate(2).unwrap(), b);
    assert_eq!(segment.allocate(3).unwrap(), b);
}

#[test]
fn memory_runs_out_without_a_crash() {
    let segment = Segment::reserve_bytes(RESERVED_BYTES_MAX / 2).unwrap();
    let blocks = std::iter::from_fn(|| segment.allocate(19)).count();
    assert!((1..=RESERVED_BYTES_MAX >> 26).contains(&blocks), "{blocks}");
    assert!(segment.allocate(40).is_none());
    assert!(
        segment.contains(Line::from_number(HEADER_LINES), 8)
            && !segment.contains(Line::from_number(u32::MAX), 8)
    );
}
