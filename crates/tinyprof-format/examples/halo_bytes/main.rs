//! How many bytes messages and edges add to the profile of a halo exchange:
//! `halo_bytes [RANKS] [ITERATIONS]`.
#![expect(clippy::print_stdout, reason = "its numbers are what it is for")]

mod halo;

use std::error::Error;

use halo::{Contents, part_bytes};

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u32>());
    let ranks = numbers.next().unwrap_or(Ok(4_096))?;
    let iterations = numbers.next().unwrap_or(Ok(1_000))?;
    println!("{ranks} ranks, {iterations} iterations: bytes of all parts");
    for (name, times_differ, each_iteration) in [
        ("equal times", false, false),
        ("times that differ", true, false),
        ("each iteration, too", true, true),
    ] {
        let bytes = [(false, false), (true, false), (true, true)].map(|(messages, edges)| {
            part_bytes(
                ranks,
                iterations,
                Contents { times_differ, each_iteration, messages, edges },
            )
        });
        let [times, with_messages, with_edges] = bytes;
        println!("{name}: times {times}, with messages {with_messages}, with edges {with_edges}");
    }
    Ok(())
}
