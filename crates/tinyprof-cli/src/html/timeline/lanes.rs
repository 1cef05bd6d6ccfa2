//! The choice of lanes: one for each rank, then for further threads while there is room; and of the
//! shortest visit that is shown by itself.

use std::collections::{BTreeMap, HashSet};

use tinyprof_format::model::ThreadEvents;

/// The lanes of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    chosen: HashSet<(u32, u32)>,
    pub(super) threads_omitted: usize,
    /// The begin of the first visit and the end of the last.
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    /// Shorter visits are added up.
    pub(super) shortest_ns: u64,
}

impl Lanes {
    pub(super) fn has(&self, rank: u32, thread: u32) -> bool {
        self.chosen.contains(&(rank, thread))
    }
}

/// A thread of which a lane may be shown.
#[derive(Clone, Debug)]
struct Candidate {
    rank: u32,
    thread: u32,
    /// 0 for the first thread of a rank.
    further: usize,
    from_ns: u64,
    to_ns: u64,
    /// The visits by the class of their duration.
    durations: BTreeMap<u32, u64>,
}

/// The threads of a profile while they are counted.
#[derive(Clone, Debug, Default)]
pub(super) struct LanesBuilder(Vec<Candidate>);

impl LanesBuilder {
    pub(super) fn add(&mut self, rank: u32, thread: &ThreadEvents) {
        let further = match self.0.last() {
            Some(last) if last.rank == rank => last.further + 1,
            _ => 0,
        };
        let visits = &thread.visits;
        let mut durations: BTreeMap<u32, u64> = BTreeMap::new();
        for visit in visits {
            *durations.entry(class_of(visit.duration_ns)).or_default() += 1;
        }
        self.0.push(Candidate {
            rank,
            thread: thread.thread,
            further,
            from_ns: visits.first().map_or(u64::MAX, |visit| visit.begin_ns),
            to_ns: visits.iter().map(|visit| visit.end_ns()).max().unwrap_or(0),
            durations,
        });
    }

    /// Returns at most `lanes_max` lanes with at most about `visits_max` visits; `None` if there
    /// is no visit.
    pub(super) fn finish(mut self, lanes_max: usize, visits_max: u64) -> Option<Lanes> {
        self.0.sort_by_key(|thread| thread.further);
        let threads_omitted = self.0.len().saturating_sub(lanes_max);
        self.0.truncate(lanes_max);
        let from_ns = self.0.iter().map(|thread| thread.from_ns).min()?;
        let to_ns = self.0.iter().map(|thread| thread.to_ns).max()?;
        if from_ns > to_ns {
            return None;
        }
        let mut durations: BTreeMap<u32, u64> = BTreeMap::new();
        for (&class, &visits) in self.0.iter().flat_map(|thread| &thread.durations) {
            *durations.entry(class).or_default() += visits;
        }
        let chosen = self.0.iter().map(|thread| (thread.rank, thread.thread)).collect();
        let shortest_ns = shortest_ns(&durations, visits_max);
        Some(Lanes { chosen, threads_omitted, from_ns, to_ns, shortest_ns })
    }
}

/// Classes of durations: 8 between two powers of two.
const STEP_BITS: u32 = 3;

fn class_of(ns: u64) -> u32 {
    let power = ns.checked_ilog2().unwrap_or(0).max(STEP_BITS);
    let step = u32::try_from(ns >> (power - STEP_BITS)).unwrap_or(u32::MAX);
    ((power - STEP_BITS) << STEP_BITS) + step
}

/// Returns the least duration of a class.
fn least_ns(class: u32) -> u64 {
    let step = class & ((1 << STEP_BITS) - 1);
    let power = class >> STEP_BITS;
    match power.checked_sub(1) {
        None => step.into(),
        Some(shift) => u64::from(step + (1 << STEP_BITS)) << shift,
    }
}

/// Returns the duration from which on at most this number of visits are as long; but the longest
/// are always among them.
fn shortest_ns(durations: &BTreeMap<u32, u64>, visits_max: u64) -> u64 {
    let (mut visits, mut shortest_ns) = (0, None);
    for (&class, &count) in durations.iter().rev() {
        visits += count;
        if shortest_ns.is_some() && visits > visits_max {
            return shortest_ns.unwrap_or(0);
        }
        shortest_ns = Some(least_ns(class));
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_begins_with_its_least_duration() {
        for ns in (0..4_000).chain([1 << 40, (1 << 40) + 12_345, u64::MAX]) {
            let class = class_of(ns);
            assert!(least_ns(class) <= ns, "{ns}");
            assert_eq!(class_of(least_ns(class)), class, "{ns}");
            assert!(least_ns(class) >= ns - ns / 8, "{ns}");
        }
        assert!((0..4_000).all(|ns| class_of(ns) <= class_of(ns + 1)));
    }

    #[test]
    fn the_longest_visits_are_chosen() {
        let check = |durations: &[(u64, u64)], visits_max, expected| {
            let durations = durations.iter().map(|&(ns, count)| (class_of(ns), count)).collect();
            assert_eq!(shortest_ns(&durations, visits_max), expected);
        };
        check(&[(1, 10), (64, 5), (1024, 1)], 16, 0);
        check(&[(1, 10), (64, 5), (1024, 1)], 15, 64);
        check(&[(1, 10), (64, 5), (1024, 1)], 5, 1024);
        check(&[(64, 50)], 5, 0);
        check(&[(1, 2), (64, 50)], 5, 64);
    }
}
