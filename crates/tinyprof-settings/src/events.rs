//! Settings of events: what is kept, and when.

use std::time::Duration;

use tinyprof_vocabulary::EventPolicy;

use crate::parse::{bytes, duration};

/// The choice whether visits are kept one by one, and what a full buffer gives up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Events {
    /// None are kept.
    #[default]
    Off,
    /// They are kept under this policy.
    Keep(EventPolicy),
}

/// The part of the run of which events are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventsWindow {
    /// Some time after the start of the recording.
    Time {
        /// From when on.
        from: Duration,
        /// For how long.
        length: Duration,
    },
    /// Some visits of a region on each thread, counted from 0.
    Visits {
        /// The name of the region.
        region: String,
        /// The first visit.
        first: u64,
        /// The last one.
        last: u64,
    },
    /// Where the program asks for them.
    Program,
}

/// The most memory for the events of a thread, in bytes.
pub const EVENTS_BYTES_MAX: u64 = 128 << 20;
const MEMORY: std::ops::RangeInclusive<u64> = 256 << 10..=EVENTS_BYTES_MAX;

/// Parses the memory for the events of a thread, in bytes.
pub(crate) fn memory(text: &str) -> Option<u64> {
    bytes(text).ok().filter(|bytes| MEMORY.contains(bytes))
}

/// Parses a policy, or `off`.
pub(crate) fn events(word: &str) -> Option<Events> {
    if word == "off" {
        return Some(Events::Off);
    }
    let policy = EventPolicy::ALL.into_iter().find(|policy| policy.name() == word);
    policy.map(Events::Keep)
}

/// Parses a window: `10s+5s`, `solve@100-110` or `program`.
pub(crate) fn window(text: &str) -> Option<EventsWindow> {
    if text == "program" {
        return Some(EventsWindow::Program);
    }
    if let Some((region, visits)) = text.rsplit_once('@') {
        let (first, last) = visits.split_once('-').unwrap_or((visits, visits));
        let [first, last] = [first, last].map(|number| number.trim().parse::<u64>().ok());
        let (first, last) = (first?, last?);
        let is_window = !region.trim().is_empty() && first <= last && last < u64::MAX;
        return is_window.then(|| {
            let region = region.trim().to_owned();
            EventsWindow::Visits { region, first, last }
        });
    }
    let (from, length) = text.split_once('+')?;
    let from = match from.trim() {
        "0" | "0s" => Duration::ZERO,
        from => duration(from)?,
    };
    Some(EventsWindow::Time { from, length: duration(length.trim())? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_time_or_visits_of_a_region() {
        let time = |from, length| {
            let [from, length] = [from, length].map(Duration::from_secs);
            Some(EventsWindow::Time { from, length })
        };
        let visits =
            |first, last| Some(EventsWindow::Visits { region: "solve".to_owned(), first, last });
        assert_eq!(window("10s+5s"), time(10, 5));
        assert_eq!(window("0+5s"), time(0, 5));
        assert_eq!(window("solve@100-110"), visits(100, 110));
        assert_eq!(window(" solve @ 7 "), visits(7, 7));
        assert_eq!(window("program"), Some(EventsWindow::Program));
        for nonsense in ["", "10s", "+5s", "10s+", "10s+0s", "solve@", "@1", "s@2-1", "s@-1", "s@a"]
        {
            assert_eq!(window(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn policies_and_sizes_are_checked() {
        assert_eq!(events("ring"), Some(Events::Keep(EventPolicy::Ring)));
        assert_eq!((events("off"), events("on")), (Some(Events::Off), None));
        assert_eq!((memory("4MiB"), memory("256KiB")), (Some(4 << 20), Some(256 << 10)));
        assert_eq!((memory("255KiB"), memory("129MiB"), memory("4")), (None, None, None));
    }
}
