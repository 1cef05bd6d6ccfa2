//! Lists of ranks and of executions on the command line.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// Numbers in the notation of users, `3,8-15`: ranges in ascending order, of which no two are
/// adjacent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NumberList(Vec<RangeInclusive<u32>>);

impl NumberList {
    /// Returns `true` if the list includes `number`.
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.0.iter().any(|range| range.contains(&number))
    }

    /// Returns how many numbers from `first` to `last` the list includes.
    pub(crate) fn count_within(&self, first: u32, last: u32) -> u64 {
        let overlap = |range: &RangeInclusive<u32>| {
            let (from, to) = (first.max(*range.start()), last.min(*range.end()));
            if from <= to { u64::from(to - from) + 1 } else { 0 }
        };
        self.0.iter().map(overlap).sum()
    }

    /// Returns the greatest number in the list.
    pub(crate) fn highest(&self) -> u32 {
        self.0.last().map_or(0, |range| *range.end())
    }
}

impl FromStr for NumberList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = |part: &str| {
            format!("expected numbers such as 3 or 8-15, separated by commas, found {part:?}")
        };
        let number =
            |part: &str, text: &str| text.trim().parse::<u32>().map_err(|_| expected(part));
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(part, first)?, number(part, last)?);
            if first > last {
                return Err(format!("expected the lower number first, found {part:?}"));
            }
            Ok(first..=last)
        };
        let mut ranges: Vec<RangeInclusive<u32>> =
            text.split(',').map(range).collect::<Result<_, _>>()?;
        ranges.sort_by_key(|range| *range.start());
        let mut list: Vec<RangeInclusive<u32>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match list.last_mut() {
                Some(last) if *range.start() <= last.end().saturating_add(1) => {
                    *last = *last.start()..=*last.end().max(range.end());
                }
                _ => list.push(range),
            }
        }
        Ok(Self(list))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_of_numbers_and_ranges() {
        let check = |text: &str, expected: &[RangeInclusive<u32>]| {
            assert_eq!(text.parse(), Ok(NumberList(expected.to_vec())), "{text}");
        };
        check("3", &[3..=3]);
        check("3,8-15", &[3..=3, 8..=15]);
        check(" 3 , 8 - 15", &[3..=3, 8..=15]);
        check("8-15,3,10,16,2-4", &[2..=4, 8..=16]);
        check("5,0-4294967295", &[0..=u32::MAX]);
        for wrong in ["", "3,", "a", "-3", "3-", "15-8", "1-2-3", "4294967296"] {
            assert!(wrong.parse::<NumberList>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_of_a_list_are_counted() {
        let list: NumberList = "2-4,8-9,20".parse().expect("a list");
        for (first, last, expected) in
            [(0, 30, 6), (3, 8, 3), (5, 7, 0), (20, 20, 1), (21, u32::MAX, 0)]
        {
            assert_eq!(list.count_within(first, last), expected, "{first} to {last}");
        }
        assert!(list.contains(8) && !list.contains(5));
        assert_eq!(list.highest(), 20);
    }
}
