//! The encoding of edges: between ranks, and in a section of the part.
//!
//! In a message between ranks, each record is its key in two numbers and twelve numbers, 8 bytes
//! each.
//!
//! A section holds all edges of one callpath. Keys ascend by kind, partner and origin, the id of
//! the callpath that the edge comes from. What can be derived is stored as the difference to that,
//! so that ranks that do the same make columns of equal numbers:
//!
//! ```text
//! keys (a varint)
//! kinds | partners (zigzag) | origins                              one number for each key
//! ranks of each key | gaps                                         see `keys.rs`
//! counts | bytes / count | bytes % count | sums
//! sum / count - minimum | maximum - sum / count
//! squares (zigzag): bits of the float, minus those of sum * (sum / count)
//! compensated (zigzag): minus the sum, if the kind waits
//! transfers | wrong orders | late receivers | orders
//! ```
//!
//! A count of 0 divides as 1. Differences wrap around.

use std::collections::BTreeMap;

use super::keys::{self, un_zigzag, zigzag};
use crate::bytes::{Cursor, Malformed, Sink, column};
use crate::model::{CallpathId, CallpathValues, Edge, EdgeKey, EdgeKind};

/// One record of a callpath.
pub(super) type Record = (EdgeKey, Edge);

/// The numbers of a record in a message between ranks.
const RECORD_WORDS: usize = 13;

/// The length of a record in a message between ranks, in bytes.
pub(super) const RECORD_BYTES: usize = RECORD_WORDS * 8;

/// The memory of a rank's map of edges with one record: a node has room for eleven.
const MAP_BYTES: usize = 11 * size_of::<Record>() + 16;

/// The most memory of each further record, as nodes are at least half full and have parents.
const ENTRY_BYTES: usize = 3 * size_of::<Record>();

/// Returns the edges of a rank to one callpath, in the order of their keys.
pub(super) fn encode(edges: &BTreeMap<EdgeKey, Edge>) -> Vec<Record> {
    edges.iter().map(|(&key, &edge)| (key, edge)).collect()
}

pub(super) fn write_record(sink: &mut Sink, (key, edge): &Record) {
    let words: [u64; RECORD_WORDS] = [
        key.to_bits(),
        key.from.to_bits(),
        edge.count,
        edge.bytes,
        edge.sum_ns,
        edge.min_ns,
        edge.max_ns,
        edge.sum_squares_ns2.to_bits(),
        edge.compensated_ns,
        edge.transfer_ns,
        edge.wrong_order_ns,
        edge.late_receiver_ns,
        edge.order.into(),
    ];
    words.iter().for_each(|&word| sink.u64(word));
}

pub(super) fn read_record(cursor: &mut Cursor<'_>) -> Result<Record, Malformed> {
    let start = cursor.clone();
    let mut words = [0; RECORD_WORDS];
    for word in &mut words {
        *word = cursor.u64("an edge")?;
    }
    let key = EdgeKey::from_bits(words[0], CallpathId::from_bits(words[1]));
    let edge = Edge {
        count: words[2],
        bytes: words[3],
        sum_ns: words[4],
        min_ns: words[5],
        max_ns: words[6],
        sum_squares_ns2: f64::from_bits(words[7]),
        compensated_ns: words[8],
        transfer_ns: words[9],
        wrong_order_ns: words[10],
        late_receiver_ns: words[11],
        order: order(words[12], &start)?,
    };
    let key =
        key.ok_or_else(|| start.malformed(format!("{:#x} is no key of an edge", words[0])))?;
    Ok((key, edge))
}

fn order(number: u64, cursor: &Cursor<'_>) -> Result<u32, Malformed> {
    u32::try_from(number).map_err(|_| cursor.malformed("the order of an edge does not fit 32 bits"))
}

/// The columns of the values, in their order.
const COLUMNS: [&str; 12] = [
    "the counts of edges",
    "the bytes of edges",
    "the rests of the bytes of edges",
    "the times of edges",
    "the minima of edges",
    "the maxima of edges",
    "the squares of edges",
    "the compensated times of edges",
    "the transfers of edges",
    "the wrong orders of edges",
    "the late receivers of edges",
    "the orders of edges",
];

/// The numbers of an edge in the columns of a section.
type Row = [u64; COLUMNS.len()];

fn to_row(kind: EdgeKind, edge: &Edge) -> Row {
    let count = edge.count.max(1);
    let mean = edge.sum_ns / count;
    let squares = edge.sum_squares_ns2.to_bits();
    let squares = squares.wrapping_sub(squares_of_equals(edge.sum_ns, count)).cast_signed();
    let compensated = edge.compensated_ns.wrapping_sub(expected_ns(kind, edge.sum_ns));
    [
        edge.count,
        edge.bytes / count,
        edge.bytes % count,
        edge.sum_ns,
        mean.wrapping_sub(edge.min_ns),
        edge.max_ns.wrapping_sub(mean),
        zigzag(squares),
        zigzag(compensated.cast_signed()),
        edge.transfer_ns,
        edge.wrong_order_ns,
        edge.late_receiver_ns,
        edge.order.into(),
    ]
}

/// Returns the edge with these numbers, or `None` if one of them does not fit.
fn from_row(kind: EdgeKind, row: &Row) -> Option<Edge> {
    let [count, bytes, rest, sum_ns, below, above, squares, compensated, ..] = *row;
    let [.., transfer_ns, wrong_order_ns, late_receiver_ns, order] = *row;
    let mean = sum_ns / count.max(1);
    let squares = squares_of_equals(sum_ns, count.max(1)).wrapping_add_signed(un_zigzag(squares));
    Some(Edge {
        count,
        bytes: bytes.checked_mul(count.max(1))?.checked_add(rest)?,
        sum_ns,
        min_ns: mean.wrapping_sub(below),
        max_ns: mean.wrapping_add(above),
        sum_squares_ns2: f64::from_bits(squares),
        compensated_ns: expected_ns(kind, sum_ns).wrapping_add_signed(un_zigzag(compensated)),
        transfer_ns,
        wrong_order_ns,
        late_receiver_ns,
        order: u32::try_from(order).ok()?,
    })
}

/// Returns the sum of the squares of `count` equal times, as bits of a float.
#[expect(clippy::cast_precision_loss, reason = "squares are statistics: 53 bits are plenty")]
fn squares_of_equals(sum_ns: u64, count: u64) -> u64 {
    (sum_ns as f64 * (sum_ns as f64 / count as f64)).to_bits()
}

/// Returns the compensated time where measuring has changed nothing.
const fn expected_ns(kind: EdgeKind, sum_ns: u64) -> u64 {
    if kind.waits() { sum_ns } else { 0 }
}

/// Encodes the section of a callpath: the edges of each rank of the part; none if no rank has any.
pub(super) fn encode_section(ranks: &[&[Record]]) -> Option<Vec<u8>> {
    let by_key = keys::by_key(ranks);
    if by_key.is_empty() {
        return None;
    }
    let mut sink = Sink::default();
    sink.varint(by_key.len() as u64);
    let mut write = |of: fn(&EdgeKey) -> u64| {
        column::write_u64(&mut sink, &by_key.keys().map(of).collect::<Vec<_>>());
    };
    write(|key| key.kind as u64);
    write(|key| zigzag(key.partner.into()));
    write(|key| key.from.to_bits());
    keys::write_ranks(&mut sink, &by_key);
    let of_keys =
        by_key.iter().flat_map(|(key, ranks)| ranks.iter().map(move |(_, edge)| (key, edge)));
    let rows: Vec<Row> = of_keys.map(|(key, edge)| to_row(key.kind, edge)).collect();
    for column in 0..COLUMNS.len() {
        column::write_u64(&mut sink, &rows.iter().map(|row| row[column]).collect::<Vec<_>>());
    }
    Some(sink.into_vec())
}

/// Adds the edges of a section to the values of the part's ranks.
pub(super) fn decode_section(
    cursor: &mut Cursor<'_>,
    ranks: &mut [CallpathValues],
) -> Result<(), Malformed> {
    let start = cursor.clone();
    let keys = read_keys(cursor)?;
    let positions = keys::read_ranks(cursor, keys.len(), ranks.len(), "edges")?;
    cursor.claim_temporary(positions.len(), size_of::<Row>(), "the edges")?;
    let mut rows: Vec<Row> = vec![Row::default(); positions.len()];
    for (number, what) in COLUMNS.iter().enumerate() {
        let column = cursor.passing(|cursor| column::read_u64(cursor, positions.len(), what))?;
        rows.iter_mut().zip(column).for_each(|(row, value)| row[number] = value);
    }
    for (position, row) in positions.iter().zip(&rows) {
        let key = keys[position.key];
        let edge = from_row(key.kind, row)
            .ok_or_else(|| start.malformed("a number of an edge does not fit"))?;
        let values = &mut ranks[position.rank];
        let memory = if values.edges.is_empty() { MAP_BYTES } else { ENTRY_BYTES };
        cursor.claim_kept(1, memory, "the edges")?;
        values.edges.insert(key, edge);
    }
    Ok(())
}

fn read_keys(cursor: &mut Cursor<'_>) -> Result<Vec<EdgeKey>, Malformed> {
    let start = cursor.clone();
    let count = cursor.count(column::MAX_VALUES, "the number of edge keys")?;
    let kinds = column::read_u64(cursor, count, "the kinds of edges")?;
    let partners = keys::read_partners(cursor, count, "the partners of edges")?;
    let origins = column::read_u64(cursor, count, "the origins of edges")?;
    cursor.claim_temporary(count, size_of::<EdgeKey>(), "the keys of edges")?;
    let keys = kinds.into_iter().zip(partners).zip(origins).map(|((kind, partner), from)| {
        let kind = EdgeKind::from_number(u8::try_from(kind).ok()?)?;
        Some(EdgeKey { kind, partner, from: CallpathId::from_bits(from) })
    });
    let keys: Option<Vec<_>> = keys.collect();
    let keys = keys.ok_or_else(|| start.malformed("the kind of an edge is none"))?;
    keys::check_ascending(&keys, &start, "edges")?;
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(section: &[u8], ranks: usize) -> Result<Vec<Vec<Record>>, Malformed> {
        let mut cursor = Cursor::new(section, 0);
        let mut values = vec![CallpathValues::default(); ranks];
        decode_section(&mut cursor, &mut values)?;
        cursor.finish("the section")?;
        Ok(values.into_iter().map(|values| values.edges.into_iter().collect()).collect())
    }

    /// Generates any edge: the record of a killed thread need not make sense.
    fn edge() -> impl Strategy<Value = Edge> {
        let numbers = prop::array::uniform9(prop_oneof![0..9_u64, any::<u64>()]);
        let squares = prop::num::f64::ANY.prop_filter("equal to itself", |float| !float.is_nan());
        (numbers, squares, any::<u32>()).prop_map(|(n, sum_squares_ns2, order)| Edge {
            count: n[0],
            bytes: n[1],
            sum_ns: n[2],
            min_ns: n[3],
            max_ns: n[4],
            sum_squares_ns2,
            compensated_ns: n[5],
            transfer_ns: n[6],
            wrong_order_ns: n[7],
            late_receiver_ns: n[8],
            order,
        })
    }

    fn records() -> impl Strategy<Value = Vec<Record>> {
        let partner = prop_oneof![3 => -2..2_i32, 1 => any::<i32>()];
        let key = (prop::sample::select(&EdgeKind::ALL[..]), partner, 0..3_u64).prop_map(
            |(kind, partner, from)| EdgeKey { kind, partner, from: CallpathId::from_bits(from) },
        );
        prop::collection::btree_map(key, edge(), 0..12)
            .prop_map(|records| records.into_iter().collect())
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(ranks in prop::collection::vec(records(), 0..6)) {
            let slices: Vec<&[Record]> = ranks.iter().map(Vec::as_slice).collect();
            match encode_section(&slices) {
                Some(section) => prop_assert_eq!(decoded(&section, ranks.len()).unwrap(), ranks),
                None => prop_assert!(ranks.iter().all(Vec::is_empty)),
            }
        }
    }

    const FROM: CallpathId = CallpathId::from_bits(0x1234_5678_9abc_def0);

    fn key(kind: EdgeKind, partner: i32) -> EdgeKey {
        EdgeKey { kind, partner, from: FROM }
    }

    #[test]
    fn ranks_that_do_the_same_cost_no_more_than_one() {
        let edge = |ns| {
            let mut edge = Edge { bytes: 8_000, ..Edge::of_one_instance(ns) };
            (0..999).for_each(|_| edge.absorb(&Edge { bytes: 8_000, ..Edge::of_one_instance(ns) }));
            Edge { compensated_ns: edge.sum_ns, transfer_ns: 5_000, ..edge }
        };
        let one = [(key(EdgeKind::Flow, 0), edge(700)), (key(EdgeKind::Message, -1), edge(90))];
        let ranks: Vec<&[Record]> = vec![&one; 4096];
        let section = encode_section(&ranks).unwrap();
        let of_one = encode_section(&ranks[..1]).unwrap();
        assert_eq!(decoded(&section, 4096).unwrap()[4095], one);
        assert!(section.len() < of_one.len() + 300, "{}, {}", section.len(), of_one.len());
        let equal = encode_section(&vec![&one[..1]; 4096]).unwrap();
        assert_eq!(equal.len(), encode_section(&[&one[..1]]).unwrap().len() + 1);
    }

    #[test]
    fn a_hostile_section_is_an_error() {
        let check = |section: &[u8], expected: &str| {
            let error = decoded(section, 2).expect_err("a hostile section");
            assert!(error.reason.contains(expected), "{error:?}");
        };
        let one = [(key(EdgeKind::Scan, 9), Edge::of_one_instance(28))];
        let good = encode_section(&[&one, &one]).unwrap();
        for cut in 0..good.len() {
            assert!(decoded(&good[..cut], 2).is_err(), "cut at {cut}");
        }
        assert!(decoded(&good, 1).is_err(), "more ranks than the part has");
        let constant = |n: u8| [0, n];
        let columns = |kind, ranks, gap, numbers: [u8; COLUMNS.len()]| {
            let keys = [kind, 0, 7, ranks, gap].map(constant);
            [&[1][..], keys.as_flattened(), numbers.map(constant).as_flattened()].concat()
        };
        let zeros = [0; COLUMNS.len()];
        assert!(decoded(&columns(8, 1, 1, zeros), 2).is_ok());
        check(&columns(9, 1, 1, zeros), "kind");
        check(&columns(0, 0, 1, zeros), "without ranks");
        check(&columns(0, 1, 2, zeros), "a rank");
        let two_keys = [&[2][..], [0, 0, 7, 1, 0].map(constant).as_flattened()].concat();
        check(&[&two_keys[..], zeros.map(constant).as_flattened()].concat(), "ascending");
        // A partner and an order of 2^32, and bytes of 2^64.
        let large = |at: usize, columns: Vec<u8>| {
            let varint = [0x80, 0x80, 0x80, 0x80, 0x10];
            [&columns[..1 + 2 * at], &[0], &varint, &columns[3 + 2 * at..]].concat()
        };
        check(&large(1, columns(0, 1, 0, zeros)), "fit 32 bits");
        check(&large(16, columns(0, 1, 0, zeros)), "does not fit");
        check(&large(5, large(6, columns(0, 1, 0, zeros))), "does not fit");
    }
}
