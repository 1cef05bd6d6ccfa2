//! The error of a result: its largest difference from the expected one.

use rustfft::num_complex::Complex64;

/// The largest difference between what was computed and what was expected.
pub(crate) fn largest_error(
    computed: &[Complex64],
    expected: impl IntoIterator<Item = Complex64>,
) -> f64 {
    let pairs = computed.iter().zip(expected);
    pairs.map(|(value, expected)| (value - expected).norm()).fold(0.0, worse)
}

/// The larger error. No number at all is the worst of errors: `max` would take it for none.
pub(crate) fn worse(one: f64, other: f64) -> f64 {
    if one.is_nan() || other.is_nan() { f64::INFINITY } else { one.max(other) }
}
