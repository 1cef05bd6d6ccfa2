//! Clocks of hosts that go at different rates: the distance between two, as it changes.
//!
//! A clock that is not disciplined goes wrong by 10 to 100 µs a second, evenly. Two measurements of
//! the distance give the rate, by which later times are corrected; each further one shows how wrong
//! that was.

/// The distance of another clock from one's own, in the course of time.
///
/// ```
/// use tinyprof_messages::drift::Drift;
///
/// // Times on the own clock. The other one is 500 ns ahead, and gains 20 ns in each ms.
/// let mut drift = Drift::begin(1_000_000, 500, 10);
/// assert_eq!(drift.distance_ns(2_000_000), 500, "nothing is known of the rate");
/// drift.measured(2_000_000, 520, 10);
/// assert_eq!(drift.distance_ns(3_000_000), 540);
/// assert_eq!(drift.uncertainty_ns(), 30, "20 ns were unknown, and the measurement adds 10");
/// drift.measured(3_000_000, 540, 10);
/// assert_eq!(drift.uncertainty_ns(), 30, "no worse since then");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// The last measurement: when, in ns of the own clock, and the distance.
    at_ns: u64,
    ns: i64,
    /// The ns by which the distance grows, in units of 2^-40 of the time that goes by.
    rate: i64,
    uncertainty_ns: u64,
}

/// The most by which clocks differ in rate that is believed, in units of 2^-40: an eighth. A clock
/// that someone has set may have jumped by any time.
const RATE_MAX: i64 = 1 << 37;
/// Half a nanosecond in these units, to round and not to cut off.
const HALF: i128 = 1 << 39;

impl Drift {
    /// Returns what the first measurement tells: `ns` are to be added to `at_ns`, a time of the own
    /// clock, to get that of the other one. It may be wrong by `uncertainty_ns`.
    #[must_use]
    pub const fn begin(at_ns: u64, ns: i64, uncertainty_ns: u64) -> Self {
        Self { at_ns, ns, rate: 0, uncertainty_ns }
    }

    /// Returns the ns to be added to a time of the own clock.
    #[must_use]
    pub fn distance_ns(&self, own_ns: u64) -> i64 {
        let gone_ns = i128::from(own_ns) - i128::from(self.at_ns);
        let grown_ns = (gone_ns * i128::from(self.rate) + HALF) >> 40;
        self.ns.saturating_add(i64::try_from(grown_ns).unwrap_or(0))
    }

    /// Learns from another measurement, and corrects later times by it.
    ///
    /// Between two measurements, both the clock and its correction have gone evenly. So no time in
    /// between was more wrong than those at the ends.
    pub fn measured(&mut self, at_ns: u64, ns: i64, uncertainty_ns: u64) {
        let error_ns = self.distance_ns(at_ns).abs_diff(ns).saturating_add(uncertainty_ns);
        let gone_ns = at_ns.saturating_sub(self.at_ns).max(1);
        let rate = (i128::from(ns) - i128::from(self.ns)) * (1 << 40) / i128::from(gone_ns);
        *self = Self {
            at_ns,
            ns,
            rate: i64::try_from(rate.clamp(-i128::from(RATE_MAX), RATE_MAX.into())).unwrap_or(0),
            uncertainty_ns: self.uncertainty_ns.max(error_ns).max(uncertainty_ns),
        };
    }

    /// Returns it as words, for memory that several threads read.
    #[must_use]
    pub const fn to_words(self) -> [u64; 4] {
        [self.at_ns, self.ns.cast_unsigned(), self.rate.cast_unsigned(), self.uncertainty_ns]
    }

    /// Returns the drift of these words.
    #[must_use]
    pub const fn from_words([at_ns, ns, rate, uncertainty_ns]: [u64; 4]) -> Self {
        Self { at_ns, ns: ns.cast_signed(), rate: rate.cast_signed(), uncertainty_ns }
    }

    /// Returns by how much corrected times may have been wrong up to the last measurement, in
    /// either direction, in ns.
    #[must_use]
    pub const fn uncertainty_ns(&self) -> u64 {
        self.uncertainty_ns
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A clock that goes at another rate, and what an exchange of messages finds of its distance.
    struct Other {
        ahead_ns: i64,
        ppb: i64,
    }

    impl Other {
        fn distance_ns(&self, own_ns: u64) -> i64 {
            let gained_ns = i128::from(own_ns) * i128::from(self.ppb) / 1_000_000_000;
            self.ahead_ns + i64::try_from(gained_ns).unwrap()
        }
    }

    const BEGUN_NS: u64 = 5_000_000_000;

    /// Returns the moments of measurements, each after four times as long as the one before.
    fn moments(count: u32) -> impl Iterator<Item = u64> {
        (0..count).map(|number| BEGUN_NS + 100_000_000 * (4_u64.pow(number) - 1) / 3)
    }

    proptest! {
        #[test]
        fn corrected_times_are_within_the_uncertainty(
            ahead_ns in -1_000_000_000..1_000_000_000_i64,
            ppb in -500_000..500_000_i64,
            errors in prop::collection::vec(-2_000..2_000_i64, 7),
            permille in 0..1_000_u64,
        ) {
            let other = Other { ahead_ns, ppb };
            let measure = |at_ns, error| (at_ns, other.distance_ns(at_ns) + error, 2_000);
            let moments: Vec<u64> = moments(7).collect();
            let mut drift: Option<Drift> = None;
            let mut worst_ns = 0;
            for (&at_ns, &error) in moments.iter().zip(&errors) {
                let (at_ns, ns, uncertainty_ns) = measure(at_ns, error);
                let Some(drift) = &mut drift else {
                    drift = Some(Drift::begin(at_ns, ns, uncertainty_ns));
                    continue;
                };
                let between_ns = drift.at_ns + (at_ns - drift.at_ns) / 1_000 * permille;
                for time_ns in [between_ns, at_ns] {
                    let error_ns = drift.distance_ns(time_ns).abs_diff(other.distance_ns(time_ns));
                    worst_ns = worst_ns.max(error_ns);
                }
                drift.measured(at_ns, ns, uncertainty_ns);
            }
            // Rounded twice.
            prop_assert!(worst_ns <= drift.unwrap().uncertainty_ns() + 2, "{worst_ns}, {drift:?}");
        }

        #[test]
        fn after_the_first_interval_the_rate_hardly_matters(
            ppb in -500_000..500_000_i64,
            error in -1_000..1_000_i64,
        ) {
            let other = Other { ahead_ns: 7, ppb };
            let mut drift = Drift::begin(BEGUN_NS, other.distance_ns(BEGUN_NS), 1_000);
            let mut last_ns = BEGUN_NS;
            for at_ns in moments(7).skip(1) {
                drift.measured(at_ns, other.distance_ns(at_ns) + error, 1_000);
                last_ns = at_ns;
            }
            // Up to 50 µs were unknown in the first 100 ms, and in all 68 ms in 136 s.
            prop_assert!(drift.uncertainty_ns() < 60_000, "{drift:?}");
            let later_ns = last_ns + 400_000_000_000;
            let error_ns = drift.distance_ns(later_ns).abs_diff(other.distance_ns(later_ns));
            prop_assert!(error_ns < 20_000, "{error_ns} ns");
        }
    }

    #[test]
    fn absurd_measurements_do_no_harm() {
        let mut drift = Drift::begin(u64::MAX, i64::MIN, u64::MAX);
        drift.measured(0, i64::MAX, 1);
        assert_eq!(drift.uncertainty_ns(), u64::MAX);
        assert_eq!(drift.distance_ns(u64::MAX), i64::MAX);
        let mut jumped = Drift::begin(0, 0, 1);
        jumped.measured(1_000, i64::MAX / 2, 1);
        assert_eq!(jumped.rate, RATE_MAX);
        assert_eq!(Drift::from_words(jumped.to_words()), jumped);
    }
}
