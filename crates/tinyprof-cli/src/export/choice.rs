//! The ranks that a side-by-side viewer gets: all, or representatives of a wide profile.
//!
//! Ranks are compared by the exclusive times of all callpaths. The first representative is the rank
//! nearest to the mean of all. Each further one is the rank farthest from those chosen so far
//! (farthest-point clustering), so that outliers are included. Ties go to the lower rank, so equal
//! profiles give equal choices.

use std::borrow::Borrow;

use tinyprof_report::Totals;

use super::exporter::float;

/// A rank to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) rank: usize,
    /// The number of ranks that it represents, including itself.
    pub(crate) stands_for: usize,
}

impl Shown {
    /// Returns its name in the viewer.
    pub(super) fn name(self) -> String {
        match self.stands_for {
            1 => format!("rank {}", self.rank),
            ranks => format!("rank {}, for {ranks} ranks like it", self.rank),
        }
    }
}

/// The ranks to show, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) shown: Vec<Shown>,
    /// `true` if ranks were left out, so that the mean, minimum and maximum of all must be shown
    /// too.
    pub(crate) is_capped: bool,
}

/// How to see other ranks.
const MORE: &str = "--max-ranks shows more, --rank those that you name";

impl Choice {
    /// Returns a note for standard error on those left out of this number of ranks, if any.
    pub(super) fn note(&self, ranks: usize) -> Option<String> {
        let (all, shown) = (ranks, self.shown.len());
        self.is_capped.then(|| {
            format!(
                "{all} ranks are shown as their mean, minimum and maximum and {shown} representatives; \
                 {MORE}"
            )
        })
    }

    /// As [`note`](Self::note), for what has no mean of ranks.
    pub(super) fn note_without_mean(&self, ranks: usize) -> Option<String> {
        let (all, shown) = (ranks, self.shown.len());
        self.is_capped.then(|| format!("of {all} ranks {shown} representatives are shown; {MORE}"))
    }
}

/// Chooses all of `ranks` if they are at most `most`, else `most` representatives.
///
/// # Errors
/// Those of `totals`, which are needed only to choose.
pub(crate) fn choose<T: Borrow<Totals>, E>(
    ranks: &[usize],
    most: usize,
    totals: impl FnOnce() -> Result<T, E>,
) -> Result<Choice, E> {
    let is_capped = ranks.len() > most;
    if !is_capped {
        let shown = ranks.iter().map(|&rank| Shown { rank, stands_for: 1 }).collect();
        return Ok(Choice { shown, is_capped });
    }
    let exclusive_ns = totals()?.borrow().exclusive_ns();
    let of_rank = |&rank: &usize| -> Vec<f64> {
        exclusive_ns.iter().map(|of_ranks| float(of_ranks[rank].into())).collect()
    };
    let vectors: Vec<Vec<f64>> = ranks.iter().map(of_rank).collect();
    let mut shown: Vec<Shown> = clusters(&vectors, most)
        .into_iter()
        .map(|(position, stands_for)| Shown { rank: ranks[position], stands_for })
        .collect();
    shown.sort_by_key(|shown| shown.rank);
    Ok(Choice { shown, is_capped })
}

/// Returns the positions of at most `most` of the vectors, each with the number of vectors nearest
/// to it.
fn clusters(vectors: &[Vec<f64>], most: usize) -> Vec<(usize, usize)> {
    let mean: Vec<f64> = (0..vectors.first().map_or(0, Vec::len))
        .map(|at| {
            vectors.iter().map(|vector| vector[at]).sum::<f64>() / float(vectors.len() as u128)
        })
        .collect();
    // The distance to the nearest representative for each vector, and that representative.
    let mut nearest: Vec<(f64, usize)> =
        vectors.iter().map(|vector| (distance(vector, &mean), 0)).collect();
    let Some(mut next) = position_by(&nearest, |new, old| new < old) else { return Vec::new() };
    nearest.iter_mut().for_each(|nearest| nearest.0 = f64::INFINITY);
    let mut chosen = Vec::new();
    while chosen.len() < most && nearest[next].0 > 0.0 {
        for (vector, nearest) in vectors.iter().zip(&mut nearest) {
            let distance = distance(vector, &vectors[next]);
            if distance < nearest.0 {
                *nearest = (distance, chosen.len());
            }
        }
        chosen.push((next, 0));
        next = position_by(&nearest, |new, old| new > old).unwrap_or(next);
    }
    for (_, cluster) in nearest {
        chosen[cluster].1 += 1;
    }
    chosen
}

/// Returns the square of the Euclidean distance.
fn distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Returns the first position whose distance is `better` than all before it.
fn position_by(list: &[(f64, usize)], better: impl Fn(f64, f64) -> bool) -> Option<usize> {
    (0..list.len()).reduce(|best, at| if better(list[at].0, list[best].0) { at } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], most: usize, expected: &[(usize, usize)]) {
        let vectors: Vec<Vec<f64>> = values.iter().map(|&value| vec![value, 1.0]).collect();
        assert_eq!(clusters(&vectors, most), expected, "{values:?}");
    }

    #[test]
    fn representatives_are_the_middle_and_then_the_farthest() {
        check(&[1.0, 2.0, 3.0, 100.0, 101.0, 50.0], 1, &[(5, 6)]);
        check(&[1.0, 2.0, 3.0, 100.0, 101.0, 50.0], 3, &[(5, 1), (4, 2), (0, 3)]);
        check(&[7.0, 7.0, 7.0, 9.0], 3, &[(0, 3), (3, 1)]);
        check(&[7.0, 7.0], 1, &[(0, 2)]);
        check(&[], 1, &[]);
    }

    #[test]
    fn a_name_says_how_many_ranks_it_stands_for() {
        assert_eq!(Shown { rank: 3, stands_for: 1 }.name(), "rank 3");
        assert_eq!(Shown { rank: 3, stands_for: 40 }.name(), "rank 3, for 40 ranks like it");
    }
}
