//! The hierarchy of a patch: a discrete wavelet transform in whole numbers, which loses nothing.
//!
//! Each step makes of two neighbours a and b their mean m = floor((a + b) / 2) and their difference
//! d = a - b, in all three directions (the S transform, Blume and Fand 1989), and the next step
//! goes on with the means.

use tinyprof::profile;

use crate::field::Cells;
use crate::grid::{Place, places};

/// Makes all steps: afterwards the coarsest means are in the first corner, and around them the
/// differences of ever finer steps.
#[profile(name = "trans", tag = "COMP")]
pub(crate) fn transform(patch: &mut Cells) {
    let mut side = patch.sides[0];
    while side > 1 {
        for axis in 0..3 {
            along(patch, axis, side, |line, half| {
                let pairs: Vec<[i32; 2]> =
                    line.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
                for (at, [a, b]) in pairs.into_iter().enumerate() {
                    (line[at], line[half + at]) = ((a + b).div_euclid(2), a - b);
                }
            });
        }
        side /= 2;
    }
}

/// Goes back from means of a cube of one cell to the values of a cube of the whole side.
pub(crate) fn restore(patch: &mut Cells) {
    let mut side = 2;
    while side <= patch.sides[0] {
        for axis in (0..3).rev() {
            along(patch, axis, side, |line, half| {
                let (means, differences) = line.split_at(half);
                let pair = |(mean, difference): (&i32, &i32)| {
                    let a = mean + (difference + 1).div_euclid(2);
                    [a, a - difference]
                };
                let values: Vec<i32> = means.iter().zip(differences).flat_map(pair).collect();
                line.copy_from_slice(&values);
            });
        }
        side *= 2;
    }
}

/// Changes each line of the first `side` cells along a direction.
fn along(patch: &mut Cells, axis: usize, side: usize, mut change: impl FnMut(&mut [i32], usize)) {
    let mut starts = [side; 3];
    starts[axis] = 1;
    let mut line = vec![0; side];
    for start in places(starts) {
        let cell = |at: usize| {
            let mut place = start;
            place[axis] = at;
            place
        };
        (0..side).for_each(|at| line[at] = patch.at(cell(at)));
        change(&mut line, side / 2);
        (0..side).for_each(|at| patch.set(cell(at), line[at]));
    }
}

/// Returns the places of a level: 0 is the coarsest mean, and each next one has the differences
/// that double the resolution.
pub(crate) fn level_places(level: u32) -> impl Iterator<Item = Place> {
    let side = 1_usize << level;
    let is_new = move |place: &Place| level == 0 || place.iter().any(|&at| at >= side / 2);
    places([side; 3]).filter(is_new)
}

/// Returns the number of levels of a patch.
pub(crate) fn levels(side: usize) -> u32 {
    side.ilog2() + 1
}

/// Returns the values of a transformed patch, level after level.
#[profile(name = "organ", tag = "COMP")]
pub(crate) fn by_level(patch: &Cells) -> Vec<Vec<i32>> {
    let of = |level| level_places(level).map(|place| patch.at(place)).collect();
    (0..levels(patch.sides[0])).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_loses_nothing_and_the_corner_is_the_mean() {
        let whole = Cells::of_field([60, 3, 9], 8, 128, 2);
        let mut patch = whole.clone();
        transform(&mut patch);
        assert_ne!(patch, whole);
        let mean = whole.values.iter().sum::<i32>() / 512;
        assert!((patch.at([0; 3]) - mean).abs() <= 9, "{} {mean}", patch.at([0; 3]));
        assert_eq!(by_level(&patch).iter().map(Vec::len).collect::<Vec<usize>>(), [1, 7, 56, 448]);
        restore(&mut patch);
        assert_eq!(patch, whole);
    }

    #[test]
    fn the_first_levels_are_the_field_at_a_lower_resolution() {
        let whole = Cells::of_field([0, 0, 0], 8, 128, 0);
        let mut patch = whole.clone();
        transform(&mut patch);
        let mut coarse = patch.cut([0; 3], 4);
        restore(&mut coarse);
        let expected = places([4; 3]).map(|place| {
            let eight = places([2; 3])
                .map(|part| whole.at(std::array::from_fn(|axis| 2 * place[axis] + part[axis])));
            eight.sum::<i32>() / 8
        });
        for (found, expected) in coarse.values.iter().zip(expected) {
            assert!((found - expected).abs() <= 3, "{found} {expected}");
        }
    }
}
