//! Verification of the result: against a serial transform, and by the inverse transform.

use std::fmt;

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use rustfft::FftPlanner;
use rustfft::num_complex::Complex64;
use tinyprof::profile;

use crate::error::{largest_error, worse};
use crate::layout::Layout;
use crate::signal::Signal;
use crate::sixstep::{Direction, SixStep};

/// The largest relative error that counts as rounding. Observed errors are 1e-13 for smooth sizes
/// and 1e-11 for those that rustfft transforms by a convolution, such as multiples of 65537. A
/// factor kept in single precision, the smallest of real mistakes, gives 1e-7.
pub(crate) const TOLERANCE: f64 = 1e-10;

/// The largest number of points that rank 0 gathers and transforms alone.
const SERIAL_LIMIT: usize = 1 << 20;

/// The largest error of each check that was made, relative to the root mean square of all values of
/// all ranks: one rank's share may be small as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Findings {
    /// Audit by the odd ranks, in every run.
    audit: Option<f64>,
    /// Comparison with the serial transform.
    serial: Option<f64>,
    /// Forward, then inverse transform, compared with the input.
    identity: Option<f64>,
}

impl Findings {
    /// Adds the error that an audit found.
    pub(crate) fn audited(&mut self, error: f64) {
        self.audit = Some(worse(self.audit.unwrap_or(0.0), error));
    }

    /// Returns the largest errors over all ranks, equal on every rank. Collective.
    pub(crate) fn agreed_by_all(self, world: &SimpleCommunicator) -> Self {
        // A check that was not made is no error: -1 is less than any other value.
        let own = [self.audit, self.serial, self.identity].map(|error| error.unwrap_or(-1.0));
        let mut worst = own;
        world.all_reduce_into(&own[..], &mut worst[..], SystemOperation::max());
        let [audit, serial, identity] = worst.map(|error| (error >= 0.0).then_some(error));
        Self { audit, serial, identity }
    }

    /// Returns true if no check found more than rounding.
    pub(crate) fn are_good(&self) -> bool {
        [self.audit, self.serial, self.identity]
            .into_iter()
            .flatten()
            .all(|error| error <= TOLERANCE)
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let checks = [
            ("audit by the odd ranks", self.audit),
            ("against a serial transform", self.serial),
            ("forward, then inverse", self.identity),
        ];
        for (what, error) in checks {
            if let Some(error) = error {
                writeln!(out, "max relative error, {what}: {error:.1e}")?;
            }
        }
        Ok(())
    }
}

/// Checks `data`, this rank's share of the spectrum of `signal`, and leaves the signal in it.
/// Collective.
#[profile]
pub(crate) fn verify(
    signal: &Signal,
    layout: Layout,
    world: &SimpleCommunicator,
    rank: usize,
    data: &mut [Complex64],
    findings: &mut Findings,
) {
    if layout.size() <= SERIAL_LIMIT {
        findings.serial = against_serial(signal, layout, world, rank, data);
    }
    SixStep::plan(layout, rank, Direction::Inverse).transform(world, data);
    let first = layout.first(rank);
    let input = (first..first + layout.share()).map(|j| signal.point(j));
    findings.identity = Some(largest_error(data, input) / signal.rms());
}

/// Gathers the spectrum on rank 0, which transforms the signal alone and compares. The other ranks
/// return no result. Collective.
#[profile]
fn against_serial(
    signal: &Signal,
    layout: Layout,
    world: &SimpleCommunicator,
    rank: usize,
    data: &[Complex64],
) -> Option<f64> {
    let spectrum = gather(layout, world, rank, data)?;
    let mut expected: Vec<_> = (0..layout.size()).map(|j| signal.point(j)).collect();
    FftPlanner::new().plan_fft_forward(layout.size()).process(&mut expected);
    Some(largest_error(&spectrum, expected) / signal.rms_of_spectrum())
}

/// Returns the shares of all ranks in one piece on rank 0, and nothing on the others. Collective.
#[profile]
fn gather(
    layout: Layout,
    world: &SimpleCommunicator,
    rank: usize,
    data: &[Complex64],
) -> Option<Vec<Complex64>> {
    let root = world.process_at_rank(0);
    if rank > 0 {
        root.gather_into(data);
        return None;
    }
    let mut spectrum = vec![Complex64::default(); layout.size()];
    root.gather_into_root(data, &mut spectrum[..]);
    Some(spectrum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_error_counts() {
        let expected =
            [Complex64::new(3.0, 4.0), Complex64::new(0.0, 0.0), Complex64::new(1.0, 0.0)];
        let computed =
            [Complex64::new(3.0, 4.0), Complex64::new(0.0, 0.5), Complex64::new(1.25, 0.0)];
        assert!((largest_error(&computed, expected) - 0.5).abs() < 1e-15);
    }

    #[test]
    fn no_number_is_an_error() {
        let expected = [Complex64::new(1.0, 0.0); 3];
        for place in 0..3 {
            let mut computed = expected;
            computed[place].im = f64::NAN;
            assert!(largest_error(&computed, expected).is_infinite());
        }
    }

    #[test]
    fn findings_are_good_up_to_the_tolerance() {
        let mut findings = Findings::default();
        assert!(findings.are_good());
        findings.audited(1e-15);
        findings.audited(1e-16);
        assert!(findings.are_good());
        assert_eq!(findings.to_string(), "max relative error, audit by the odd ranks: 1.0e-15\n");
        findings.audited(f64::NAN);
        assert!(!findings.are_good());
    }

    #[test]
    fn one_bad_check_spoils_the_findings() {
        let wrong = Some(1e-3);
        let good = Findings { audit: Some(0.0), serial: Some(0.0), identity: Some(0.0) };
        assert!(!Findings { audit: wrong, ..good }.are_good());
        assert!(!Findings { serial: wrong, ..good }.are_good());
        assert!(!Findings { identity: wrong, ..good }.are_good());
    }
}
