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
//! kinds | partners (zigzag) | size classes                         one number for each key
//! ranks of each key | gaps                                         see `keys.rs`
//! counts | bytes / count | bytes % count
//! ```

use std::collections::BTreeMap;

use super::keys::{self, zigzag};
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
    let by_key = keys::by_key(ranks);
    if by_key.is_empty() {
        return None;
    }
    let mut sink = Sink::default();
    sink.varint(by_key.len() as u64);
    let mut write = |of: fn(&MessageKey) -> u64| {
        column::write_u64(&mut sink, &by_key.keys().map(of).collect::<Vec<_>>());
    };
    write(|key| key.kind as u64);
    write(|key| zigzag(key.partner.into()));
    write(|key| key.size_class.into());
    keys::write_ranks(&mut sink, &by_key);
    let mut write = |of: fn(&Traffic) -> u64| {
        let traffic = by_key.values().flatten().map(|(_, traffic)| of(traffic));
        column::write_u64(&mut sink, &traffic.collect::<Vec<_>>());
    };
    write(|t| t.count);
    write(|t| t.bytes.checked_div(t.count).unwrap_or(t.bytes));
    write(|t| t.bytes.checked_rem(t.count).unwrap_or(0));
    Some(sink.into_vec())
}

/// Adds the messages of a section to the values of the part's ranks.
pub(super) fn decode_section(
    cursor: &mut Cursor<'_>,
    ranks: &mut [CallpathValues],
) -> Result<(), Malformed> {
    let start = cursor.clone();
    let keys = read_keys(cursor)?;
    let positions = keys::read_ranks(cursor, keys.len(), ranks.len(), "messages")?;
    let mut column = |what| column::read_u64(cursor, positions.len(), what);
    let counts = column("the numbers of messages")?;
    let means = column("the bytes of messages")?;
    let rests = column("the rests of the bytes of messages")?;
    for (at, position) in positions.iter().enumerate() {
        let count = counts[at];
        let bytes = means[at].checked_mul(count.max(1)).and_then(|b| b.checked_add(rests[at]));
        let Some(bytes) = bytes else {
            return Err(start.malformed("the bytes of messages do not fit 64 bits"));
        };
        let values = &mut ranks[position.rank];
        let memory = if values.messages.is_empty() { MAP_BYTES } else { ENTRY_BYTES };
        cursor.claim_kept(1, memory, "the messages")?;
        values.messages.insert(keys[position.key], Traffic { count, bytes });
    }
    Ok(())
}

fn read_keys(cursor: &mut Cursor<'_>) -> Result<Vec<MessageKey>, Malformed> {
    let start = cursor.clone();
    let count = cursor.count(column::MAX_VALUES, "the number of message keys")?;
    let kinds = column::read_u64(cursor, count, "the kinds of messages")?;
    let partners = keys::read_partners(cursor, count, "the partners of messages")?;
    let classes = column::read_u64(cursor, count, "the size classes of messages")?;
    cursor.claim_temporary(count, size_of::<MessageKey>(), "the keys of messages")?;
    let keys = kinds.into_iter().zip(partners).zip(classes);
    let keys: Option<Vec<_>> = keys.map(|((kind, at), class)| key(kind, at, class)).collect();
    let keys = keys.ok_or_else(|| start.malformed("the key of a message is not a key"))?;
    keys::check_ascending(&keys, &start, "messages")?;
    Ok(keys)
}

fn key(kind: u64, partner: i32, size_class: u64) -> Option<MessageKey> {
    let kind = MessageKind::from_number(u8::try_from(kind).ok()?)?;
    let size_class = u8::try_from(size_class).ok()?;
    (size_class < MessageKey::SIZE_CLASSES).then_some(MessageKey { kind, partner, size_class })
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
        check(&columns(0, 0, 0, 0, 0, 1), "without ranks");
        check(&columns(0, 0, 0, 1, 2, 1), "a rank");
        assert!(decoded(&columns(0, 0, 0, 1, 1, 1), 2).is_ok());
    }
}
