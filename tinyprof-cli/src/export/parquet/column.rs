//! A column of the table, and how its values become bytes.

use std::collections::HashMap;

use super::thrift::push_varint;

/// Parquet's numbers for encodings.
pub(super) const PLAIN: i32 = 0;
pub(super) const RLE: i32 = 3;
pub(super) const RLE_DICTIONARY: i32 = 8;
pub(super) const BYTE_STREAM_SPLIT: i32 = 9;

pub(super) struct Column<'a> {
    pub(super) name: &'static str,
    /// Whether values may be missing.
    pub(super) is_optional: bool,
    pub(super) values: Values<'a>,
}

/// The values, none where one is missing.
pub(super) enum Values<'a> {
    Text(Vec<Option<&'a str>>),
    Whole32(Vec<Option<u32>>),
    Whole64(Vec<Option<u64>>),
    Float(Vec<Option<f64>>),
}

impl Values<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Whole32(values) => values.len(),
            Self::Whole64(values) => values.len(),
            Self::Float(values) => values.len(),
        }
    }

    /// Parquet's number for how values are stored.
    pub(super) const fn physical_type(&self) -> i32 {
        match self {
            Self::Whole32(_) => 1,
            Self::Whole64(_) => 2,
            Self::Float(_) => 5,
            Self::Text(_) => 6,
        }
    }

    /// Parquet's number for what they mean, where that is not what the storage says: UTF-8, and integers without a sign.
    pub(super) const fn converted_type(&self) -> Option<i32> {
        match self {
            Self::Text(_) => Some(0),
            Self::Whole32(_) => Some(13),
            Self::Whole64(_) => Some(14),
            Self::Float(_) => None,
        }
    }

    /// Which values are there, as runs of bits.
    pub(super) fn presence(&self) -> Vec<u8> {
        match self {
            Self::Text(values) => runs(values.iter().map(|v| v.is_some().into()), 1),
            Self::Whole32(values) => runs(values.iter().map(|v| v.is_some().into()), 1),
            Self::Whole64(values) => runs(values.iter().map(|v| v.is_some().into()), 1),
            Self::Float(values) => runs(values.iter().map(|v| v.is_some().into()), 1),
        }
    }

    /// The bytes of those that are there.
    pub(super) fn encoded(&self) -> Encoded {
        let split = |data| Encoded { encoding: BYTE_STREAM_SPLIT, data, dictionary: None };
        match self {
            Self::Text(values) => texts(values),
            Self::Whole32(values) => split(byte_streams(values.iter().flatten().map(|v| v.to_le_bytes()))),
            Self::Whole64(values) => split(byte_streams(values.iter().flatten().map(|v| v.to_le_bytes()))),
            Self::Float(values) => split(byte_streams(values.iter().flatten().map(|v| v.to_le_bytes()))),
        }
    }
}

/// Encoded values; of texts with the dictionary that they are numbers of.
pub(super) struct Encoded {
    pub(super) encoding: i32,
    pub(super) data: Vec<u8>,
    pub(super) dictionary: Option<Dictionary>,
}

pub(super) struct Dictionary {
    pub(super) entries: usize,
    /// Each with its length in front.
    pub(super) data: Vec<u8>,
}

/// Rows are in the order of callpaths and ranks, so texts come in runs.
fn texts(values: &[Option<&str>]) -> Encoded {
    let mut known: HashMap<&str, u32> = HashMap::new();
    let mut dictionary = Vec::new();
    let numbers: Vec<u32> = values
        .iter()
        .flatten()
        .map(|&text| {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            *known.entry(text).or_insert_with(|| {
                dictionary.extend(u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
                dictionary.extend(text.as_bytes());
                next
            })
        })
        .collect();
    let highest = u32::try_from(known.len().saturating_sub(1)).unwrap_or(u32::MAX);
    let bits = u8::try_from(u32::BITS - highest.leading_zeros()).unwrap_or(32).max(1);
    let mut data = vec![bits];
    data.extend(runs(numbers.into_iter(), usize::from(bits).div_ceil(8)));
    let dictionary = Dictionary { entries: known.len(), data: dictionary };
    Encoded { encoding: RLE_DICTIONARY, data, dictionary: Some(dictionary) }
}

/// Runs of equal values: twice the length, then the value in so many bytes.
fn runs(values: impl Iterator<Item = u32>, bytes: usize) -> Vec<u8> {
    let mut encoded = Vec::new();
    let mut push = |value: u32, length: u64| {
        push_varint(&mut encoded, length << 1);
        encoded.extend(&value.to_le_bytes()[..bytes]);
    };
    let mut run: Option<(u32, u64)> = None;
    for value in values {
        match &mut run {
            Some((same, length)) if *same == value => *length += 1,
            _ => {
                if let Some((before, length)) = run.replace((value, 1)) {
                    push(before, length);
                }
            }
        }
    }
    if let Some((value, length)) = run {
        push(value, length);
    }
    encoded
}

/// The first bytes of all values, then the second ones, and so on: the high ones hardly change, and compress to nothing.
fn byte_streams<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    let values: Vec<[u8; N]> = values.collect();
    (0..N).flat_map(|at| values.iter().map(move |bytes| bytes[at])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_told_by_length_and_value() {
        assert_eq!(runs([7, 7, 7, 300, 7].into_iter(), 2), [6, 7, 0, 2, 44, 1, 2, 7, 0]);
        assert!(runs(std::iter::empty(), 1).is_empty());
        assert_eq!(runs(std::iter::repeat_n(1, 100), 1), [0xc8, 1, 1]);
    }

    #[test]
    fn a_text_is_in_the_dictionary_once() {
        let encoded = texts(&[Some("a"), Some("a"), None, Some("bc"), Some("a")]);
        let dictionary = encoded.dictionary.unwrap();
        assert_eq!(dictionary.entries, 2);
        assert_eq!(dictionary.data, b"\x01\0\0\0a\x02\0\0\0bc");
        assert_eq!(encoded.data, [1, 4, 0, 2, 1, 2, 0]);
    }

    #[test]
    fn bytes_of_equal_weight_stand_together() {
        assert_eq!(byte_streams([[1, 2], [3, 4], [5, 6]].into_iter()), [1, 3, 5, 2, 4, 6]);
    }
}
