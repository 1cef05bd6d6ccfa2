//! Values in the cells of a rank's block, with those of the neighbours around them.

use mpi::point_to_point as p2p;
use mpi::topology::CartesianCommunicator;
use mpi::traits::*;
use tinyprof::profile;

/// Values in `side`^3 cells, and in one layer of cells around them.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    side: usize,
    values: Vec<f64>,
}

/// The steps from a cell to the next one in each direction.
fn strides(side: usize) -> [usize; 3] {
    let width = side + 2;
    [width * width, width, 1]
}

impl Field {
    /// Returns a field of zeros.
    pub(crate) fn new(side: usize) -> Self {
        Self { side, values: vec![0.0; (side + 2).pow(3)] }
    }

    pub(crate) fn side(&self) -> usize {
        self.side
    }

    /// Returns the place of an inner cell; coordinates begin at 0.
    pub(crate) fn place(&self, [i, j, k]: [usize; 3]) -> usize {
        let [x, y, z] = strides(self.side);
        (i + 1) * x + (j + 1) * y + (k + 1) * z
    }

    pub(crate) fn at(&self, cell: [usize; 3]) -> f64 {
        self.values[self.place(cell)]
    }

    pub(crate) fn set(&mut self, cell: [usize; 3], value: f64) {
        let place = self.place(cell);
        self.values[place] = value;
    }

    /// Sets all values to 0.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Returns the sum of the six cells around the one at this place.
    pub(crate) fn around(&self, place: usize) -> f64 {
        let [x, y, z] = strides(self.side);
        let u = &self.values;
        let pair = |step: usize| u[place - step] + u[place + step];
        pair(x) + pair(y) + pair(z)
    }

    pub(crate) fn value(&self, place: usize) -> f64 {
        self.values[place]
    }

    pub(crate) fn replace(&mut self, place: usize, value: f64) {
        self.values[place] = value;
    }

    /// Gives the neighbours the cells that they need, and takes theirs. At the ends of the whole,
    /// where the solution is 0, the cell beyond has the opposite value. Collective.
    #[profile]
    pub(crate) fn exchange(&mut self, grid: &CartesianCommunicator) {
        for (axis, dimension) in (0..3).enumerate() {
            let (lower, upper) = grid.shift(dimension, 1);
            // Up: the last layer goes to the upper neighbour, and that of the lower one comes.
            self.shift(grid, axis, [self.side, 0], [upper, lower]);
            self.shift(grid, axis, [1, self.side + 1], [lower, upper]);
        }
    }

    /// Sends the layer `mine` to the first rank, and takes the layer `theirs` from the second.
    fn shift(
        &mut self,
        grid: &CartesianCommunicator,
        axis: usize,
        [mine, theirs]: [usize; 2],
        [to, from]: [Option<i32>; 2],
    ) {
        let sent = self.layer(axis, mine);
        let to = to.map(|rank| grid.process_at_rank(rank));
        let mut received = vec![0.0; sent.len()];
        match (to, from.map(|rank| grid.process_at_rank(rank))) {
            (Some(to), Some(from)) => {
                p2p::send_receive_into(&sent[..], &to, &mut received[..], &from);
            }
            (Some(to), None) => to.send(&sent[..]),
            (None, Some(from)) => {
                from.receive_into(&mut received[..]);
            }
            (None, None) => {}
        }
        if from.is_none() {
            // The layer inside of the one that is taken.
            let inside = if theirs == 0 { 1 } else { self.side };
            received = self.layer(axis, inside).iter().map(|value| -value).collect();
        }
        let places = self.layer_places(axis, theirs);
        places.zip(received).for_each(|(place, value)| self.values[place] = value);
    }

    fn layer(&self, axis: usize, layer: usize) -> Vec<f64> {
        self.layer_places(axis, layer).map(|place| self.values[place]).collect()
    }

    /// The inner cells of a layer; 0 and `side + 1` are those around the block.
    fn layer_places(&self, axis: usize, layer: usize) -> impl Iterator<Item = usize> + use<> {
        let (strides, side) = (strides(self.side), self.side);
        let [first, second] = [(axis + 1) % 3, (axis + 2) % 3].map(|axis| strides[axis]);
        let row = move |i| (1..=side).map(move |j| i * first + j * second);
        let begin = layer * strides[axis];
        (1..=side).flat_map(row).map(move |place| begin + place)
    }

    /// Returns the coordinates of all inner cells.
    pub(crate) fn cells(side: usize) -> impl Iterator<Item = [usize; 3]> + Clone {
        let plane = move |i| (0..side).flat_map(move |j| (0..side).map(move |k| [i, j, k]));
        (0..side).flat_map(plane)
    }
}
