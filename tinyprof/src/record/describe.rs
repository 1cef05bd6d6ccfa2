//! Descriptions in a segment for its readers: the names of sites, and facts about the process.
//!
//! Cold: once for each site and thread. It still allocates nothing on the heap, because a region
//! may be in the program's own allocator.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::layout::LINE_WORDS;
use tinyprof_segment::layout::site as at;
use tinyprof_segment::words::{Line, pack};

use super::segment::Segment;
use super::site::Site;

/// A writer of consecutive bytes into words that are zero.
struct Bytes<'a> {
    words: &'a [AtomicU64],
    written: usize,
}

impl Bytes<'_> {
    fn put(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let word = &self.words[self.written / 8];
            let shift = self.written % 8 * 8;
            // The first byte is at the lowest address on any machine.
            let bits = u64::from_ne_bytes((u64::from(byte) << shift).to_le_bytes());
            word.store(word.load(Relaxed) | bits, Relaxed);
            self.written += 1;
        }
    }
}

/// Returns a block of at least `words` words, all zero.
pub(super) fn zeroed(segment: &Segment, words: usize) -> Option<(Line, &[AtomicU64])> {
    let class = words.div_ceil(LINE_WORDS).next_power_of_two().trailing_zeros();
    segment.allocate_zeroed(class)
}

/// Copies the bytes to a block of their own. Returns its line and their length, or `None` if there
/// is no memory.
pub(super) fn bytes(segment: &Segment, bytes: &[u8]) -> Option<u64> {
    let length = u32::try_from(bytes.len()).ok()?;
    let (line, words) = zeroed(segment, bytes.len().div_ceil(8))?;
    Bytes { words, written: 0 }.put(bytes);
    Some(pack(line.number(), length))
}

/// Writes the description of a site, which points to the one `before` it. Returns `None` if there
/// is no memory.
pub(super) fn site(segment: &Segment, site: &'static Site, before: u64) -> Option<Line> {
    let mut length = 0;
    site.fields(|_, field| length += 5 + field.len());
    let (line, words) = zeroed(segment, at::FIELDS + length.div_ceil(8))?;
    let put = |word: usize, value| words[word].store(value, Relaxed);
    put(at::BEFORE, before);
    put(at::ADDRESS, std::ptr::from_ref(site).addr() as u64);
    put(at::ID, site.id().to_bits());
    put(at::PLACE, site.place_word());
    put(at::KIND, pack(u32::try_from(length).ok()?, site.kind_word()));
    let mut fields = Bytes { words: &words[at::FIELDS..], written: 0 };
    site.fields(|tag, field| {
        fields.put(&[tag]);
        fields.put(&u32::try_from(field.len()).unwrap_or(0).to_le_bytes());
        fields.put(field);
    });
    Some(line)
}
