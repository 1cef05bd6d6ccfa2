//! Blocks of memory, and exhausted memory.

use super::*;

#[test]
fn blocks_do_not_overlap_and_come_back() {
    let segment = Segment::reserve().unwrap();
    let a = segment.allocate(0).unwrap();
    let (b, words) = segment.allocate_zeroed(3).unwrap();
    assert_eq!((b.number(), words.len()), (a.number() + 1, 64));
    words.iter().for_each(|word| word.store(7, Relaxed));
    // SAFETY: the block was just handed out.
    assert_eq!(unsafe { segment.word(a, 0) }.load(Relaxed), 0);
    // SAFETY: it was handed out for this class, and has not come back yet.
    unsafe { segment.release(b, 3) };
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
