//! Formatting of numbers for people: three significant digits and a unit.

use crate::facts::numbers::rounded;

const US: u128 = 1_000;
const MS: u128 = 1_000 * US;
const S: u128 = 1_000 * MS;
const H: u128 = 3_600 * S;

/// Returns a time with a space before its unit, for sentences: `1.23 ms`.
#[must_use]
pub fn time(ns: u128) -> String {
    let (number, unit) = time_parts(ns);
    format!("{number} {unit}")
}

/// Returns a time without a space, for a cell of a table: `1.23ms`.
#[must_use]
pub fn time_cell(ns: u128) -> String {
    let (number, unit) = time_parts(ns);
    format!("{number}{unit}")
}

fn time_parts(ns: u128) -> (String, &'static str) {
    if ns < US {
        return (ns.to_string(), "ns");
    }
    for (size, unit) in [(US, "us"), (MS, "ms"), (S, "s")] {
        if let Some(number) = three_digits(ns, size) {
            return (number, unit);
        }
    }
    if ns < 10_000 * S {
        return (rounded(ns, S).to_string(), "s");
    }
    (three_digits(ns, H).unwrap_or_else(|| rounded(ns, H).to_string()), "h")
}

/// Returns a length of data: `12.3 kB`, in powers of 1000.
#[must_use]
pub fn data(bytes: u64) -> String {
    let (number, unit) = data_parts(bytes);
    format!("{number} {unit}")
}

/// Returns a length of data without a space, for a cell of a table: `12.3kB`.
#[must_use]
pub fn data_cell(bytes: u64) -> String {
    let (number, unit) = data_parts(bytes);
    format!("{number}{unit}")
}

fn data_parts(bytes: u64) -> (String, &'static str) {
    let bytes = u128::from(bytes);
    if bytes < 1_000 {
        return (bytes.to_string(), "B");
    }
    for (size, unit) in [(1_000, "kB"), (1_000_000, "MB"), (1_000_000_000, "GB")] {
        if let Some(number) = three_digits(bytes, size) {
            return (number, unit);
        }
    }
    (rounded(bytes, 1_000_000_000).to_string(), "GB")
}

/// Returns a count, exact up to six digits, then `1.23M`.
#[must_use]
pub fn count_cell(n: u64) -> String {
    if n < 1_000_000 {
        return n.to_string();
    }
    let n = u128::from(n);
    for (size, unit) in [(1_000_000, "M"), (1_000_000_000, "G"), (1_000_000_000_000, "T")] {
        if let Some(number) = three_digits(n, size) {
            return format!("{number}{unit}");
        }
    }
    format!("{}T", rounded(n, 1_000_000_000_000))
}

/// Returns a number of unknown unit: integers up to six digits exactly, other numbers with four
/// significant digits.
#[must_use]
pub fn number_cell(n: f64) -> String {
    let size = n.abs();
    if n == 0.0 {
        "0".to_owned()
    } else if !n.is_finite() || (size < 1e6 && n.fract() == 0.0) {
        n.to_string()
    } else if (1e-3..999_950.0).contains(&size) {
        let mut decimals = 6;
        while decimals > 0 && size * 10_f64.powi(decimals) >= 9_999.5 {
            decimals -= 1;
        }
        format!("{n:.0$}", usize::try_from(decimals).unwrap_or(0))
    } else {
        format!("{n:.3e}")
    }
}

/// Returns a share as percent with one decimal. A share greater than zero never reads as zero.
#[must_use]
pub fn percent_cell(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.05 {
        "<0.1%".to_owned()
    } else if percent < 99.95 {
        format!("{percent:.1}%")
    } else {
        format!("{percent:.0}%")
    }
}

/// Returns a small share as percent with two significant digits: `0.0018%`.
#[must_use]
pub fn percent_of(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = match percent {
        0.95.. => 1,
        0.095.. => 2,
        0.009_5.. => 3,
        0.000_05.. => 4,
        0.0 => 0,
        _ => return "<0.0001%".to_owned(),
    };
    format!("{percent:.decimals$}%")
}

/// Returns `1 rank`, `2 ranks`.
#[must_use]
pub fn counted(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// Returns `cell` with a leading `<` if `mark` is `<`, unless it has one already.
#[must_use]
pub fn below(mark: &str, cell: String) -> String {
    if mark == "<" && !cell.starts_with('<') { format!("<{cell}") } else { cell }
}

/// Returns `n / size` with three significant digits, or none if it would reach 1000.
fn three_digits(n: u128, size: u128) -> Option<String> {
    let (hundredths, tenths, ones) =
        (rounded(n, size / 100), rounded(n, size / 10), rounded(n, size));
    if hundredths < 1_000 {
        Some(format!("{}.{:02}", hundredths / 100, hundredths % 100))
    } else if tenths < 1_000 {
        Some(format!("{}.{}", tenths / 10, tenths % 10))
    } else {
        (ones < 1_000).then(|| ones.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_three_digits_and_the_unit_that_suits_it() {
        let check = |ns: u128, expected: &str| {
            assert_eq!(time(ns), expected, "{ns}");
            assert_eq!(time_cell(ns), expected.replace(' ', ""), "{ns}");
        };
        check(0, "0 ns");
        check(7, "7 ns");
        check(999, "999 ns");
        check(1_000, "1.00 us");
        check(1_234, "1.23 us");
        check(9_994, "9.99 us");
        check(9_996, "10.0 us");
        check(99_960, "100 us");
        check(999_499, "999 us");
        check(999_500, "1.00 ms");
        check(1_500_000_000, "1.50 s");
        check(999_499_999_999, "999 s");
        check(999_500_000_000, "1000 s");
        check(1_234_000_000_000, "1234 s");
        check(36_000_000_000_000, "10.0 h");
        check(u128::from(u64::MAX) * 4_096, "20988295479 h");
        check(u128::MAX, &format!("{} h", u128::MAX / H));
    }

    #[test]
    fn a_count_is_exact_as_long_as_it_is_short() {
        let check = |n: u64, expected: &str| assert_eq!(count_cell(n), expected);
        check(0, "0");
        check(999_999, "999999");
        check(1_000_000, "1.00M");
        check(81_920_000, "81.9M");
        check(u64::MAX, "18446744T");
    }

    #[test]
    fn a_number_of_unknown_unit_has_four_digits() {
        let check = |n: f64, expected: &str| assert_eq!(number_cell(n), expected);
        check(-0.0, "0");
        check(42.0, "42");
        check(-999_999.0, "-999999");
        check(1e6, "1.000e6");
        check(1_234_567.0, "1.235e6");
        check(0.001_234_56, "0.001235");
        check(0.000_12, "1.200e-4");
        check(-1.5, "-1.500");
        check(9.999_96, "10.00");
        check(12_345.6, "12346");
        check(999_999.9, "1.000e6");
        check(f64::INFINITY, "inf");
        check(f64::NEG_INFINITY, "-inf");
        check(f64::NAN, "NaN");
        check(f64::MIN_POSITIVE, "2.225e-308");
    }

    #[test]
    fn a_percentage_never_hides_what_is_there() {
        let check = |share: f64, expected: &str| assert_eq!(percent_cell(share), expected);
        check(0.0, "0.0%");
        check(0.000_4, "<0.1%");
        check(0.000_5, "0.1%");
        check(0.123_4, "12.3%");
        check(0.999_4, "99.9%");
        check(1.0, "100%");
        check(31.0, "3100%");
    }

    #[test]
    fn a_small_percentage_has_two_digits() {
        let check = |share: f64, expected: &str| assert_eq!(percent_of(share), expected);
        check(0.0, "0%");
        check(1e-9, "<0.0001%");
        check(0.000_018, "0.0018%");
        check(0.000_2, "0.020%");
        check(0.001_23, "0.12%");
        check(0.012_3, "1.2%");
        check(0.5, "50.0%");
    }

    #[test]
    fn data_is_counted_in_thousands() {
        let check = |bytes: u64, expected: &str| {
            assert_eq!(data(bytes), expected);
            assert_eq!(data_cell(bytes), expected.replace(' ', ""));
        };
        check(0, "0 B");
        check(999, "999 B");
        check(1_024, "1.02 kB");
        check(20_000_000, "20.0 MB");
        check(u64::MAX, "18446744074 GB");
    }
}
