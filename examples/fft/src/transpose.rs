//! The transpose of a matrix whose rows are distributed over the ranks.
//!
//! Each rank cuts its rows into P blocks, one for each rank, and transposes each while packing it.
//! The blocks are exchanged, and unpacking places them side by side. For 3 ranks, seen from rank 1:
//!
//! ```text
//!   own rows          send buffer         receive buffer       own rows of the transpose
//! +---+---+---+      +---+---+---+       +---+---+---+        +---+---+---+
//! | a | b | c | pack | a'| b'| c'| swap  | . | b'| . | unpack | . | b'| . |
//! +---+---+---+ ---> +---+---+---+ ----> +---+---+---+ ---->  +---+---+---+
//!                    to rank 0 1 2       from rank 0 1 2
//! ```
//!
//! In the buffers the blocks are consecutive; in a matrix they share rows. All blocks have N/P^2
//! points.

use rustfft::num_complex::Complex64;
use tinyprof::{profile, profile_scope};

use crate::exchange::Exchange;
use crate::layout::Matrix;

/// The two buffers of a transpose, shared by all runs.
#[derive(Debug)]
pub(crate) struct Transposer {
    send: Vec<Complex64>,
    receive: Vec<Complex64>,
}

impl Transposer {
    /// Returns buffers for matrices of which each rank owns `share` points.
    pub(crate) fn new(share: usize) -> Self {
        Self { send: vec![Complex64::default(); share], receive: vec![Complex64::default(); share] }
    }

    /// Replaces this rank's rows of the `matrix` by its rows of the transpose. Collective.
    #[profile]
    pub(crate) fn transpose<E: Exchange>(
        &mut self,
        matrix: Matrix,
        ranks: &E,
        data: &mut [Complex64],
    ) {
        pack(matrix, data, &mut self.send);
        {
            profile_scope!("alltoall");
            ranks.all_to_all(&self.send, &mut self.receive);
        }
        unpack(matrix, &self.receive, data);
    }
}

/// Number of points read from a row before the next row: eight cache lines, all fully used. Each
/// point goes to a line of its own, so with more points there would be more lines at a time than a
/// cache can keep apart.
const SIDE_BY_SIDE: usize = 32;

/// Cuts the rows of `data` into a block for each rank and writes each block column by column.
#[profile(tag = "COMP")]
fn pack(matrix: Matrix, data: &[Complex64], send: &mut [Complex64]) {
    let (height, width) = (matrix.rows_here(), matrix.columns_there());
    for (to, block) in send.chunks_exact_mut(height * width).enumerate() {
        for (strip, lines) in block.chunks_mut(SIDE_BY_SIDE * height).enumerate() {
            let first = to * width + strip * SIDE_BY_SIDE;
            for (row, values) in data.chunks_exact(matrix.columns).enumerate() {
                for (line, value) in lines.chunks_exact_mut(height).zip(&values[first..]) {
                    line[row] = *value;
                }
            }
        }
    }
}

/// Places the received blocks side by side: a column over all ranks is then a row of `data`.
#[profile(tag = "COMP")]
fn unpack(matrix: Matrix, receive: &[Complex64], data: &mut [Complex64]) {
    let (height, width) = (matrix.rows_here(), matrix.columns_there());
    for (from, block) in receive.chunks_exact(height * width).enumerate() {
        for (line, row) in block.chunks_exact(height).zip(data.chunks_exact_mut(matrix.rows)) {
            row[from * height..][..height].copy_from_slice(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::memory::on_ranks;
    use crate::sixstep::real;

    /// Returns a matrix in which every value encodes its position.
    fn numbered(rows: usize, columns: usize) -> Vec<Complex64> {
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        places.map(|(row, column)| Complex64::new(real(row), real(column))).collect()
    }

    #[test]
    fn every_value_finds_its_place() {
        for ranks in 1..=5 {
            for (a, b) in [(1, 1), (1, 3), (2, 1), (3, 4), (5, 2), (2, 67)] {
                let matrix = Matrix { rows: a * ranks, columns: b * ranks, ranks };
                let mut data = numbered(matrix.rows, matrix.columns);
                on_ranks(ranks, &mut data, |_, world, share| {
                    Transposer::new(share.len()).transpose(matrix, world, share);
                });
                let swapped: Vec<_> =
                    data.iter().map(|value| Complex64::new(value.im, value.re)).collect();
                assert_eq!(swapped, numbered(matrix.columns, matrix.rows), "{matrix:?}");
            }
        }
    }

    #[test]
    fn a_block_is_packed_column_by_column() {
        let matrix = Matrix { rows: 4, columns: 4, ranks: 2 };
        let mut send = vec![Complex64::default(); 8];
        pack(matrix, &numbered(2, 4), &mut send);
        let places: Vec<_> = send.iter().map(|value| (value.re, value.im)).collect();
        let to_0 = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)];
        let to_1 = [(0.0, 2.0), (1.0, 2.0), (0.0, 3.0), (1.0, 3.0)];
        assert_eq!(places, [to_0, to_1].concat());
    }
}
