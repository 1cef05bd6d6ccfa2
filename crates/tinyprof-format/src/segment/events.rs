//! The events in a segment: the words of their buffer, which others read, and what they refer to.

use std::collections::HashMap;

use tinyprof_segment::clock::Moment;
use tinyprof_segment::layout::{header, keeping, node, skipped};
use tinyprof_segment::words::{high, low};

use super::header::Segment;
use super::process::scale;
use super::record::nodes;
use super::site::{Site, sites};
use crate::model::{CallpathId, Losses};
use crate::ticks::Scale;

impl Segment<'_> {
    /// Returns the words of the buffer of events; `None` if the thread kept none.
    #[must_use]
    pub fn event_words(&self) -> Option<Vec<u64>> {
        let place = self.words.get(0, header::EVENTS).filter(|place| *place != 0)?;
        let bytes = self.words.bytes(low(place), 0, (high(place) as usize).checked_mul(8)?)?;
        Some(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    /// Returns whether the thread keeps events now, or kept them when it was killed.
    #[must_use]
    pub fn keeps_events(&self) -> bool {
        self.words.get(0, header::KEEPING).is_some_and(keeping::is_keeping)
    }

    /// Returns the visits that are open and timed: the line of the callpath's record, and the begin
    /// in ticks.
    #[must_use]
    pub fn open_visits(&self) -> Vec<(u32, u64)> {
        let is_timed = |start: &u64| *start != 0 && start & skipped::MARK == 0;
        nodes(self.words, &mut Losses::default())
            .into_iter()
            .filter_map(|line| Some((line, self.words.get(line, node::START).filter(is_timed)?)))
            .collect()
    }

    /// Returns the callpaths by the lines of their records, by which events name them, with their
    /// depths: roots have 1.
    #[must_use]
    pub fn callpath_lines(&self) -> HashMap<u32, (CallpathId, u32)> {
        let (sites, _) = sites(self.words);
        let mut callpaths: HashMap<u32, (CallpathId, u32)> = HashMap::new();
        for line in nodes(self.words, &mut Losses::default()) {
            let word = |word| self.words.get(line, word);
            let site = word(node::SITE).and_then(|address| sites.get(&address));
            let (Some(Site::Region(region)), Some(parent)) = (site, word(node::PARENT)) else {
                continue;
            };
            let own = match low(parent) {
                0 => Some((CallpathId::root(region.site), 1)),
                parent => callpaths
                    .get(&parent)
                    .map(|(parent, depth)| (parent.child(region.site), depth + 1)),
            };
            callpaths.extend(own.map(|own| (line, own)));
        }
        callpaths
    }

    /// Returns the length of a tick. `now` must be of the same boot of the same machine.
    #[must_use]
    pub fn scale(&self, now: Moment) -> Scale {
        scale(self, now)
    }
}
