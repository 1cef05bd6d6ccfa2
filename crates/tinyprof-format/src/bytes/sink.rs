//! A buffer to which numbers and strings are appended.

/// A growing buffer of little-endian bytes.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    bytes: Vec<u8>,
}

impl Sink {
    /// Creates a sink that appends to `bytes`. It takes them, and [`into_vec`](Self::into_vec)
    /// returns them.
    pub(crate) fn behind(bytes: &mut Vec<u8>) -> Self {
        Self { bytes: std::mem::take(bytes) }
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(crate) fn u16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends seven bits per byte, low bits first. The high bit means that more bytes follow
    /// (LEB128).
    pub(crate) fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.bytes.push(value.to_le_bytes()[0]);
    }

    /// Returns the number of bytes that [`varint`](Self::varint) appends.
    pub(crate) const fn varint_length(value: u64) -> usize {
        let bits = u64::BITS - (value | 1).leading_zeros();
        bits.div_ceil(7) as usize
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends the length as a varint, then the UTF-8 bytes.
    pub(crate) fn string(&mut self, text: &str) {
        self.varint(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Reserves room for exactly `bytes` more bytes.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.bytes.reserve_exact(bytes);
    }

    /// Overwrites existing bytes, starting at `position`.
    pub(crate) fn overwrite(&mut self, position: usize, bytes: &[u8]) {
        self.bytes[position..position + bytes.len()].copy_from_slice(bytes);
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn into_vec(self) -> Vec<u8> {
        self.bytes
    }
}
