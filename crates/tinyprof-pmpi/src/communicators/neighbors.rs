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
        let Some(rank) = with(mpi, handle, |known| known.rank) else {
            return Neighbors::default();
        };
        let count = number(count_in_graph(mpi, handle, rank));
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

fn count_in_graph(mpi: &Mpi, handle: Handle, rank: c_int) -> c_int {
    let mut count = 0;
    // SAFETY: the communicator has a graph, and the place is valid.
    let _ = unsafe { mpi.graph_neighbors_count(handle, rank, &raw mut count) };
    count
}

fn neighbors_in_grid(mpi: &Mpi, handle: Handle) -> Neighbors {
    let mut dimensions = 0;
    // SAFETY: the communicator has a grid, and the place is valid.
    let _ = unsafe { mpi.cartdim_get(handle, &raw mut dimensions) };
    let (mut neighbors, mut border) = (0, 0_u128);
    for dimension in 0..dimensions {
        let (mut before, mut after) = (0, 0);
        let places = (&raw mut before, &raw mut after);
        // SAFETY: the communicator has a grid, and the place is valid, and the grid has that
        // dimension.
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

/// Returns the ranks that a rank receives from in the topology of a communicator, each once; none
/// if it has no topology.
pub(super) fn sources(mpi: &Mpi, handle: Handle, rank: c_int) -> Box<[u32]> {
    let mut kind = 0;
    // SAFETY: the program uses the communicator in a call under way; the place is valid.
    let code = unsafe { mpi.topo_test(handle, &raw mut kind) };
    let [cartesian, graph, distributed] = mpi.abi.topologies;
    let mut sources = if code != 0 {
        vec![]
    } else if kind == cartesian {
        sources_in_grid(mpi, handle)
    } else if kind == graph {
        let count = count_in_graph(mpi, handle, rank);
        let mut sources = vec![0; count.unsigned_abs() as usize];
        // SAFETY: the communicator has a graph, and the array holds as many ranks.
        let code = unsafe { mpi.graph_neighbors(handle, rank, count, sources.as_mut_ptr()) };
        if code == 0 { sources } else { vec![] }
    } else if kind == distributed {
        sources_in_distributed_graph(mpi, handle)
    } else {
        vec![]
    };
    sources.sort_unstable();
    sources.dedup();
    sources.into_iter().filter_map(|rank| u32::try_from(rank).ok()).collect()
}

fn sources_in_grid(mpi: &Mpi, handle: Handle) -> Vec<c_int> {
    let mut dimensions = 0;
    // SAFETY: the communicator has a grid, and the place is valid.
    let _ = unsafe { mpi.cartdim_get(handle, &raw mut dimensions) };
    let of_dimension = |dimension| {
        let (mut before, mut after) = (mpi.abi.proc_null, mpi.abi.proc_null);
        let places = (&raw mut before, &raw mut after);
        // SAFETY: the communicator has a grid, and the place is valid, and the grid has that
        // dimension.
        let _ = unsafe { mpi.cart_shift(handle, dimension, 1, places.0, places.1) };
        [before, after]
    };
    (0..dimensions).flat_map(of_dimension).filter(|rank| *rank != mpi.abi.proc_null).collect()
}

fn sources_in_distributed_graph(mpi: &Mpi, handle: Handle) -> Vec<c_int> {
    let (mut sources, mut destinations, mut is_weighted) = (0, 0, 0);
    let places = (&raw mut sources, &raw mut destinations, &raw mut is_weighted);
    // SAFETY: the communicator has a distributed graph, and the places are valid.
    let code = unsafe { mpi.dist_graph_neighbors_count(handle, places.0, places.1, places.2) };
    if code != 0 {
        return vec![];
    }
    let room = |count: c_int| vec![0; count.unsigned_abs() as usize];
    let (mut from, mut from_weights) = (room(sources), room(sources));
    let (mut to, mut to_weights) = (room(destinations), room(destinations));
    let from_places = (from.as_mut_ptr(), from_weights.as_mut_ptr());
    let to_places = (to.as_mut_ptr(), to_weights.as_mut_ptr());
    // SAFETY: the communicator has a distributed graph, and the places are valid, and the arrays
    // hold as many ranks and weights.
    let code = unsafe {
        mpi.dist_graph_neighbors(
            handle,
            sources,
            from_places.0,
            from_places.1,
            destinations,
            to_places.0,
            to_places.1,
        )
    };
    if code == 0 { from } else { vec![] }
}
