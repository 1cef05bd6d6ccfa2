//! The memory that pco allocates after the first bytes of a chunk.
//!
//! A dictionary, and the window of differences to earlier numbers, have lengths of 25 and 5 bits.
//! pco allocates memory for both before it knows whether the chunk continues, so that 20 bytes may
//! claim 256 MiB. Our writer uses neither.
//!
//! ```text
//! chunk   type u8, numbers - 1 (24 bits), mode (4 bits), its parameters, differences (4 bits) ...
//! mode    0: nothing   1, 2: one number   3: 8 bits   4: length of the dictionary, 25 bits
//! differences 2: log2 of the window's numbers - 1, 5 bits
//! ```
//!
//! Bits are counted from the lowest of each byte.

/// The least capacity of a window in numbers. Twice as much is allocated.
const WINDOW_MIN: usize = 256;

/// The number of bits of the chunk before its mode.
const MODE_BIT: usize = 32;

/// Returns the memory that pco allocates to read this chunk of numbers of `width` bytes, in bytes,
/// in addition to that of every chunk.
pub(super) fn claimed_bytes(chunk: &[u8], width: usize) -> usize {
    let after_mode = MODE_BIT + 4;
    let differences = match bits(chunk, MODE_BIT, 4) {
        0 => after_mode,
        1 | 2 => after_mode + 8 * width,
        3 => after_mode + 8,
        // The numbers begin at the next whole byte, followed by the differences.
        4 => {
            let bytes = bits(chunk, after_mode, 25).saturating_mul(width);
            let end = (after_mode + 25).next_multiple_of(8).saturating_add(bytes.saturating_mul(8));
            return bytes.saturating_add(window_bytes(chunk, end, width));
        }
        // There is no such mode.
        _ => return 0,
    };
    window_bytes(chunk, differences, width)
}

fn window_bytes(chunk: &[u8], differences: usize, width: usize) -> usize {
    if bits(chunk, differences, 4) != 2 {
        return 0;
    }
    let log = bits(chunk, differences + 4, 5) + 1;
    (WINDOW_MIN.max(1 << log) * 2).saturating_mul(width)
}

/// Returns `count` bits from bit `start` on. Bits beyond the end are zero.
fn bits(bytes: &[u8], start: usize, count: usize) -> usize {
    let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| usize::from(byte >> (at % 8) & 1));
    (0..count).fold(0, |number, place| number | bit(start.saturating_add(place)) << place)
}

#[cfg(test)]
mod tests {
    use pco::standalone::simple_compress;
    use pco::{ChunkConfig, DeltaSpec, ModeSpec};

    use super::*;

    /// Returns the chunk in pco's output, without the header of the file.
    fn chunk(numbers: &[u64], config: &ChunkConfig) -> Vec<u8> {
        let file = simple_compress(numbers, config).unwrap();
        let (_, rest) = pco::standalone::FileDecompressor::new(file.as_slice()).unwrap();
        rest.to_vec()
    }

    #[test]
    fn what_pco_writes_claims_what_it_says() {
        let numbers: Vec<u64> = (0..2_000).map(|number| number * number % 777).collect();
        let config = ChunkConfig::default().with_mode_spec(ModeSpec::Classic);
        for delta in [DeltaSpec::NoOp, DeltaSpec::TryConsecutive(1)] {
            assert_eq!(
                claimed_bytes(&chunk(&numbers, &config.clone().with_delta_spec(delta)), 8),
                0
            );
        }
        let window = config.with_delta_spec(DeltaSpec::TryLookback);
        let repeated: Vec<u64> = (0..20_000_u64)
            .map(|number| (number % 500).wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .collect();
        let claimed = claimed_bytes(&chunk(&repeated, &window), 8);
        assert!((WINDOW_MIN * 2 * 8..=1 << 20).contains(&claimed), "{claimed}");
    }

    #[test]
    fn a_few_bytes_may_claim_much() {
        let dictionary = [1, 0, 0, 0, 0xf4, 0xff, 0xff, 0xff];
        assert_eq!(claimed_bytes(&dictionary, 8), ((1 << 25) - 1) * 8);
        let window = [1, 0, 0, 0, 0x20, 23];
        assert_eq!(claimed_bytes(&window, 8), (1 << 25) * 8);
        assert_eq!(claimed_bytes(&[], 8), 0);
    }
}
