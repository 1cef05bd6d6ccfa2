//! A circle of calls: whether it is a loop, and which call an iteration begins with.

use super::cycles::cycles;

/// The mean number of returns to the first call, each time that the circle is entered, from which
/// on it is a loop: calls that are repeated once are none.
const RETURNS_MIN: u64 = 2;

/// Units that can be reached from each other, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circle<'a> {
    pub(super) units: &'a [usize],
    /// From, to, and how often, of all units.
    pub(super) between: &'a [(usize, usize, u64)],
    /// How often each unit was entered from others, or repeated.
    pub(super) visits: &'a [u64],
}

impl Circle<'_> {
    /// Returns whether ranks return to a unit often enough, each time that they enter it from
    /// outside of the circle.
    pub(super) fn is_loop_from(&self, first: usize) -> bool {
        self.returns_at_least(RETURNS_MIN, first)
    }

    fn returns_at_least(&self, minimum: u64, first: usize) -> bool {
        let returns = self.returns(first);
        let entries = self.visits[first].saturating_sub(returns).max(1);
        returns >= minimum.saturating_mul(entries)
    }

    /// Returns the unit with which an iteration of the outer of two loops begins, if `first` is the
    /// begin of both: the one that is visited most, of those that complete requests of a loop from
    /// `first` that they are no part of (`completes`, of the unit and that loop). Other units may
    /// also be steps that only some iterations have.
    pub(super) fn outer_head(
        &self,
        first: usize,
        candidates: &[usize],
        completes: impl Fn(usize, &[usize]) -> bool,
    ) -> Option<usize> {
        let is_outer = |unit: &usize| {
            let Some(rest) = self.without(*unit, first) else { return false };
            let inner = Circle { units: &rest, ..*self };
            // Of two neighbours, one returns.
            rest.len() > 1 && inner.returns_at_least(1, first) && completes(*unit, &rest)
        };
        let outer = candidates.iter().copied().filter(|unit| *unit != first).filter(is_outer);
        outer.max_by_key(|unit| (self.visits[*unit], std::cmp::Reverse(*unit)))
    }

    fn returns(&self, to: usize) -> u64 {
        let is_return = |from: usize| self.units.binary_search(&from).is_ok();
        let returns = self.between.iter().filter(|edge| edge.1 == to && is_return(edge.0));
        returns.fold(0, |sum, (.., count)| sum.saturating_add(*count))
    }

    /// Returns the circle of `of` that is left without a unit.
    fn without(&self, unit: usize, of: usize) -> Option<Vec<usize>> {
        let is_left = |other: usize| other != unit && self.units.binary_search(&other).is_ok();
        let edges = self.between.iter().filter(|(from, to, _)| is_left(*from) && is_left(*to));
        let edges: Vec<(usize, usize)> = edges.map(|(from, to, _)| (*from, *to)).collect();
        let left = cycles(self.visits.len(), &edges);
        left.into_iter().find(|circle| circle.binary_search(&of).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty steps, each with three neighbours: receive (0), send (1), and then wait (2).
    const HALO: [(usize, usize, u64); 4] = [(0, 1, 60), (1, 0, 40), (1, 2, 20), (2, 0, 19)];

    #[test]
    fn the_outer_of_two_loops_begins_with_what_completes_requests_of_the_inner() {
        let circle = Circle { units: &[0, 1, 2], between: &HALO, visits: &[60, 60, 20] };
        assert!(circle.is_loop_from(0));
        let completes = |unit: usize, of: &[usize]| unit == 2 && of == [0, 1];
        assert_eq!(circle.outer_head(0, &[0, 1, 2], completes), Some(2));
        assert_eq!(circle.outer_head(0, &[0, 1, 2], |_, _| false), None);
    }

    #[test]
    fn what_is_entered_as_often_as_it_returns_is_no_loop_from_there() {
        let between = [(0, 1, 13), (1, 0, 3), (1, 2, 10), (2, 0, 10)];
        let circle = Circle { units: &[0, 1], between: &between, visits: &[13, 13, 10] };
        assert!(!circle.is_loop_from(0));
        let circle = Circle { units: &[0, 1], between: &between[..2], visits: &[4, 13, 10] };
        assert!(circle.is_loop_from(0));
    }
}
