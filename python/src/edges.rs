//! The section of the edges that end at a callpath.

use crate::cursor::{Cursor, Damage};
use crate::keys::{self, un_zigzag};

/// The number of kinds of edges.
const KINDS: u64 = 9;
/// The kinds below this have no partner, and their times are not waiting.
const FIRST_THAT_WAITS: u64 = 2;

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

/// Adds the edges of a section.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    first_rank: u32,
    ranks: usize,
    to: &mut Edges,
) -> Result<(), Damage> {
    let start = cursor.clone();
    let keys = keys::count(cursor)?;
    let kinds = keys::integers(cursor, keys, "the kinds of edges")?;
    let partners = keys::partners(cursor, keys)?;
    let origins = keys::integers(cursor, keys, "the origins of edges")?;
    if kinds.iter().any(|&kind| kind >= KINDS) {
        return Err(start.damage("an edge is of no kind"));
    }
    let key = |at: usize| (kinds[at], partners[at], origins[at]);
    if (1..keys).any(|at| key(at - 1) >= key(at)) {
        return Err(start.damage("the keys of edges are not in ascending order"));
    }
    let places = keys::ranks(cursor, keys, first_rank, ranks)?;
    let mut columns: [Vec<u64>; 12] = Default::default();
    for column in &mut columns {
        *column = keys::integers(cursor, places.len(), "a number of edges")?;
    }
    // Four columns of four bytes, and eleven of eight.
    start.charge(places.len().saturating_mul(13), "the edges")?;
    for (at, &(key, rank)) in places.iter().enumerate() {
        let row = columns.each_ref().map(|column| column[at]);
        if !to.numbers.push(kinds[key] >= FIRST_THAT_WAITS, row) {
            return Err(start.damage("a number of an edge is above its limit"));
        }
        to.ranks.push(rank);
        to.kinds.push(u32::try_from(kinds[key]).unwrap_or(u32::MAX));
        to.partners.push(partners[key]);
        to.origins.push(origins[key]);
    }
    cursor.finish("a section")
}

impl Numbers {
    /// Adds an edge with these numbers of a section. Returns false if one is above its limit.
    fn push(&mut self, waits: bool, row: [u64; 12]) -> bool {
        let [count, mean_bytes, remainder, sum, below, above, squares, compensated, ..] = row;
        let [.., transfer, wrong_order, late_receiver, order] = row;
        let divisor = count.max(1);
        let bytes = mean_bytes.checked_mul(divisor).and_then(|b| b.checked_add(remainder));
        let (Some(bytes), Ok(order)) = (bytes, u32::try_from(order)) else { return false };
        let mean = sum / divisor;
        let expected = if waits { sum } else { 0 };
        self.counts.push(count);
        self.bytes.push(bytes);
        self.sums.push(sum);
        self.minima.push(mean.wrapping_sub(below));
        self.maxima.push(mean.wrapping_add(above));
        let of_equals = sum as f64 * (sum as f64 / divisor as f64);
        let bits = of_equals.to_bits().wrapping_add_signed(un_zigzag(squares));
        self.squares.push(f64::from_bits(bits));
        self.compensated.push(expected.wrapping_add_signed(un_zigzag(compensated)));
        self.transfers.push(transfer);
        self.wrong_orders.push(wrong_order);
        self.late_receivers.push(late_receiver);
        self.orders.push(order);
        true
    }
}
