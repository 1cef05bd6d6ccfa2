//! A cursor that reads numbers and strings from untrusted bytes.

use super::MemoryLimit;

/// An error in a file, with its offset from the start of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) offset: u64,
    pub(crate) reason: String,
    /// The memory that the reader may use, if exceeding it was the only error.
    pub(crate) limit_bytes: Option<u64>,
}

impl Malformed {
    pub(crate) fn at(offset: u64, reason: impl Into<String>) -> Self {
        Self { offset, reason: reason.into(), limit_bytes: None }
    }
}

/// A position in `bytes`, which begin at offset `base` of their file. It only moves forward.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
    base: u64,
    memory_limit: Option<&'a MemoryLimit>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], base: u64) -> Self {
        Self { bytes, position: 0, base, memory_limit: None }
    }

    /// Creates a cursor with a limit on the memory that the bytes may claim.
    pub(crate) fn within(memory_limit: &'a MemoryLimit, bytes: &'a [u8], base: u64) -> Self {
        Self { memory_limit: Some(memory_limit), ..Self::new(bytes, base) }
    }

    /// Returns an error with `reason` at the current position.
    pub(crate) fn malformed(&self, reason: impl Into<String>) -> Malformed {
        Malformed::at(self.base + self.position as u64, reason)
    }

    /// Claims memory for `count` items that the reader's result keeps.
    pub(crate) fn claim_kept(
        &self,
        count: usize,
        item_bytes: usize,
        what: &str,
    ) -> Result<(), Malformed> {
        self.claim(count, item_bytes, what, MemoryLimit::claim_kept)
    }

    /// Runs `read`, and then gives back the memory that it claimed with
    /// [`pass`](Self::claim_temporary).
    pub(crate) fn passing<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.memory_limit.map(MemoryLimit::passing_bytes);
        let result = read(self);
        if let (Some(memory_limit), Some(before)) = (self.memory_limit, before) {
            memory_limit.back_to(before);
        }
        result
    }

    /// Claims memory for `count` items that are dropped soon, see [`passing`](Self::passing).
    pub(crate) fn claim_temporary(
        &self,
        count: usize,
        item_bytes: usize,
        what: &str,
    ) -> Result<(), Malformed> {
        self.claim(count, item_bytes, what, MemoryLimit::claim_temporary)
    }

    fn claim(
        &self,
        count: usize,
        item_bytes: usize,
        what: &str,
        claim: fn(&MemoryLimit, u64) -> bool,
    ) -> Result<(), Malformed> {
        let Some(memory_limit) = self.memory_limit else { return Ok(()) };
        let bytes = (count as u64).saturating_mul(item_bytes as u64);
        if claim(memory_limit, bytes) {
            return Ok(());
        }
        let limit = memory_limit.limit_bytes();
        let reason = format!(
            "{what} would need {bytes} bytes more than the {limit} that the reader may use"
        );
        Err(Malformed { limit_bytes: Some(limit), ..self.malformed(reason) })
    }

    /// Returns a cursor over `bytes`, which begin at the current position.
    pub(crate) fn sub(&self, bytes: &'a [u8]) -> Self {
        Self {
            memory_limit: self.memory_limit,
            ..Self::new(bytes, self.base + self.position as u64)
        }
    }

    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    pub(crate) fn take(&mut self, length: usize, what: &str) -> Result<&'a [u8], Malformed> {
        let rest = &self.bytes[self.position..];
        let Some(taken) = rest.get(..length) else {
            let reason = format!("{what} needs {length} bytes, {} are left", rest.len());
            return Err(self.malformed(reason));
        };
        self.position += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Malformed> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self, what: &str) -> Result<u8, Malformed> {
        Ok(self.array::<1>(what)?[0])
    }

    pub(crate) fn u16(&mut self, what: &str) -> Result<u16, Malformed> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u32(&mut self, what: &str) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u64(&mut self, what: &str) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn varint(&mut self, what: &str) -> Result<u64, Malformed> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8(what)?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.malformed(format!("{what} does not fit 64 bits")))
    }

    /// Reads a varint that must be at most `limit`.
    pub(crate) fn count(&mut self, limit: usize, what: &str) -> Result<usize, Malformed> {
        let start = self.clone();
        let value = self.varint(what)?;
        match usize::try_from(value) {
            Ok(count) if count <= limit => Ok(count),
            _ => {
                Err(start.malformed(format!("{what} is {value}, at most {limit} is possible here")))
            }
        }
    }

    /// Reads a varint that must fit in 32 bits.
    pub(crate) fn varint_u32(&mut self, what: &str) -> Result<u32, Malformed> {
        let start = self.clone();
        let value = self.varint(what)?;
        u32::try_from(value)
            .map_err(|_| start.malformed(format!("{what} is {value}: over 32 bits")))
    }

    pub(crate) fn string(&mut self, what: &str) -> Result<String, Malformed> {
        self.text(what).map(str::to_owned)
    }

    /// Reads a [string](Self::string) without copying it.
    pub(crate) fn text(&mut self, what: &str) -> Result<&'a str, Malformed> {
        let length = self.count(self.remaining(), what)?;
        let start = self.clone();
        let bytes = self.take(length, what)?;
        std::str::from_utf8(bytes).map_err(|_| start.malformed(format!("{what} is not UTF-8")))
    }

    /// Returns an error unless every byte has been read.
    pub(crate) fn finish(&self, what: &str) -> Result<(), Malformed> {
        if self.remaining() == 0 {
            return Ok(());
        }
        Err(self.malformed(format!("{} bytes follow the end of {what}", self.remaining())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Sink;

    #[test]
    fn a_varint_comes_back_and_a_longer_one_is_refused() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut sink = Sink::default();
            sink.varint(value);
            let bytes = sink.into_vec();
            assert_eq!(bytes.len(), Sink::varint_length(value));
            assert_eq!(Cursor::new(&bytes, 0).varint("v"), Ok(value));
            assert!(Cursor::new(&bytes[..bytes.len() - 1], 0).varint("v").is_err());
        }
        let too_long = [0xff; 11];
        assert!(Cursor::new(&too_long, 0).varint("v").is_err());
        let too_large = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        assert!(Cursor::new(&too_large, 0).varint("v").is_err());
    }

    #[test]
    fn an_error_names_the_offset_in_the_file() {
        let mut cursor = Cursor::new(&[1, 2, 3], 100);
        cursor.take(2, "head").unwrap();
        assert_eq!(cursor.u32("a length").unwrap_err().offset, 102);
    }
}
