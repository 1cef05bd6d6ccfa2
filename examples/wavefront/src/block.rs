//! A rank's part of the planes, and the equation at a point.
//!
//! Each point has five values, which depend on those of the points before it in all three
//! directions: with s = u(i-1, j, k) + u(i, j-1, k) + u(i, j, k-1),
//! u = source + s / 4 + (sum of the five values of s) / 16. The source is such that value c of the
//! solution is i + 2 j + 3 k + c + 1. All numbers are multiples of 1 / 16, so that nothing is
//! rounded.

use std::ops::Range;

use tinyprof::profile;

/// The values of a point.
pub(crate) type Point = [f64; 5];

const NOTHING: Point = [0.0; 5];

/// A rank's part of all planes.
#[derive(Debug)]
pub(crate) struct Block {
    /// Points along each side of a plane.
    side: usize,
    source: Vec<Point>,
    u: Vec<Point>,
    exact: Vec<Point>,
}

/// Returns the solution at a point of the whole; outside it is 0.
fn solution(i: i32, j: i32, k: i32) -> Point {
    if i < 0 || j < 0 || k < 0 {
        return NOTHING;
    }
    let first = f64::from(i + 2 * j + 3 * k + 1);
    [0.0, 1.0, 2.0, 3.0, 4.0].map(|c| first + c)
}

/// Returns what the points before a point give to it.
fn given(points: [&Point; 3]) -> Point {
    let sum: Point = std::array::from_fn(|c| points[0][c] + points[1][c] + points[2][c]);
    let all = sum.iter().sum::<f64>() / 16.0;
    sum.map(|value| value / 4.0 + all)
}

impl Block {
    /// Returns the part that begins at these coordinates of a plane, with no value known yet.
    pub(crate) fn new(side: u32, planes: u32, begin: [u32; 2]) -> Self {
        let int = u32::cast_signed;
        let [x, y] = begin.map(int);
        let points = (0..int(planes)).flat_map(|k| {
            let row = move |j| (0..int(side)).map(move |i| (x + i, y + j, k));
            (0..int(side)).flat_map(row)
        });
        let exact: Vec<Point> = points.clone().map(|(i, j, k)| solution(i, j, k)).collect();
        let source = points.zip(&exact).map(|((i, j, k), exact)| {
            let before = [(i - 1, j, k), (i, j - 1, k), (i, j, k - 1)];
            let before = before.map(|(i, j, k)| solution(i, j, k));
            let given = given([&before[0], &before[1], &before[2]]);
            std::array::from_fn(|c| exact[c] - given[c])
        });
        let source: Vec<Point> = source.collect();
        Self { side: side as usize, u: vec![NOTHING; source.len()], source, exact }
    }

    /// Forgets all values.
    pub(crate) fn clear(&mut self) {
        self.u.fill(NOTHING);
    }

    /// Computes these planes, `times` times: only the last one counts. `before` are the values
    /// beside their first column and row, plane after plane; nothing at the end of the whole.
    #[profile]
    pub(crate) fn compute(&mut self, planes: Range<usize>, before: [&[Point]; 2], times: u32) {
        let side = self.side;
        for _ in 0..times {
            for (plane, k) in planes.clone().enumerate() {
                for j in 0..side {
                    for i in 0..side {
                        let here = (k * side + j) * side + i;
                        let beside = |ghosts: &[Point], at: usize| {
                            ghosts.get(plane * side + at).copied().unwrap_or(NOTHING)
                        };
                        let west = if i > 0 { self.u[here - 1] } else { beside(before[0], j) };
                        let north = if j > 0 { self.u[here - side] } else { beside(before[1], i) };
                        let below = if k > 0 { self.u[here - side * side] } else { NOTHING };
                        let given = given([&west, &north, &below]);
                        self.u[here] = std::array::from_fn(|c| self.source[here][c] + given[c]);
                    }
                }
            }
            std::hint::black_box(&mut self.u);
        }
    }

    /// Returns the last column and the last row of these planes, plane after plane.
    pub(crate) fn ends(&self, planes: Range<usize>) -> [Vec<Point>; 2] {
        let side = self.side;
        let column = |k| (0..side).map(move |j| (k * side + j) * side + side - 1);
        let row = |k| (0..side).map(move |i| (k * side + side - 1) * side + i);
        let column = planes.clone().flat_map(column).map(|here| self.u[here]).collect();
        [column, planes.flat_map(row).map(|here| self.u[here]).collect()]
    }

    /// Returns the largest error of this block.
    pub(crate) fn error(&self) -> f64 {
        let values = self.u.as_flattened().iter().zip(self.exact.as_flattened());
        values.map(|(u, exact)| (u - exact).abs()).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_blocks_have_the_solution_of_the_whole_exactly() {
        let mut whole = Block::new(12, 7, [0, 0]);
        whole.compute(0..7, [&[], &[]], 2);
        assert!(whole.error() == 0.0);

        let [mut first, mut second] = [0, 6].map(|x| Block::new(6, 7, [x, 0]));
        for planes in [0..3, 3..7] {
            first.compute(planes.clone(), [&[], &[]], 1);
            let [column, _] = first.ends(planes.clone());
            second.compute(planes, [&column, &[]], 1);
        }
        assert!(second.error() == 0.0);
        second.clear();
        second.compute(0..7, [&[], &[]], 1);
        assert!(second.error() > 0.0, "what comes from the neighbour counts");
    }
}
