//! The inclusive times of a callpath's children, rank by rank of one part.
//!
//! They are needed twice: for the exclusive time of the callpath, and, if the file holds exclusive
//! sums, for its inclusive time. That adds the time of the children in the same execution of the
//! same rank.

use crate::summaries::Summaries;

/// The times of the children, in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Children {
    /// The times over all executions, by rank. Empty as long as there is no child.
    pub(crate) by_rank: Vec<u64>,
    /// Ranks (from 0 in the part) and executions, ascending. Empty while all summaries begin with
    /// execution 0, as in the usual run: `by_rank` is sufficient then.
    places: Vec<u64>,
    by_place: Vec<u64>,
}

const fn place(rank: usize, execution: u32) -> u64 {
    (rank as u64) << 32 | execution as u64
}

impl Children {
    /// Adds the summaries of a child.
    pub(crate) fn add(&mut self, child: &Summaries<u64>) {
        if !child.plain && self.places.is_empty() && !self.by_rank.is_empty() {
            self.places = (0..self.by_rank.len()).map(|rank| place(rank, 0)).collect();
            self.by_place.clone_from(&self.by_rank);
        }
        if !child.plain || !self.places.is_empty() {
            self.add_places(&places_of(child), &child.sums);
        }
        self.by_rank.resize(child.counts.len(), 0);
        if child.sums.len() == self.by_rank.len() && child.plain {
            self.by_rank
                .iter_mut()
                .zip(&child.sums)
                .for_each(|(to, &ns)| *to = to.saturating_add(ns));
            return;
        }
        let mut sums_ns = child.sums.iter();
        for (to, &count) in self.by_rank.iter_mut().zip(&child.counts) {
            for _ in 0..count {
                *to = to.saturating_add(sums_ns.next().copied().unwrap_or(0));
            }
        }
    }

    fn add_places(&mut self, places: &[u64], sums_ns: &[u64]) {
        if self.places == places {
            self.by_place.iter_mut().zip(sums_ns).for_each(|(to, &ns)| *to = to.wrapping_add(ns));
            return;
        }
        let mut merged: Vec<(u64, u64)> =
            self.places.iter().copied().zip(self.by_place.iter().copied()).collect();
        merged.extend(places.iter().copied().zip(sums_ns.iter().copied()));
        // The input is two ascending runs, so this sort is one merge.
        merged.sort_by_key(|&(place, _)| place);
        self.places.clear();
        self.by_place.clear();
        for (place, ns) in merged {
            if self.places.last() == Some(&place) {
                if let Some(last) = self.by_place.last_mut() {
                    *last = last.wrapping_add(ns);
                }
            } else {
                self.places.push(place);
                self.by_place.push(ns);
            }
        }
    }

    /// Turns the exclusive sums of the callpath into inclusive ones.
    pub(crate) fn complete(&self, summaries: &mut Summaries<u64>) {
        if self.by_rank.is_empty() {
            return;
        }
        if summaries.plain && self.places.is_empty() {
            let mut sums_ns = summaries.sums.iter_mut();
            for (&ns, &count) in self.by_rank.iter().zip(&summaries.counts) {
                if count > 0
                    && let Some(sum) = sums_ns.next()
                {
                    *sum = sum.wrapping_add(ns);
                }
            }
            return;
        }
        let zeros: Vec<u64>;
        let (places, by_place) = if self.places.is_empty() {
            zeros = (0..self.by_rank.len()).map(|rank| place(rank, 0)).collect();
            (&zeros, &self.by_rank)
        } else {
            (&self.places, &self.by_place)
        };
        for (at, sum) in places_of(summaries).iter().zip(&mut summaries.sums) {
            if let Ok(found) = places.binary_search(at) {
                *sum = sum.wrapping_add(by_place[found]);
            }
        }
    }
}

/// Returns the rank and execution of each summary.
fn places_of(summaries: &Summaries<u64>) -> Vec<u64> {
    let mut places = Vec::with_capacity(summaries.sums.len());
    for (rank, &count) in summaries.counts.iter().enumerate() {
        for _ in 0..count {
            let execution = if summaries.plain { 0 } else { summaries.executions[places.len()] };
            places.push(place(rank, execution));
        }
    }
    places
}

/// Returns whether the summaries of each rank are strictly ascending by execution.
pub(crate) fn ascend(summaries: &Summaries<u64>) -> bool {
    summaries.plain || places_of(summaries).is_sorted_by(|before, after| before < after)
}
