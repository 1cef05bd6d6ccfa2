//! The input of the transform: a damped oscillation with a known spectrum.
//!
//! ```text
//! x[j] = exp(s j / N)          s = -DAMPING + 2 pi i f
//! X[k] = sum over j of exp((s - 2 pi i k) j / N) = (1 - exp(s)) / (1 - exp((s - 2 pi i k) / N))
//! ```
//!
//! It is a geometric series, so any rank can compute the expected value of any frequency without
//! communication.

use std::f64::consts::TAU;

use rustfft::num_complex::Complex64;
use tinyprof::profile;

use crate::error::largest_error;
use crate::sixstep::real;

/// The decay of the oscillation over all points, to exp(-8): a line of some width.
const DAMPING: f64 = 8.0;

/// The signal of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    size: usize,
    /// The factor s of the formula.
    exponent: Complex64,
}

impl Signal {
    /// Returns the signal of a run, of `size` points. Each run has a different frequency from the
    /// one before.
    pub(crate) fn of_run(run: u32, size: usize) -> Self {
        Self { size, exponent: Complex64::new(-DAMPING, TAU * (10.25 + f64::from(run % 16))) }
    }

    /// Writes the points from `first` on into `data`.
    #[profile(tag = "COMP")]
    pub(crate) fn initialise(&self, first: usize, data: &mut [Complex64]) {
        for (point, value) in (first..).zip(data) {
            *value = self.point(point);
        }
    }

    /// Compares the frequencies from `first` on with their expected values, and returns the largest
    /// error, relative to the root mean square of the spectrum. Odd ranks do this in every run, as
    /// a sample: it needs no communication.
    #[profile(tag = "COMP")]
    pub(crate) fn audit(&self, first: usize, data: &[Complex64]) -> f64 {
        largest_error(data, (first..).map(|k| self.frequency(k))) / self.rms_of_spectrum()
    }

    /// Returns the point j.
    pub(crate) fn point(&self, j: usize) -> Complex64 {
        (self.exponent * (real(j) / real(self.size))).exp()
    }

    /// Returns the value at the frequency k, by the formula.
    fn frequency(&self, k: usize) -> Complex64 {
        // Frequencies above N/2 are negative ones: their angles stay small and exact.
        let turns = if k <= self.size / 2 { real(k) } else { -real(self.size - k) };
        let step = (self.exponent - Complex64::new(0.0, TAU * turns)) / real(self.size);
        exp_minus_1(self.exponent) / exp_minus_1(step)
    }

    /// Returns the root mean square of the points: the integral of exp(-2 DAMPING t), for many
    /// points.
    pub(crate) fn rms(&self) -> f64 {
        (0.5 / DAMPING).sqrt()
    }

    /// Returns the root mean square of the spectrum, by Parseval's theorem.
    pub(crate) fn rms_of_spectrum(&self) -> f64 {
        self.rms() * real(self.size).sqrt()
    }
}

/// Returns exp(z) - 1. It is exact for small z too, where a subtraction would leave only rounding
/// errors.
fn exp_minus_1(z: Complex64) -> Complex64 {
    let half = (z.im / 2.0).sin();
    Complex64::new(z.re.exp_m1() * z.im.cos() - 2.0 * half * half, z.re.exp() * z.im.sin())
}

#[cfg(test)]
mod tests {
    use rustfft::FftPlanner;

    use super::*;

    #[test]
    fn the_formula_gives_the_spectrum_that_a_serial_transform_gives() {
        for (run, size) in [(0, 1), (1, 2), (2, 3), (3, 16), (4, 1000), (21, 4099), (5, 1 << 16)] {
            let signal = Signal::of_run(run, size);
            let mut data = vec![Complex64::default(); size];
            signal.initialise(0, &mut data);
            FftPlanner::new().plan_fft_forward(size).process(&mut data);
            let error = signal.audit(0, &data);
            assert!(error < 1e-12, "{size} points: {error}");
        }
    }

    #[test]
    fn an_audit_of_a_share_finds_a_wrong_value() {
        let signal = Signal::of_run(0, 64);
        let mut share: Vec<_> = (16..32).map(|k| signal.frequency(k)).collect();
        assert_eq!(signal.audit(16, &share).to_bits(), 0.0_f64.to_bits());
        share[3] += 0.5;
        assert!((signal.audit(16, &share) - 0.25).abs() < 1e-12);
        share[3].re = f64::NAN;
        assert!(signal.audit(16, &share).is_infinite());
    }

    #[test]
    fn the_scales_are_those_of_many_points() {
        let signal = Signal::of_run(7, 1 << 16);
        let squares = |value: &dyn Fn(usize) -> Complex64| {
            (0..1 << 16).map(|n| value(n).norm_sqr()).sum::<f64>()
        };
        let rms = (squares(&|j| signal.point(j)) / 65536.0).sqrt();
        assert!((rms / signal.rms() - 1.0).abs() < 1e-3);
        let rms = (squares(&|k| signal.frequency(k)) / 65536.0).sqrt();
        assert!((rms / signal.rms_of_spectrum() - 1.0).abs() < 1e-3);
    }

    #[test]
    fn the_exponential_minus_one_keeps_its_digits_near_zero() {
        let tiny = Complex64::new(1e-12, -3e-12);
        let series = tiny + tiny * tiny / 2.0;
        assert!((exp_minus_1(tiny) - series).norm() < 1e-15 * tiny.norm());
        let large = Complex64::new(-2.0, 1.5);
        assert!((exp_minus_1(large) - (large.exp() - 1.0)).norm() < 1e-15);
    }
}
