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

/// Appends a message behind `head`, its callpath and the gap before it. Returns where the next
/// bytes go.
#[inline(never)]
#[expect(clippy::cast_possible_truncation, reason = "two halves")]
pub(crate) fn append(bin: Bin<'_>, at: u32, head: [(u64, u32); 2], message: &MessageEnd) -> u32 {
    let before = bin.get(word::NUMBER);
    bin.set_number(message.number);
    let tail = [
        message.bytes.saturating_mul(2) | u64::from(message.is_receive),
        zigzag(message.partner.into()),
        message.communicator.into(),
        zigzag(message.tag.into()),
        zigzag(message.number.wrapping_sub(before).cast_signed()),
    ];
    let tail = tail.map(varint::encode);
    let count = head.iter().chain(&tail).map(|part| part.1).sum::<u32>();
    if count > 16 {
        return head.iter().chain(&tail).fold(at, |at, part| bin.append(at, part.0, part.1));
    }
    // Most take two steps: each part on its own would take as long as all of the rest.
    let (mut all, mut bits) = (0_u128, 0);
    for (bytes, count) in head.iter().chain(&tail) {
        all |= u128::from(*bytes) << bits;
        bits += 8 * count;
    }
    let [low, high] = [all, all >> 64].map(|half| half as u64);
    let at = bin.append(at, low, count.min(8));
    if count > 8 { bin.append(at, high, count - 8) } else { at }
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
