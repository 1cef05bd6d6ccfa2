//! What the messages and edges of a wide run may add to its bytes.

#[path = "../examples/halo_bytes/halo.rs"]
mod halo;

use halo::{Contents, part_bytes};

#[test]
fn edges_take_a_tenth_of_the_times_of_a_halo_exchange_of_4096_ranks() {
    let bytes = |has_edges| {
        let contents = Contents {
            times_differ: true,
            each_iteration: false,
            messages: has_edges,
            edges: has_edges,
        };
        part_bytes(4_096, 1_000, contents)
    };
    let (times, all) = (bytes(false), bytes(true));
    assert!(all * 10 < times * 11, "{all} bytes, {times} of the times");
}
