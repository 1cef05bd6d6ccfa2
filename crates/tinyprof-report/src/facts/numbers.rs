//! Arithmetic of times, shares and counts.

/// Returns a time rounded to whole nanoseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times and costs are not negative"
)]
#[must_use]
pub fn whole(ns: f64) -> u128 {
    ns.round() as u128
}

/// Returns `part / whole`; 0 if the whole is 0.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "for shares and means 53 bits are plenty")]
pub fn ratio(part: u128, whole: u128) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Returns `n / divisor`, rounded half up.
#[must_use]
pub const fn rounded(n: u128, divisor: u128) -> u128 {
    n.saturating_add(divisor / 2) / divisor
}

/// Returns the median; 0 of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Returns a time as a float.
#[expect(clippy::cast_precision_loss, reason = "thresholds need no more than 53 bits")]
pub(crate) const fn float(ns: u64) -> f64 {
    ns as f64
}

/// Returns a count as a float.
pub(crate) const fn float_of(count: usize) -> f64 {
    float(count as u64)
}
