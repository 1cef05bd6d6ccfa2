//! The encoding of messages: between ranks, and in a section of the part.
//!
//! In a message between ranks, each record is its key, count and bytes, 8 bytes each.
//!
//! A section holds all messages of one callpath. Keys ascend by kind, partner and size class, and
//! the ranks of each key ascend too. Partners are relative to the rank, so ranks that do the same
//! make columns of equal numbers:
//!
//! ```text
//! keys (a varint)
//! kinds | partners (zigzag) | size classes | number of ranks               one number for each key
//! gaps: rank in the part, minus the one after the rank before   one for each rank of each key
//! counts | bytes / count | bytes % count
//! ```

use std::collections::BTreeMap;

use crate::bytes::{Cursor, Malformed, Sink, column};
use crate::model::{CallpathValues, MessageKey, MessageKind, Traffic};

/// One record of a callpath.
pub(super) type Record = (MessageKey, Traffic);

/// The length of a record in a message between ranks, in bytes.
pub(super) const RECORD_BYTES: usize = 24;

/// The memory of a rank's map of messages with one record: a node has room for eleven.
const MAP_BYTES: usize = 11 * size_of::<Record>() + 16;

/// The most memory of each further record, as nodes are at least half full and have parents.
const ENTRY_BYTES: usize = 3 * size_of::<Record>();

/// Returns the messages of a rank at one callpath, in the order of their keys.
pub(super) fn encode(messages: &BTreeMap<MessageKey, Traffic>) -> Vec<Record> {
    messages.iter().map(|(&key, &traffic)| (key, traffic)).collect()
}

pub(super) fn write_record(sink: &mut Sink, &(key, traffic): &Record) {
    [key.to_bits(), traffic.count, traffic.bytes].iter().for_each(|&word| sink.u64(word));
}

pub(super) fn read_record(cursor: &mut Cursor<'_>) -> Result<Record, Malformed> {
    let start = cursor.clone();
    let key = cursor.u64("the key of a message")?;
    let count = cursor.u64("a number of messages")?;
    let bytes = cursor.u64("the bytes of messages")?;
    let key = MessageKey::from_bits(key)
        .ok_or_else(|| start.malformed(format!("{key:#x} is no key of a message")))?;
    Ok((key, Traffic { count, bytes }))
}

/// Encodes the section of a callpath: the messages of each rank of the part; none if no rank has
/// any.
pub(super) fn encode_section(ranks: &[&[Record]]) -> Option<Vec<u8>> {
    let mut keys: BTreeMap<MessageKey, Vec<(u64, Traffic)>> = BTreeMap::new();
    for (rank, records) in (0..).zip(ranks) {
        for &(key, traffic) in *records {
            keys.entry(key).or_default().push((rank, traffic));
        }
    }
    if keys.is_empty() {
        return None;
    }
    let mut sink = Sink::default();
    sink.varint(keys.len() as u64);
    let mut write = |numbers: Vec<u64>| column::write_u64(&mut sink, &numbers);
    write(keys.keys().map(|key| key.kind as u64).collect());
    write(keys.keys().map(|key| zigzag(key.partner)).collect());
    write(keys.keys().map(|key| u64::from(key.size_class)).collect());
    write(keys.values().map(|ranks| ranks.len() as u64).collect());
    let gaps = keys.values().flat_map(|ranks| {
        let before = [0].into_iter().chain(ranks.iter().map(|(rank, _)| rank + 1));
        ranks.iter().zip(before).map(|((rank, _), next)| rank - next)
    });
    write(gaps.collect());
    let traffic = || keys.values().flatten().map(|(_, traffic)| traffic);
    write(traffic().map(|t| t.count).collect());
    write(traffic().map(|t| t.bytes.checked_div(t.count).unwrap_or(t.bytes)).collect());
    write(traffic().map(|t| t.bytes.checked_rem(t.count).unwrap_or(0)).collect());
    Some(sink.into_vec())
}

/// Adds the messages of a section to the values of the part's ranks.
pub(super) fn decode_section(
    cursor: &mut Cursor<'_>,
    ranks: &mut [CallpathValues],
) -> Result<(), Malformed> {
    let start = cursor.clone();
    let count = cursor.count(column::MAX_VALUES, "the number of message keys")?;
    let kinds = column::read_u64(cursor, count, "the kinds of messages")?;
    let partners = column::read_u64(cursor, count, "the partners of messages")?;
    let classes = column::read_u64(cursor, count, "the size classes of messages")?;
    let of_key = column::read_u64(cursor, count, "the ranks of message keys")?;
    let total = of_key.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n));
    let total = total.and_then(|n| usize::try_from(n).ok()).filter(|&n| n <= column::MAX_VALUES);
    let Some(total) = total else {
        return Err(start.malformed("message keys claim more ranks than can be"));
    };
    let gaps = column::read_u64(cursor, total, "the ranks of messages")?;
    let counts = column::read_u64(cursor, total, "the numbers of messages")?;
    let means = column::read_u64(cursor, total, "the bytes of messages")?;
    let rests = column::read_u64(cursor, total, "the rests of the bytes of messages")?;
    let mut at = 0;
    let mut before: Option<MessageKey> = None;
    for index in 0..count {
        let key = key(kinds[index], partners[index], classes[index])
            .ok_or_else(|| start.malformed("the key of a message is not a key"))?;
        if before.is_some_and(|before| before >= key) || of_key[index] == 0 {
            return Err(start.malformed("the keys of messages are not in ascending order"));
        }
        before = Some(key);
        let mut next = 0_u64;
        for _ in 0..of_key[index] {
            let rank = next.checked_add(gaps[at]).and_then(|rank| usize::try_from(rank).ok());
            let Some(values) = rank.and_then(|rank| ranks.get_mut(rank)) else {
                return Err(start.malformed("a message is of a rank that the part does not have"));
            };
            next += gaps[at] + 1;
            let bytes =
                if counts[at] == 0 { Some(means[at]) } else { means[at].checked_mul(counts[at]) };
            let bytes = bytes.and_then(|bytes| bytes.checked_add(rests[at]));
            let Some(bytes) = bytes else {
                return Err(start.malformed("the bytes of messages do not fit 64 bits"));
            };
            let memory = if values.messages.is_empty() { MAP_BYTES } else { ENTRY_BYTES };
            cursor.claim_kept(1, memory, "the messages")?;
            values.messages.insert(key, Traffic { count: counts[at], bytes });
            at += 1;
        }
    }
    Ok(())
}

fn key(kind: u64, partner: u64, size_class: u64) -> Option<MessageKey> {
    let kind = MessageKind::from_number(u8::try_from(kind).ok()?)?;
    let partner = un_zigzag(partner)?;
    let size_class = u8::try_from(size_class).ok()?;
    (size_class < MessageKey::SIZE_CLASSES).then_some(MessageKey { kind, partner, size_class })
}

/// Returns a small number for a number near 0 of either sign: 0, -1, 1, -2 become 0, 1, 2, 3.
fn zigzag(number: i32) -> u64 {
    u64::from(((number << 1) ^ (number >> 31)).cast_unsigned())
}

fn un_zigzag(number: u64) -> Option<i32> {
    let number = u32::try_from(number).ok()?;
    Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
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
        Ok(values.into_iter().map(|values| values.messages.into_iter().collect()).collect())
    }

    fn records() -> impl Strategy<Value = Vec<Record>> {
        let record = (0_u8..8, -3..3_i32, any::<u32>(), 0..100_u64).prop_map(
            |(kind, partner, size, count)| {
                let size = u64::from(size);
                let key = MessageKey::new(MessageKind::from_number(kind).unwrap(), partner, size);
                (key, Traffic { count, bytes: count * size })
            },
        );
        proptest::collection::vec(record, 0..12).prop_map(|records| {
            records.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect()
        })
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(ranks in proptest::collection::vec(records(), 0..6)) {
            let slices: Vec<&[Record]> = ranks.iter().map(Vec::as_slice).collect();
            match encode_section(&slices) {
                Some(section) => prop_assert_eq!(decoded(&section, ranks.len()).unwrap(), ranks),
                None => prop_assert!(ranks.iter().all(Vec::is_empty)),
            }
        }

        #[test]
        fn small_numbers_of_either_sign_are_small(number: i32) {
            prop_assert_eq!(un_zigzag(zigzag(number)), Some(number));
        }
    }

    #[test]
    fn ranks_that_do_the_same_cost_no_more_than_one() {
        let record = |kind, partner| {
            (MessageKey::new(kind, partner, 8000), Traffic { count: 1000, bytes: 8_000_000 })
        };
        let one = [record(MessageKind::MessageOut, 1), record(MessageKind::MessageIn, -1)];
        let ranks: Vec<&[Record]> = vec![&one; 4096];
        let section = encode_section(&ranks).unwrap();
        assert!(section.len() < 50, "{} bytes", section.len());
        assert_eq!(decoded(&section, 4096).unwrap()[4095], one);
    }

    #[test]
    fn a_hostile_section_is_an_error() {
        let check = |section: &[u8], expected: &str| {
            let error = decoded(section, 2).expect_err("a hostile section");
            assert!(error.reason.contains(expected), "{error:?}");
        };
        let key = MessageKey::new(MessageKind::FileIn, 0, 9);
        let one = [(key, Traffic { count: 3, bytes: 28 })];
        let good = encode_section(&[&one, &one]).unwrap();
        for cut in 0..good.len() {
            assert!(decoded(&good[..cut], 2).is_err(), "cut at {cut}");
        }
        assert!(decoded(&good, 1).is_err(), "more ranks than the part has");
        let constant = |n: u8| [0, n];
        let columns = |kind, partner, class, ranks, gap, count: u8| {
            let columns = [kind, partner, class, ranks, gap, count, 0, 0].map(constant);
            [&[1][..], columns.as_flattened()].concat()
        };
        check(&columns(8, 0, 0, 1, 0, 1), "not a key");
        check(&columns(0, 0, 65, 1, 0, 1), "not a key");
        check(&columns(0, 0, 0, 0, 0, 1), "ascending");
        check(&columns(0, 0, 0, 1, 2, 1), "a rank");
        assert!(decoded(&columns(0, 0, 0, 1, 1, 1), 2).is_ok());
    }
}
