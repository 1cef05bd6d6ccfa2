//! The edges that end at a callpath.

use crate::keys::{Key, un_zigzag};
use crate::messages;

/// The number of kinds of edges.
pub(crate) const KINDS: u64 = 14;
/// The kinds below this have no partner, and their times are not waiting.
const FIRST_THAT_WAITS: u64 = 2;
/// The kinds of edges of messages, from one source and from any.
const OF_MESSAGES: [u64; 2] = [2, 3];
/// The largest code of a distance of squares.
const CODE_MAX: u64 = 0x7f7f;

/// The edges to a callpath, part by part, and in each part key by key.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    pub(crate) ranks: Vec<u32>,
    pub(crate) kinds: Vec<u32>,
    /// The partners relative to the rank.
    pub(crate) partners: Vec<i32>,
    /// The ids of the callpaths that the edges come from.
    pub(crate) origins: Vec<u64>,
    pub(crate) numbers: Numbers,
}

/// The columns of numbers, by name.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) counts: Vec<u64>,
    pub(crate) bytes: Vec<u64>,
    pub(crate) sums: Vec<u64>,
    pub(crate) minima: Vec<u64>,
    pub(crate) maxima: Vec<u64>,
    pub(crate) squares: Vec<f64>,
    pub(crate) compensated: Vec<u64>,
    pub(crate) transfers: Vec<u64>,
    pub(crate) wrong_orders: Vec<u64>,
    pub(crate) late_receivers: Vec<u64>,
    pub(crate) orders: Vec<u32>,
}

/// The messages that a callpath got from the partner of an edge: their count and bytes.
pub(crate) type Received = Option<(u64, u64)>;

impl Edges {
    /// Adds an edge with these numbers of a section. Returns false if one is above its limit.
    pub(crate) fn push(
        &mut self,
        (rank, key, origin): (u32, &Key, u64),
        row: [u64; 12],
        received: Received,
    ) -> bool {
        self.ranks.push(rank);
        self.kinds.push(u32::try_from(key.kind).unwrap_or(u32::MAX));
        self.partners.push(key.partner);
        self.origins.push(origin);
        let received = received.filter(|_| OF_MESSAGES.contains(&key.kind));
        self.numbers.push(key.kind >= FIRST_THAT_WAITS, row, received)
    }
}

impl Numbers {
    fn push(&mut self, waits: bool, row: [u64; 12], received: Received) -> bool {
        let [mut count, mut mean_bytes, mut remainder, sum, below, above, squares, compensated, ..] =
            row;
        let [.., transfer, wrong_order, late_receiver, order] = row;
        if let Some((messages, bytes)) = received.filter(|&(messages, _)| messages > 0) {
            let relative =
                |number: &mut u64, to: u64| *number = to.wrapping_add_signed(un_zigzag(*number));
            relative(&mut count, messages);
            relative(&mut mean_bytes, bytes / messages);
            relative(&mut remainder, bytes % messages);
        }
        let bytes = messages::bytes(count, mean_bytes, remainder);
        let (Some(bytes), Ok(order)) = (bytes, u32::try_from(order)) else { return false };
        let divisor = count.max(1);
        let mean = sum / divisor;
        let (minimum, maximum) = (mean.wrapping_sub(below), mean.wrapping_add(above));
        let half = maximum.wrapping_sub(minimum) as f64 / 2.0;
        let largest = code(count as f64 * (half * half)) as i64;
        let distance =
            largest.checked_sub(un_zigzag(squares)).and_then(|code| u64::try_from(code).ok());
        let Some(distance) = distance.filter(|&code| code <= CODE_MAX) else { return false };
        let of_equals = sum as f64 * (sum as f64 / divisor as f64);
        let expected = if waits { sum } else { 0 };
        self.counts.push(count);
        self.bytes.push(bytes);
        self.sums.push(sum);
        self.minima.push(minimum);
        self.maxima.push(maximum);
        self.squares.push(of_equals + f64::from(f32::from_bits((distance as u32) << 16)));
        self.compensated.push(expected.wrapping_add_signed(un_zigzag(compensated)));
        self.transfers.push(transfer);
        self.wrong_orders.push(wrong_order);
        self.late_receivers.push(late_receiver);
        self.orders.push(order);
        true
    }
}

/// Returns the code of the number of eight significant bits that is nearest to a distance.
fn code(distance: f64) -> u64 {
    if distance <= 0.0 {
        return 0;
    }
    let bits = u64::from((distance as f32).to_bits());
    let (code, rest) = (bits >> 16, bits & 0xffff);
    let is_up = rest > 0x8000 || rest == 0x8000 && code % 2 == 1;
    (code + u64::from(is_up)).min(CODE_MAX)
}
