//! The bytes of OTF2's files: numbers, texts and records.
//!
//! ```text
//! number   0 or the greatest number of its width: one byte; else the count of its bytes, and these
//! full     8 or 4 bytes            all: the lowest byte first
//! text     its bytes, and a 0
//! record   type, length of the rest (1 byte; from 255 on the byte 255, and 8 bytes), the rest
//! ```

/// The types of records that all files have.
const END_OF_FILE: u8 = 2;
const END_OF_BUFFER: u8 = 1;
const CHUNK_HEADER: u8 = 3;
pub(super) const TIMESTAMP: u8 = 5;
/// The first bytes of a file, which say that the lowest byte comes first.
pub(super) const HEADER: [u8; 2] = [CHUNK_HEADER, 0x42];

/// A reference to nothing.
pub(super) const UNDEFINED: u32 = u32::MAX;

/// Bytes that are written one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Buffer(Vec<u8>);

impl Buffer {
    /// Returns the begin of a file.
    pub(super) fn of_file() -> Self {
        Self(HEADER.to_vec())
    }

    /// Returns the begin of a chunk whose first event has this number.
    pub(super) fn of_chunk(first: u64) -> Self {
        let mut chunk = Self::of_file();
        chunk.full64(first);
        chunk.full64(0);
        chunk
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(super) fn number32(&mut self, number: u32) {
        match number {
            0 | u32::MAX => self.0.push(number.to_le_bytes()[0]),
            _ => self.significant(number.into()),
        }
    }

    pub(super) fn number64(&mut self, number: u64) {
        match number {
            0 | u64::MAX => self.0.push(number.to_le_bytes()[0]),
            _ => self.significant(number),
        }
    }

    fn significant(&mut self, number: u64) {
        let bytes = 8 - (number.leading_zeros() / 8).to_le_bytes()[0];
        self.0.push(bytes);
        self.0.extend(&number.to_le_bytes()[..bytes.into()]);
    }

    pub(super) fn full32(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    pub(super) fn full64(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    pub(super) fn text(&mut self, text: &str) {
        self.0.extend(text.bytes().filter(|&byte| byte != 0));
        self.0.push(0);
    }

    /// Appends a record.
    pub(super) fn record(&mut self, kind: u8, rest: impl FnOnce(&mut Self)) {
        let mut own = Self::default();
        rest(&mut own);
        self.0.push(kind);
        match u8::try_from(own.0.len()) {
            Ok(length) if length < u8::MAX => self.0.push(length),
            _ => {
                self.0.push(u8::MAX);
                self.full64(own.0.len() as u64);
            }
        }
        self.0.append(&mut own.0);
    }

    /// Appends the end of a file.
    pub(super) fn end(&mut self) {
        self.0.extend([END_OF_FILE, END_OF_BUFFER]);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_records_have_the_bytes_of_the_format() {
        let mut buffer = Buffer::default();
        [0, 1, 255, 256, 0x0001_0000, UNDEFINED].iter().for_each(|&n| buffer.number32(n));
        let expected = [0, 1, 1, 1, 255, 2, 0, 1, 3, 0, 0, 1, 255];
        assert_eq!(buffer.bytes(), expected);
        let mut buffer = Buffer::default();
        buffer.number64(1 << 56);
        assert_eq!(buffer.bytes(), [8, 0, 0, 0, 0, 0, 0, 0, 1]);
        let mut buffer = Buffer::default();
        buffer.record(10, |record| record.text("ab"));
        assert_eq!(buffer.bytes(), [10, 3, b'a', b'b', 0]);
        let mut buffer = Buffer::default();
        buffer.record(10, |record| record.text(&"x".repeat(254)));
        assert_eq!(buffer.bytes()[..10], [10, 255, 255, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(buffer.len(), 10 + 255);
    }
}
