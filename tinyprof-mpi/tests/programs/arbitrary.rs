//! A program whose ranks visit regions at random, each differently and some none. Each rank writes
//! its visits to its own file: callpath, visits, and the sum of the recorded values. They are not
//! printed, because a launcher may cut the output of a rank in the middle of a line and insert that
//! of another. Arguments: the seed, the directory of the files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use mpi::traits::Communicator;
use tinyprof::{profile_scope, record};
use tinyprof_mpi as _;

/// The visits, counted by other means than those under test.
#[derive(Default)]
struct Oracle {
    open: Vec<&'static str>,
    visits: BTreeMap<String, (u64, u64)>,
}

impl Oracle {
    fn enter(&mut self, name: &'static str, bytes: u64) {
        self.open.push(name);
        // A region that calls itself directly is one callpath.
        let mut path = self.open.clone();
        path.dedup();
        let (visits, sum) = self.visits.entry(path.join("<")).or_default();
        *visits += 1;
        *sum += bytes;
    }
}

/// Returns the next number of `SplitMix64`.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn visit(state: &mut u64, oracle: &mut Oracle, depth: u32) {
    macro_rules! region {
        ($name:literal) => {{
            profile_scope!($name);
            let bytes = next(state) % 1000;
            record!(bytes = bytes);
            oracle.enter($name, bytes);
            for _ in 0..next(state) % 3 {
                if depth < 5 {
                    visit(state, oracle, depth + 1);
                }
            }
            oracle.open.pop();
        }};
    }
    match next(state) % 4 {
        0 => region!("plain"),
        1 => region!("a(b|c-d+e,\"f\""),
        2 => region!("größe 😀"),
        _ => region!("/.. \\"),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seed: u64 = std::env::args().nth(1).ok_or("the first argument is the seed")?.parse()?;
    let universe = mpi::initialize().ok_or("MPI is not initialised yet")?;
    let rank = universe.world().rank().unsigned_abs();
    let mut state = seed.wrapping_add(u64::from(rank) << 32);
    let mut oracle = Oracle::default();
    for _ in 0..next(&mut state) % 20 {
        visit(&mut state, &mut oracle, 0);
    }
    let mut held = String::new();
    for (path, (visits, sum)) in oracle.visits {
        writeln!(held, "{path}\t{visits}\t{sum}")?;
    }
    let directory = std::env::args().nth(2).ok_or("the second argument is a directory")?;
    std::fs::write(Path::new(&directory).join(format!("held-{rank}")), held)?;
    Ok(())
}
