//! Conversion between seconds as decimal text and nanoseconds as integers. No float in between, so
//! nothing is rounded.

const NS_PER_S: u64 = 1_000_000_000;
const NS_PER_US: u64 = 1_000;

/// Returns the nanoseconds of a decimal number of seconds; none if the text is not such a number,
/// or if it is over 584 years.
///
/// Digits after the ninth decimal are rounded, half up.
pub(super) fn parse(text: &[u8]) -> Option<u64> {
    let point = text.iter().position(|&b| b == b'.');
    let (whole, fraction) = point.map_or((text, &[][..]), |at| (&text[..at], &text[at + 1..]));
    if whole.is_empty() && fraction.is_empty()
        || !whole.iter().chain(fraction).all(u8::is_ascii_digit)
    {
        return None;
    }
    let digit = |b: u8| u64::from(b - b'0');
    let mut ns = 0_u64;
    for &b in whole {
        ns = ns.checked_mul(10)?.checked_add(digit(b))?;
    }
    for place in 0..9 {
        ns = ns.checked_mul(10)?.checked_add(fraction.get(place).map_or(0, |&b| digit(b)))?;
    }
    let up = fraction.get(9).is_some_and(|&b| b >= b'5');
    ns.checked_add(u64::from(up))
}

/// Appends nanoseconds as seconds: with six decimals if that is exact, as the paper's tool writes
/// them, else with nine.
pub(super) fn write(ns: u64, text: &mut Vec<u8>) {
    let (whole, fraction) = (ns / NS_PER_S, ns % NS_PER_S);
    let digits = if fraction.is_multiple_of(NS_PER_US) {
        format!("{whole}.{:06}", fraction / NS_PER_US)
    } else {
        format!("{whole}.{fraction:09}")
    };
    text.extend_from_slice(digits.as_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn seconds_are_read_to_the_nanosecond() {
        let check = |text: &str, ns: Option<u64>| assert_eq!(parse(text.as_bytes()), ns, "{text}");
        check("0.569524", Some(569_524_000));
        check("12", Some(12 * NS_PER_S));
        check("1.", Some(NS_PER_S));
        check(".5", Some(NS_PER_S / 2));
        check("0.0000000014", Some(1));
        check("0.0000000015", Some(2));
        check("18446744073.709551615", Some(u64::MAX));
        check("18446744073.7095516155", None);
        check("18446744073.709551616", None);
        for broken in
            ["", ".", "0.000004,0.285482", "0.0000040.285482", " 1", "-1", "1e3", "nan", "0.1s"]
        {
            check(broken, None);
        }
    }

    #[test]
    fn whole_microseconds_have_six_digits() {
        let check = |ns, expected: &str| {
            let mut text = Vec::new();
            write(ns, &mut text);
            assert_eq!(text, expected.as_bytes());
        };
        check(0, "0.000000");
        check(4_000, "0.000004");
        check(4_001, "0.000004001");
        check(u64::MAX, "18446744073.709551615");
    }

    proptest! {
        #[test]
        fn any_time_comes_back(ns in any::<u64>(), divisor in 1_u64..1 << 40) {
            for ns in [ns, ns / divisor, ns / divisor / 1_000 * 1_000] {
                let mut text = Vec::new();
                write(ns, &mut text);
                prop_assert_eq!(parse(&text), Some(ns));
            }
        }
    }
}
