//! Ends of messages as numbers in a bin, behind callpath and gap.
//!
//! ```text
//! bytes * 2, + 1 at the receiver | partner | communicator | tag | number
//! ```
//!
//! Partner, tag and number are zigzag: they may be below 0. The number counts from that of the
//! message before in the bin.

use tinyprof_segment::words::{un_zigzag, zigzag};
use tinyprof_vocabulary::MessageEnd;

use crate::bin::{Bin, word};
use crate::varint;

/// The most bytes that it takes.
pub(crate) const BYTES_MAX: u32 = 8 + 5 + 5 + 5 + 8;

/// Returns a message as numbers, behind the one with number `before`.
#[inline(always)]
pub(crate) fn numbers(message: &MessageEnd, before: u64) -> [u64; 5] {
    [
        message.bytes.saturating_mul(2) | u64::from(message.is_receive),
        zigzag(message.partner.into()),
        message.communicator.into(),
        zigzag(message.tag.into()),
        zigzag(message.number.wrapping_sub(before).cast_signed()),
    ]
}

/// Appends a message. Returns where the next bytes go.
pub(crate) fn append(bin: Bin<'_>, at: u32, message: &MessageEnd) -> u32 {
    let numbers = numbers(message, bin.get(word::NUMBER)).map(varint::encode);
    bin.set_number(message.number);
    numbers.iter().fold(at, |at, part| bin.append(at, part.0, part.1))
}

/// Returns the message that these numbers are, behind the one with number `before`; `None` if they
/// are none.
pub(crate) fn decode(mut next: impl FnMut() -> Option<u64>, before: u64) -> Option<MessageEnd> {
    let size = next()?;
    Some(MessageEnd {
        is_receive: size & 1 != 0,
        bytes: size >> 1,
        partner: i32::try_from(un_zigzag(next()?)).ok()?,
        communicator: u32::try_from(next()?).ok()?,
        tag: i32::try_from(un_zigzag(next()?)).ok()?,
        number: before.wrapping_add_signed(un_zigzag(next()?)),
    })
}
