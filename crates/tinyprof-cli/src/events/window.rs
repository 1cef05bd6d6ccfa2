//! A part of the run's time, in the notation of users.

use std::str::FromStr;

use tinyprof_format::model::VisitEvent;
use tinyprof_settings::parse;

use super::Told;

/// A time from which to which events are shown, in ns since the start of the first rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
}

const EXPECTED: &str = "expected two times with their units, such as 2s-2.5s, 800ms- or -1m";

impl Window {
    /// Returns whether a moment is in the window.
    pub(super) const fn has(self, at_ns: u64) -> bool {
        self.from_ns <= at_ns && at_ns < self.to_ns
    }

    /// Returns the part of a visit that is in the window, if any.
    pub(super) fn part_of(self, visit: VisitEvent, told: &mut Told) -> Option<VisitEvent> {
        if visit.begin_ns >= self.to_ns || visit.end_ns() < self.from_ns {
            return None;
        }
        let begin_ns = visit.begin_ns.max(self.from_ns);
        let duration_ns = visit.end_ns().min(self.to_ns) - begin_ns;
        told.cut += u64::from(duration_ns < visit.duration_ns);
        Some(VisitEvent { begin_ns, duration_ns, ..visit })
    }
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = text.split_once('-').ok_or(EXPECTED)?;
        let time = |text: &str, absent_ns: u64| match text.trim() {
            "" => Ok(absent_ns),
            "0" => Ok(0),
            text => parse_ns(text).ok_or_else(|| EXPECTED.to_owned()),
        };
        let (from_ns, to_ns) = (time(from, 0)?, time(to, u64::MAX)?);
        if from_ns >= to_ns {
            return Err(format!("expected the earlier time first, found {text:?}"));
        }
        Ok(Self { from_ns, to_ns })
    }
}

fn parse_ns(text: &str) -> Option<u64> {
    let short = |unit: &str, unit_ns: f64| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        let ns = (number * unit_ns).round();
        (0.0..1e18).contains(&ns).then_some(ns)
    };
    if let Some(ns) = short("us", 1e3).or_else(|| short("µs", 1e3)).or_else(|| short("ns", 1.0)) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        return Some(ns as u64);
    }
    u64::try_from(parse::duration(text)?.as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::CallpathId;

    use super::*;

    #[test]
    fn a_window_is_two_times() {
        let check = |text: &str, from_ns, to_ns| {
            assert_eq!(text.parse(), Ok(Window { from_ns, to_ns }), "{text}");
        };
        check("2s-2.5s", 2_000_000_000, 2_500_000_000);
        check("0-10us", 0, 10_000);
        check("15ns-1ms", 15, 1_000_000);
        check("-1m", 0, 60_000_000_000);
        check("800ms-", 800_000_000, u64::MAX);
        for wrong in ["", "2s", "2-3", "3s-2s", "1s-1s", "-0", "xs-2s", "-5s-2s"] {
            assert!(wrong.parse::<Window>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_visit_is_cut_at_both_ends_and_counted() {
        let window = Window { from_ns: 100, to_ns: 200 };
        let mut told = Told::default();
        let mut part = |begin_ns, duration_ns| {
            let callpath = CallpathId::from_bits(1);
            let visit = VisitEvent { callpath, depth: 1, begin_ns, duration_ns };
            let part = window.part_of(visit, &mut told);
            part.map(|visit| (visit.begin_ns, visit.duration_ns))
        };
        assert_eq!(part(0, 99), None);
        assert_eq!(part(200, 5), None);
        assert_eq!(part(0, 300), Some((100, 100)));
        assert_eq!(part(50, 60), Some((100, 10)));
        assert_eq!(part(190, 60), Some((190, 10)));
        assert_eq!(part(150, 0), Some((150, 0)));
        assert_eq!(told.cut, 3);
    }
}
