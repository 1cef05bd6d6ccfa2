//! A cursor that reads numbers and strings from untrusted bytes.

use std::cell::Cell;

/// An error in the data and its place: the offset counts from the start of the file, in bytes.
#[derive(Debug)]
pub(crate) struct Damage {
    pub(crate) offset: u64,
    pub(crate) reason: String,
    /// True if the only error is that reading would take more memory than the caller allows.
    pub(crate) over_limit: bool,
}

impl Damage {
    pub(crate) fn at(offset: u64, reason: impl Into<String>) -> Self {
        Self { offset, reason: reason.into(), over_limit: false }
    }
}

/// The memory that a call may still use, in bytes. A limit is needed because few bytes of a file
/// can claim many values.
#[derive(Debug)]
pub(crate) struct Budget {
    left_bytes: Cell<u64>,
    limit_bytes: u64,
}

impl Budget {
    pub(crate) const fn new(limit_bytes: u64) -> Self {
        Self { left_bytes: Cell::new(limit_bytes), limit_bytes }
    }

    /// Returns all memory to the budget, because the values that were read are no longer kept.
    pub(crate) fn give_back(&self) {
        self.left_bytes.set(self.limit_bytes);
    }
}

/// A cursor that reads forward through `bytes`, which begin at offset `base` of their file.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
    base: u64,
    budget: &'a Budget,
}

/// Masks for eight bytes of varints: the payload bits, and the flags that mean that another byte
/// follows.
const PAYLOAD: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const FLAGS: u64 = !PAYLOAD;

impl<'a> Cursor<'a> {
    pub(crate) const fn new(bytes: &'a [u8], base: u64, budget: &'a Budget) -> Self {
        Self { bytes, position: 0, base, budget }
    }

    /// Returns the error "`reason` at the current position".
    pub(crate) fn damage(&self, reason: impl Into<String>) -> Damage {
        Damage::at(self.base + self.position as u64, reason)
    }

    /// Charges memory for `count` values of eight bytes.
    pub(crate) fn charge(&self, count: usize, what: &str) -> Result<(), Damage> {
        self.charge_bytes((count as u64).saturating_mul(8), what)
    }

    /// Charges memory.
    pub(crate) fn charge_bytes(&self, bytes: u64, what: &str) -> Result<(), Damage> {
        let Some(left) = self.budget.left_bytes.get().checked_sub(bytes) else {
            let limit = self.budget.limit_bytes;
            let reason = format!("{what}: {bytes} bytes more than are left of {limit}");
            return Err(Damage { over_limit: true, ..self.damage(reason) });
        };
        self.budget.left_bytes.set(left);
        Ok(())
    }

    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Returns the bytes that have not been read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    pub(crate) fn take(&mut self, length: usize, what: &str) -> Result<&'a [u8], Damage> {
        let rest = &self.bytes[self.position..];
        let Some(taken) = rest.get(..length) else {
            return Err(
                self.damage(format!("{what} needs {length} bytes, {} are left", rest.len()))
            );
        };
        self.position += length;
        Ok(taken)
    }

    /// Returns a cursor over the next `length` bytes.
    pub(crate) fn stretch(&mut self, length: u64, what: &str) -> Result<Self, Damage> {
        let base = self.base + self.position as u64;
        let bytes = self.take(usize::try_from(length).unwrap_or(usize::MAX), what)?;
        Ok(Self::new(bytes, base, self.budget))
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Damage> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self, what: &str) -> Result<u8, Damage> {
        Ok(self.array::<1>(what)?[0])
    }

    pub(crate) fn u16(&mut self, what: &str) -> Result<u16, Damage> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u32(&mut self, what: &str) -> Result<u32, Damage> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u64(&mut self, what: &str) -> Result<u64, Damage> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// Reads a varint. Wide profiles consist mostly of varints, so eight bytes are examined at
    /// once.
    #[inline]
    pub(crate) fn varint(&mut self, what: &str) -> Result<u64, Damage> {
        if let Some(word) = self.bytes[self.position..].first_chunk::<8>() {
            let word = u64::from_le_bytes(*word);
            let last = !word & FLAGS;
            if last != 0 {
                let covered = last ^ (last - 1);
                self.position += last.trailing_zeros() as usize / 8 + 1;
                return Ok(merge_bits(word & covered & PAYLOAD));
            }
        }
        self.varint_by_bytes(what)
    }

    /// Reads varints until `values` is full.
    pub(crate) fn varints(&mut self, values: &mut [u64], what: &str) -> Result<(), Damage> {
        for value in values {
            *value = self.varint(what)?;
        }
        Ok(())
    }

    #[cold]
    fn varint_by_bytes(&mut self, what: &str) -> Result<u64, Damage> {
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
        Err(self.damage(format!("{what} does not fit 64 bits")))
    }

    /// Reads a varint that must be at most `limit`.
    pub(crate) fn count(&mut self, limit: usize, what: &str) -> Result<usize, Damage> {
        let start = self.clone();
        let value = self.varint(what)?;
        match usize::try_from(value) {
            Ok(count) if count <= limit => Ok(count),
            _ => Err(start.damage(format!("{what} is {value}, at most {limit} is possible here"))),
        }
    }

    /// Reads a varint that must fit 32 bits.
    pub(crate) fn varint_u32(&mut self, what: &str) -> Result<u32, Damage> {
        let start = self.clone();
        let value = self.varint(what)?;
        u32::try_from(value).map_err(|_| start.damage(format!("{what} is {value}: over 32 bits")))
    }

    pub(crate) fn string(&mut self, what: &str) -> Result<&'a str, Damage> {
        let length = self.count(self.remaining(), what)?;
        let start = self.clone();
        std::str::from_utf8(self.take(length, what)?)
            .map_err(|_| start.damage(format!("{what} is not UTF-8")))
    }

    /// Returns an error unless every byte has been read.
    pub(crate) fn finish(&self, what: &str) -> Result<(), Damage> {
        match self.remaining() {
            0 => Ok(()),
            more => Err(self.damage(format!("{more} bytes follow the end of {what}"))),
        }
    }
}

/// Joins eight groups of seven bits, each in its own byte.
const fn merge_bits(bytes: u64) -> u64 {
    let pairs = (bytes & 0x007f_007f_007f_007f) | ((bytes & 0x7f00_7f00_7f00_7f00) >> 1);
    let fours = (pairs & 0x0000_3fff_0000_3fff) | ((pairs & 0x3fff_0000_3fff_0000) >> 2);
    (fours & 0x0fff_ffff) | ((fours & 0x0fff_ffff_0000_0000) >> 4)
}
