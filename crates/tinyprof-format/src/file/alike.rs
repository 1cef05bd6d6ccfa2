//! Times of edges that are kept by class of ranks, and not by rank.
//!
//! The times of an edge differ from rank to rank by chance, and each costs several bytes. In a wide
//! run whose callpaths have sums alone, ranks that did the same get the mean of their times where
//! these are alike. Counts, bytes, orders, and ranks that differ stay as they are.

mod class;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::encoded_rank::EncodedRank;
use crate::model::{Edge, EdgeKey, ExecutionSummary};
use class::Room;

/// The fewest ranks of a run whose edges are [joined](join_alike). Each rank of a small run is
/// looked at.
pub const JOINED_RANKS_MIN: u32 = 64;

/// The position of an edge: rank, callpath, and position among its edges.
type Place = (usize, usize, usize);

/// Gives ranks of a run of `ranks` ranks whose edges are alike the mean of their times.
///
/// A time of an edge differs afterwards from that of the rank by at most 1/50 of itself, and
/// besides by at most 2 µs for each instance and by 1/128 of the rank's time in the run; so do all
/// edges of a rank together. The shortest and the longest time and the deviation are those of all
/// ranks that were joined. Shortest and longest differ from those of the rank by at most 1/8 and
/// 2 µs. Sums over ranks change by less than 1 ns for each rank and edge.
///
/// Nothing changes below 64 ranks, or if a callpath of a rank has a series: then each visit is
/// known.
pub fn join_alike(encoded: &mut [EncodedRank], ranks: u32) {
    let has_series = |rank: &EncodedRank| rank.callpaths.iter().any(|c| !c.series.is_empty());
    if ranks < JOINED_RANKS_MIN || encoded.iter().any(has_series) {
        return;
    }
    let mut rooms: Vec<Room> = encoded.iter().map(|rank| Room::of(duration_ns(rank))).collect();
    for ((_, key, _), places) in by_key(encoded) {
        let mut edges: Vec<(usize, Edge)> =
            places.iter().map(|&place| (place.0, *at(encoded, place))).collect();
        class::join(&mut edges, key.kind.waits(), &mut rooms);
        for (place, (_, edge)) in places.into_iter().zip(edges) {
            *at(encoded, place) = edge;
        }
    }
}

/// Returns the places of all edges by callpath, key and number of instances.
fn by_key(encoded: &[EncodedRank]) -> BTreeMap<(u32, EdgeKey, u64), Vec<Place>> {
    let mut places = BTreeMap::<_, Vec<Place>>::new();
    for (rank, of_rank) in encoded.iter().enumerate() {
        for (at, callpath) in of_rank.callpaths.iter().enumerate() {
            for (position, (key, edge)) in callpath.edges.iter().enumerate() {
                let class = (callpath.row, *key, edge.count);
                places.entry(class).or_default().push((rank, at, position));
            }
        }
    }
    places
}

fn at(encoded: &mut [EncodedRank], (rank, callpath, position): Place) -> &mut Edge {
    &mut encoded[rank].callpaths[callpath].edges[position].1
}

/// Returns the time of a rank in the run, in ns: if it is not known, that of its longest callpath.
fn duration_ns(rank: &EncodedRank) -> u64 {
    let sum = |executions: &[ExecutionSummary]| {
        executions.iter().fold(0_u64, |sum, summary| sum.saturating_add(summary.sum_ns))
    };
    let longest = || rank.callpaths.iter().map(|c| sum(&c.executions)).max().unwrap_or(0);
    if rank.facts.processor.wall_ns > 0 { rank.facts.processor.wall_ns } else { longest() }
}
