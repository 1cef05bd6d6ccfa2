//! The six-step algorithm: one long transform as many short ones and three transposes.
//!
//! With N = n1 * n2, write the point j = j1 * n2 + j2 and the frequency k = k1 + n1 * k2. As
//! w(N) = exp(-2 pi i / N) has w(N)^n2 = w(n1), w(N)^n1 = w(n2) and w(N)^N = 1,
//!
//! ```text
//! X[k1 + n1 k2] =  sum   ( w(N)^(j2 k1) *  sum   x[j1 n2 + j2] w(n1)^(j1 k1) ) * w(n2)^(j2 k2)
//!                 over j2                 over j1
//!                                         `-- step 2: length n1, one for each j2 --'
//!                          `-- step 3 --'
//!                 `-- step 5: length n2, one for each k1 -----------------------------------'
//! ```
//!
//! A rank can transform its own rows, so the summation index must run along a row:
//!
//! | step | region | what | matrix, by rows |
//! |---|---|---|---|
//! | | | the input | n1 x n2: `x[j1][j2]` |
//! | 1 | `transpose` | | n2 x n1: `[j2][j1]` |
//! | 2 | `columns` | transforms of length n1: columns of the input | n2 x n1: `[j2][k1]` |
//! | 3 | `twiddle` | times w(N)^(j2 k1) | n2 x n1: `[j2][k1]` |
//! | 4 | `transpose` | | n1 x n2: `[k1][j2]` |
//! | 5 | `rows` | transforms of length n2 | n1 x n2: `[k1][k2]` |
//! | 6 | `transpose` | | n2 x n1: `X[k2][k1]`, in natural order |
//!
//! The inverse conjugates every w and divides by N.

use std::f64::consts::TAU;
use std::fmt;
use std::sync::Arc;

use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftDirection, FftPlanner};
use tinyprof::{profile, profile_scope};

use crate::exchange::Exchange;
use crate::layout::Layout;
use crate::transpose::Transposer;

/// The direction of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From points to frequencies, scaled by 1.
    Forward,
    /// From frequencies to points, scaled by 1/N: the inverse of `Forward`.
    Inverse,
}

/// One rank's part of a transform, with everything that all runs share. A run allocates nothing.
pub(crate) struct SixStep {
    layout: Layout,
    rank: usize,
    /// The transform of length n1.
    columns: Arc<dyn Fft<f64>>,
    /// The transform of length n2.
    rows: Arc<dyn Fft<f64>>,
    /// The factors of step 3 for this rank's points, with the scale of the inverse in them.
    twiddles: Vec<Complex64>,
    transposer: Transposer,
    scratch: Vec<Complex64>,
}

impl SixStep {
    /// Plans the part of `rank` in a transform of this layout.
    #[profile(tag = "COMP")]
    pub(crate) fn plan(layout: Layout, rank: usize, direction: Direction) -> Self {
        let matrix = layout.matrix();
        let way = match direction {
            Direction::Forward => FftDirection::Forward,
            Direction::Inverse => FftDirection::Inverse,
        };
        let mut planner = FftPlanner::new();
        let columns = planner.plan_fft(matrix.rows, way);
        let rows = planner.plan_fft(matrix.columns, way);
        let scratch = columns.get_inplace_scratch_len().max(rows.get_inplace_scratch_len());
        Self {
            layout,
            rank,
            columns,
            rows,
            twiddles: twiddles(layout, rank, direction),
            transposer: Transposer::new(layout.share()),
            scratch: vec![Complex64::default(); scratch],
        }
    }

    /// Transforms the points of all ranks in place; `data` is this rank's share. Collective.
    #[profile]
    pub(crate) fn transform<E: Exchange>(&mut self, ranks: &E, data: &mut [Complex64]) {
        let matrix = self.layout.matrix();
        self.transposer.transpose(matrix, ranks, data);
        {
            profile_scope!("columns", tag = "COMP");
            self.columns.process_with_scratch(data, &mut self.scratch);
        }
        self.twiddle(data);
        self.transposer.transpose(matrix.transposed(), ranks, data);
        {
            profile_scope!("rows", tag = "COMP");
            self.rows.process_with_scratch(data, &mut self.scratch);
        }
        self.transposer.transpose(matrix, ranks, data);
    }

    /// Multiplies each point by its factor.
    #[profile(tag = "COMP")]
    fn twiddle(&self, data: &mut [Complex64]) {
        for (value, factor) in data.iter_mut().zip(&self.twiddles) {
            *value *= factor;
        }
    }

    /// Returns the layout of the points on the ranks.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the rank of this part, 0-based.
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }
}

impl fmt::Debug for SixStep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SixStep")
            .field("layout", &self.layout)
            .field("rank", &self.rank)
            .finish_non_exhaustive()
    }
}

/// Returns `w(N)^(j2 k1)` for the rows j2 that `rank` owns after step 1, times 1/N for the inverse.
fn twiddles(layout: Layout, rank: usize, direction: Direction) -> Vec<Complex64> {
    let matrix = layout.matrix().transposed();
    let (scale, turn) = match direction {
        Direction::Forward => (1.0, -TAU / real(layout.size())),
        Direction::Inverse => (1.0 / real(layout.size()), TAU / real(layout.size())),
    };
    let first = rank * matrix.rows_here();
    let rows = first..first + matrix.rows_here();
    // j2 < n2 and k1 < n1, so the product is below N: no precision is lost to whole turns.
    let products = rows.flat_map(|j2| (0..matrix.columns).map(move |k1| j2 * k1));
    products.map(|product| Complex64::from_polar(scale, turn * real(product))).collect()
}

/// Converts the number to a float.
#[expect(
    clippy::cast_precision_loss,
    reason = "a share is below 2^31, so 2^53 points are 2^22 ranks away"
)]
pub(crate) fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
