//! Lists of ranks on the command line.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// Ranks as users name them: `3,8-15`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RankList(pub(crate) Vec<RangeInclusive<u32>>);

impl FromStr for RankList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            |part: &str| format!("expected ranks such as 3 or 8-15, separated by commas, found {part:?}");
        let number = |part: &str, text: &str| text.trim().parse::<u32>().map_err(|_| expected(part));
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(part, first)?, number(part, last)?);
            if first > last {
                return Err(format!("expected the lower rank first, found {part:?}"));
            }
            Ok(first..=last)
        };
        text.split(',').map(range).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_numbers_and_ranges() {
        let check = |text: &str, expected: &[RangeInclusive<u32>]| {
            assert_eq!(text.parse(), Ok(RankList(expected.to_vec())), "{text}");
        };
        check("3", &[3..=3]);
        check("3,8-15", &[3..=3, 8..=15]);
        check(" 3 , 8 - 15", &[3..=3, 8..=15]);
        for wrong in ["", "3,", "a", "-3", "3-", "15-8", "1-2-3", "4294967296"] {
            assert!(wrong.parse::<RankList>().is_err(), "{wrong}");
        }
    }
}
