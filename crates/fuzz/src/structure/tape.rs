//! Decisions that are read from bytes.

/// Bytes that make decisions. After the last byte, every decision is the first choice.
#[derive(Clone, Copy, Debug)]
pub struct Tape<'a>(&'a [u8]);

impl<'a> Tape<'a> {
    /// Creates a tape of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns whether there are no decisions left.
    pub fn is_over(self) -> bool {
        self.0.is_empty()
    }

    /// Returns the next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// Returns the next `count` bytes, fewer at the end.
    pub fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Returns a position below `bound`, or 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let wide =
            usize::from(self.byte()) | usize::from(if bound > 256 { self.byte() } else { 0 }) << 8;
        wide % bound.max(1)
    }

    /// Returns a number that is likely to break readers: small, large, around a power of two, or a
    /// change of the present one.
    pub fn number(&mut self, present: u64) -> u64 {
        let argument = u64::from(self.byte());
        match self.byte() % 10 {
            0 => argument,
            1 => present.wrapping_add(1),
            2 => present.wrapping_sub(1),
            3 => present.wrapping_add(argument),
            4 => present ^ 1 << (argument % 64),
            5 => 1_u64 << (argument % 64),
            6 => (1_u64 << (argument % 64)).wrapping_sub(1),
            7 => u64::MAX - argument,
            8 => present.wrapping_mul(argument),
            _ => self.bytes(8).iter().fold(0, |number, &byte| number << 8 | u64::from(byte)),
        }
    }

    /// Returns a number of 32 bits.
    pub fn number_32(&mut self, present: u32) -> u32 {
        let number = self.number(present.into());
        u32::try_from(number).unwrap_or(number as u32)
    }
}
