//! The neighbours of a rank in the topology of a communicator.

use std::ffi::c_int;

use super::with;
use crate::abi::Handle;
use crate::library::Mpi;

/// The neighbours of a rank in a topology.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Neighbors {
    /// The number of ranks that it receives from.
    pub(crate) sources: u64,
    /// The number of ranks that it sends to.
    pub(crate) destinations: u64,
    /// The places of a buffer that belong to no neighbour, at the border of a grid: a bit for each.
    /// MPI ignores the arguments for them.
    border: u128,
}

impl Neighbors {
    /// Returns the places of a receive buffer that belong to a neighbour.
    pub(crate) fn source_places(&self) -> impl Iterator<Item = usize> + use<> {
        self.places(self.sources)
    }

    /// Returns the places of a send buffer that belong to a neighbour.
    pub(crate) fn destination_places(&self) -> impl Iterator<Item = usize> + use<> {
        self.places(self.destinations)
    }

    fn places(&self, count: u64) -> impl Iterator<Item = usize> + use<> {
        let border = self.border;
        let borders = u64::from(border.count_ones());
        let is_there = move |place: &usize| *place >= 128 || border >> *place & 1 == 0;
        (0..usize::try_from(count + borders).unwrap_or(0)).filter(is_there)
    }
}

/// Returns the caller's neighbours in the topology of a communicator; none if it has no topology.
pub(crate) fn neighbors(mpi: &Mpi, handle: Handle) -> Neighbors {
    let mut kind = 0;
    // SAFETY: the program uses the communicator in a call under way; the place is valid.
    let code = unsafe { mpi.topo_test(handle, &raw mut kind) };
    let [cartesian, graph, distributed] = mpi.abi.topologies;
    let number = |number: c_int| u64::from(number.unsigned_abs());
    if code != 0 {
        Neighbors::default()
    } else if kind == cartesian {
        neighbors_in_grid(mpi, handle)
    } else if kind == graph {
        let mut count = 0;
        let Some(rank) = with(mpi, handle, |known| known.rank) else {
            return Neighbors::default();
        };
        // SAFETY: the communicator has a graph, and the place is valid.
        let _ = unsafe { mpi.graph_neighbors_count(handle, rank, &raw mut count) };
        let count = number(count);
        Neighbors { sources: count, destinations: count, ..Neighbors::default() }
    } else if kind == distributed {
        let (mut sources, mut destinations, mut is_weighted) = (0, 0, 0);
        let places = (&raw mut sources, &raw mut destinations, &raw mut is_weighted);
        // SAFETY: the communicator has a distributed graph, and the places are valid.
        let _ = unsafe { mpi.dist_graph_neighbors_count(handle, places.0, places.1, places.2) };
        let (sources, destinations) = (number(sources), number(destinations));
        Neighbors { sources, destinations, ..Neighbors::default() }
    } else {
        Neighbors::default()
    }
}

fn neighbors_in_grid(mpi: &Mpi, handle: Handle) -> Neighbors {
    let mut dimensions = 0;
    // SAFETY: the communicator has a grid, and the place is valid.
    let _ = unsafe { mpi.cartdim_get(handle, &raw mut dimensions) };
    let (mut neighbors, mut border) = (0, 0_u128);
    for dimension in 0..dimensions {
        let (mut before, mut after) = (0, 0);
        let places = (&raw mut before, &raw mut after);
        // SAFETY: as above, and the grid has that dimension.
        let _ = unsafe { mpi.cart_shift(handle, dimension, 1, places.0, places.1) };
        for (side, rank) in (0..).zip([before, after]) {
            if rank != mpi.abi.proc_null {
                neighbors += 1;
            } else if let Some(bit) = 1_u128.checked_shl(2 * dimension.unsigned_abs() + side) {
                border |= bit;
            }
        }
    }
    Neighbors { sources: neighbors, destinations: neighbors, border }
}
