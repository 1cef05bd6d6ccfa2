//! Conversion of seconds since 1970 to a date, without a dependency on a calendar.

/// Returns a date such as `2026-11-21 14:12:30 UTC`.
#[must_use]
pub fn utc(seconds_since_1970: u64) -> String {
    let (days, second) = (seconds_since_1970 / 86_400, seconds_since_1970 % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Returns the year, month and day of the proleptic Gregorian calendar.
///
/// This is H. Hinnant's `civil_from_days`: years begin in March, so that the leap day is the last
/// day of a year, and 400 years are a cycle of 146,097 days.
const fn civil(days_since_1970: u64) -> (u64, u64, u64) {
    let days = days_since_1970 + 719_468;
    let (cycle, day_of_cycle) = (days / 146_097, days % 146_097);
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524
        - day_of_cycle / 146_096)
        / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (cycle * 400 + year_of_cycle + (month <= 2) as u64, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let check = |seconds: u64, expected: &str| assert_eq!(utc(seconds), expected);
        check(0, "1970-01-01 00:00:00 UTC");
        check(951_782_400, "2000-02-29 00:00:00 UTC");
        check(1_709_251_199, "2024-02-29 23:59:59 UTC");
        check(1_795_270_350, "2026-11-21 14:12:30 UTC");
        check(4_107_542_400, "2100-03-01 00:00:00 UTC");
        assert!(utc(u64::MAX).ends_with("UTC"));
    }
}
