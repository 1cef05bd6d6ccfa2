//! The error of a result: its largest difference from the expected one.

use rustfft::num_complex::Complex64;

/// Returns the largest difference between computed and expected values.
pub(crate) fn largest_error(
    computed: &[Complex64],
    expected: impl IntoIterator<Item = Complex64>,
) -> f64 {
    let pairs = computed.iter().zip(expected);
    pairs.map(|(value, expected)| (value - expected).norm()).fold(0.0, worse)
}

/// Returns the larger error. NaN is the worst error; `max` would ignore it.
pub(crate) fn worse(one: f64, other: f64) -> f64 {
    if one.is_nan() || other.is_nan() { f64::INFINITY } else { one.max(other) }
}
