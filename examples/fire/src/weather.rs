//! The global model: the wind over the whole forest, which the master knows.

use tinyprof::profile;

/// The wind at the edges of the forest.
pub(crate) const WIND: f64 = 0.75;

/// Sweeps over the forest in a step of time.
const SWEEPS: u32 = 10;

/// The wind in the cells of a square, row after row.
#[derive(Debug)]
pub(crate) struct Weather {
    side: usize,
    wind: Vec<f64>,
}

impl Weather {
    pub(crate) fn new(side: usize) -> Self {
        Self { side, wind: vec![WIND; side * side] }
    }

    /// Computes the weather of the next step, from the edges inwards: each cell is the mean of
    /// those around it. As the wind is the same at all edges, it is so everywhere, and nothing is
    /// rounded.
    #[profile]
    pub(crate) fn compute(&mut self) {
        let side = self.side;
        for _ in 0..SWEEPS {
            for row in 1..side - 1 {
                for cell in row * side + 1..(row + 1) * side - 1 {
                    let around = [cell - 1, cell + 1, cell - side, cell + side];
                    self.wind[cell] = around.iter().map(|&at| self.wind[at]).sum::<f64>() / 4.0;
                }
            }
            std::hint::black_box(&mut self.wind);
        }
    }

    /// Returns the wind in the middle of the forest.
    pub(crate) fn wind(&self) -> f64 {
        self.wind[(self.side / 2) * self.side + self.side / 2]
    }
}
