//! Mutations of segments: of words, halves of words, lines, and references between them.

use tinyprof_segment::layout::{HEADER_LINES, LINE_BYTES};

use super::Tape;

/// Segments that programs left. After a change of the layout, `scripts/fuzz.sh seeds` makes new
/// ones.
pub(crate) const SEEDS: [&[u8]; 3] = [
    include_bytes!("../../seeds/segment/plain.segment"),
    include_bytes!("../../seeds/segment/grown.segment"),
    include_bytes!("../../seeds/segment/budget.segment"),
];

const HEADER_BYTES: usize = HEADER_LINES as usize * LINE_BYTES;

/// Returns a segment of a program with one to eight changes. Magic and version stay, because
/// without them there is nothing to read.
pub fn mutated_segment(tape: &mut Tape<'_>) -> Vec<u8> {
    let mut bytes = SEEDS[tape.below(SEEDS.len())].to_vec();
    for _ in 0..=tape.byte() % 8 {
        mutate(&mut bytes, tape);
        if bytes.len() < HEADER_BYTES {
            break;
        }
    }
    bytes
}

fn mutate(bytes: &mut Vec<u8>, tape: &mut Tape<'_>) {
    let words = bytes.len() / 8;
    let at = some_word(bytes, words, tape);
    let present = word(bytes, at);
    match tape.byte() % 12 {
        0..=2 => put(bytes, at, tape.number(present)),
        3..=5 => {
            // A half word: a line, a length, a place.
            let (low, high) = (present as u32, (present >> 32) as u32);
            let (low, high) = if tape.byte() % 2 == 0 {
                (tape.number_32(low), high)
            } else {
                (low, tape.number_32(high))
            };
            put(bytes, at, u64::from(low) | u64::from(high) << 32);
        }
        6 => {
            // A reference to another existing line.
            let line = tape.below(bytes.len() / LINE_BYTES) as u64;
            let high = tape.byte() % 2 == 0;
            put(
                bytes,
                at,
                if high { present & 0xffff_ffff | line << 32 } else { present >> 32 << 32 | line },
            );
        }
        7 => {
            let other = some_word(bytes, words, tape);
            let copied = word(bytes, other);
            put(bytes, at, copied);
        }
        8 => {
            let lines = bytes.len() / LINE_BYTES;
            // Magic and version are not overwritten.
            let (from, to) =
                (tape.below(lines) * LINE_BYTES, (1 + tape.below(lines - 1)) * LINE_BYTES);
            bytes.copy_within(from..from + LINE_BYTES, to);
        }
        9 => {
            let length = tape.below(bytes.len().min(1 << 16));
            bytes.truncate(length.max(16));
        }
        10 => {
            let at = 16 + tape.below(bytes.len() - 16);
            bytes[at] = tape.byte();
        }
        _ => bytes.resize(bytes.len() + tape.below(8) * LINE_BYTES, tape.byte()),
    }
}

/// Returns the position of a word after magic and version, mostly one that is not zero.
fn some_word(bytes: &[u8], words: usize, tape: &mut Tape<'_>) -> usize {
    let start = 2 + tape.below(words.saturating_sub(2));
    if tape.byte() % 4 == 0 {
        return start.min(words - 1);
    }
    (start..words).chain(2..start).find(|&at| word(bytes, at) != 0).unwrap_or(start.min(words - 1))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes.get(at * 8..at * 8 + 8).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u64::from_le_bytes)
}

fn put(bytes: &mut [u8], at: usize, value: u64) {
    if let Some(place) = bytes.get_mut(at * 8..at * 8 + 8) {
        place.copy_from_slice(&value.to_le_bytes());
    }
}
