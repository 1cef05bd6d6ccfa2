//! The distribution of the N points: into a matrix, and over the ranks.
//!
//! N = n1 * n2 points form a matrix of n1 rows and n2 columns, row after row. Each rank owns a
//! block of whole rows, which is also a block of N/P consecutive points. For 4 ranks:
//!
//! ```text
//!             n2 columns
//!        +---------------------+
//!        | x0   x1   ...       |  rank 0: n1/4 rows     A transpose leaves n2 rows of n1, and
//!        +---------------------+                        each rank owns n2/4 of those:
//! n1     | x(n2) ...           |  rank 1                        n1
//! rows   +---------------------+                           +----------+
//!        |                     |  rank 2                   |          |  rank 0
//!        +---------------------+                           +----------+
//!        |              x(N-1) |  rank 3               n2  |          |  rank 1
//!        +---------------------+                           :          :
//! ```
//!
//! Both dimensions must divide evenly, so P divides n1 and n2, and P^2 divides N.

use std::fmt;

/// The layout of N points on P ranks. Equal on every rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    ranks: usize,
    n1: usize,
    n2: usize,
}

impl Layout {
    /// Returns the layout of `size` points over `ranks` ranks, with a matrix as close to a square
    /// as possible.
    ///
    /// # Errors
    ///
    /// Fails if the size is zero or not a multiple of the square of `ranks`, or if MPI cannot count
    /// a share.
    pub(crate) fn new(size: usize, ranks: usize) -> Result<Self, LayoutError> {
        let square = ranks * ranks;
        if size == 0 || !size.is_multiple_of(square) {
            return Err(LayoutError::NotAMultiple { size, ranks });
        }
        // MPI counts in C ints. A share is the largest count, and bounds every displacement.
        if i32::try_from(size / ranks).is_err() {
            return Err(LayoutError::ShareTooLarge { size, ranks });
        }
        let rest = size / square;
        let factor = (1..=rest.isqrt()).rev().find(|n| rest.is_multiple_of(*n)).unwrap_or(1);
        Ok(Self { ranks, n1: ranks * factor, n2: ranks * (rest / factor) })
    }

    /// Returns the default size: the largest P^2 * 2^k up to 2^18, or P^2.
    pub(crate) fn default_size(ranks: usize) -> usize {
        let mut size = ranks * ranks;
        while size * 2 <= 1 << 18 {
            size *= 2;
        }
        size
    }

    /// Returns N, the total number of points.
    pub(crate) fn size(self) -> usize {
        self.n1 * self.n2
    }

    /// Returns the number of points that each rank owns.
    pub(crate) fn share(self) -> usize {
        self.size() / self.ranks
    }

    /// Returns the first point that `rank` owns, 0-based. It is equal before and after the
    /// transform.
    pub(crate) fn first(self, rank: usize) -> usize {
        rank * self.share()
    }

    /// Returns the shape of the matrix of points: n1 rows of n2.
    pub(crate) fn matrix(self) -> Matrix {
        Matrix { rows: self.n1, columns: self.n2, ranks: self.ranks }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ranks, n1, n2 } = self;
        write!(out, "N = {} ({n1} x {n2}), P = {ranks}", self.size())
    }
}

/// The shape of a matrix whose rows are distributed in blocks, one per rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Matrix {
    /// Number of rows: a multiple of `ranks`.
    pub(crate) rows: usize,
    /// Length of a row: a multiple of `ranks`.
    pub(crate) columns: usize,
    /// Number of ranks.
    pub(crate) ranks: usize,
}

impl Matrix {
    /// Returns the shape of the transpose.
    pub(crate) fn transposed(self) -> Self {
        Self { rows: self.columns, columns: self.rows, ranks: self.ranks }
    }

    /// Returns the number of rows that each rank owns.
    pub(crate) fn rows_here(self) -> usize {
        self.rows / self.ranks
    }

    /// Returns the number of columns that each rank owns after a transpose.
    pub(crate) fn columns_there(self) -> usize {
        self.columns / self.ranks
    }
}

/// A size that cannot be distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayoutError {
    /// The size is zero or not a multiple of the square of the number of ranks.
    NotAMultiple { size: usize, ranks: usize },
    /// A rank's share is larger than MPI can count.
    ShareTooLarge { size: usize, ranks: usize },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NotAMultiple { size, ranks } => {
                let square = ranks * ranks;
                let below = size / square * square;
                let above = below.saturating_add(square);
                write!(
                    out,
                    "--size {size} is not a multiple of {square}, the square of {ranks} ranks: choose "
                )?;
                if below > 0 { write!(out, "{below} or {above}") } else { write!(out, "{above}") }
            }
            Self::ShareTooLarge { size, ranks } => {
                write!(
                    out,
                    "--size {size} leaves {} points to each of {ranks} ranks, and MPI counts to {}: \
                     choose a smaller size or more ranks",
                    size / ranks,
                    i32::MAX
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_multiple_of_the_square_of_the_ranks_is_split_evenly() {
        for ranks in 1..=8 {
            for rest in 1..=60 {
                let size = ranks * ranks * rest;
                let layout = Layout::new(size, ranks).unwrap();
                let matrix = layout.matrix();
                assert_eq!((layout.size(), layout.share() * ranks), (size, size));
                assert_eq!(matrix.rows_here() * ranks * matrix.columns, size);
                assert_eq!(matrix.columns_there() * ranks * matrix.rows, size);
                assert!(matrix.rows <= matrix.columns);
                assert_eq!(layout.first(ranks), size);
            }
        }
    }

    #[test]
    fn a_matrix_is_as_near_to_a_square_as_can_be() {
        let shape = |size, ranks| {
            (Layout::new(size, ranks).unwrap().n1, Layout::new(size, ranks).unwrap().n2)
        };
        assert_eq!(shape(1 << 18, 4), (512, 512));
        assert_eq!(shape(1 << 17, 4), (256, 512));
        assert_eq!(shape(9 * 15, 3), (9, 15));
        assert_eq!(shape(7, 1), (1, 7));
    }

    #[test]
    fn the_default_size_can_always_be_split() {
        for ranks in 1..=1024 {
            assert!(Layout::new(Layout::default_size(ranks), ranks).is_ok());
        }
        assert_eq!(Layout::default_size(4), 1 << 18);
        assert_eq!(Layout::default_size(3), 9 << 14);
        assert_eq!(Layout::default_size(1024), 1 << 20);
    }

    #[test]
    fn a_size_that_cannot_be_split_is_named_with_what_to_choose() {
        let said = |size, ranks| Layout::new(size, ranks).unwrap_err().to_string();
        assert_eq!(
            said(1000, 3),
            "--size 1000 is not a multiple of 9, the square of 3 ranks: choose 999 or 1008"
        );
        assert_eq!(
            said(5, 4),
            "--size 5 is not a multiple of 16, the square of 4 ranks: choose 16"
        );
        assert_eq!(said(0, 2), "--size 0 is not a multiple of 4, the square of 2 ranks: choose 4");
        assert!(said(usize::MAX, 2).contains("choose 18446744073709551612 or"));
        assert!(said(1 << 32, 2).contains("2147483648 points to each of 2 ranks"));
    }
}
