//! Writes a made-up profile of any size, for tests and for a look at what large profiles are like.
//!
//! ```sh
//! cargo run -p tinyprof-format --example story -- NAME RANKS CALLPATHS ITERATIONS
//! ```
//!
//! Its story: one rank is slow everywhere, one region grows from the middle of the run on, one is
//! imbalanced by rank, and the first iteration of another is slow. Times have noise, equal in every
//! run of this program.

use std::path::Path;

use tinyprof_format::file::ProfileWriter;
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, Mode, RankFacts, Region, RegionKind,
    RunMetadata, SeriesBucket, SiteId,
};

/// Inner callpaths have this many children.
const CHILDREN: usize = 6;
const RANKS_PER_HOST: usize = 64;
const NAMES: [&str; 10] = [
    "solve",
    "exchange",
    "assemble",
    "precondition",
    "pack",
    "unpack",
    "reduce",
    "flux",
    "update",
    "write",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, ranks, callpaths, iterations] = arguments.as_slice() else {
        return Err("usage: story NAME RANKS CALLPATHS ITERATIONS".into());
    };
    let size = Size {
        ranks: ranks.parse()?,
        callpaths: callpaths.parse()?,
        iterations: iterations.parse()?,
    };
    let maps: Vec<EventMap> = (0..size.ranks).map(|rank| size.rank(rank)).collect();
    let metadata = RunMetadata {
        user: "ada".into(),
        launchdate: 1_795_270_350,
        executable: "/home/ada/synthetic".into(),
        cmdline: arguments.clone(),
        cluster: "analytical".into(),
        tinyprof_version: env!("CARGO_PKG_VERSION").into(),
        clock: "tsc".into(),
        ..RunMetadata::default()
    };
    let ranks_per_part = size.ranks.div_ceil(16).max(1);
    ProfileWriter::new()
        .with_ranks_per_part(ranks_per_part)
        .with_metadata(metadata)
        .write(Path::new(name), &maps)?;
    Ok(())
}

struct Size {
    ranks: usize,
    callpaths: usize,
    iterations: usize,
}

impl Size {
    fn rank(&self, rank: usize) -> EventMap {
        let mut ids: Vec<CallpathId> = Vec::with_capacity(self.callpaths);
        let mut series: Vec<Vec<u64>> = Vec::with_capacity(self.callpaths);
        for at in 0..self.callpaths {
            let site = SiteId::from_bits(at as u64 + 1);
            ids.push(
                at.checked_sub(1)
                    .map_or(CallpathId::root(site), |below| ids[below / CHILDREN].child(site)),
            );
            series.push(
                (0..self.iterations).map(|iteration| self.own_ns(rank, at, iteration)).collect(),
            );
        }
        // Callpaths come after their parents, so that a parent has its children's time when it is
        // added to its own.
        for at in (1..self.callpaths).rev() {
            let child = series[at].clone();
            series[(at - 1) / CHILDREN]
                .iter_mut()
                .zip(child)
                .for_each(|(parent, ns)| *parent += ns);
        }
        let records = (0..self.callpaths).map(|at| {
            let parent = at.checked_sub(1).map(|below| ids[below / CHILDREN]);
            (ids[at], parent, region(at), values(&series[at]))
        });
        let host = format!("node{:04}", rank / RANKS_PER_HOST);
        let process_id = u32::try_from(1_000 + rank).unwrap_or(u32::MAX);
        EventMap::from_records(
            records.collect::<Vec<_>>(),
            RankFacts {
                host,
                process_id,
                threads: 1,
                peak_memory_bytes: 1 << 30,
                ..RankFacts::default()
            },
        )
    }

    /// What a visit of callpath `at` takes without its children.
    fn own_ns(&self, rank: usize, at: usize, iteration: usize) -> u64 {
        let mut percent = 100;
        if rank == self.ranks * 5 / 7 {
            percent += 30;
        }
        if at == 7 && iteration * 2 >= self.iterations {
            percent += 900;
        }
        if at == 9 && rank % 16 == 3 {
            percent += 400;
        }
        if at == 11 && iteration == 0 {
            percent += 900;
        }
        let base_ns = 4_000_000 / (at as u64 % 9 + 1);
        base_ns * percent / 100 + noise(rank, at, iteration) % (base_ns / 20)
    }
}

fn region(at: usize) -> Region {
    let name =
        if at == 0 { "main".to_owned() } else { format!("{}_{at}", NAMES[at % NAMES.len()]) };
    let tag = match at % NAMES.len() {
        1 | 6 => "COMM",
        9 => "IO",
        _ => "COMP",
    };
    Region {
        site: SiteId::from_bits(at as u64 + 1),
        name,
        module: "synthetic".into(),
        file: "src/main.rs".into(),
        line: 10,
        column: 1,
        kind: if at == 0 { RegionKind::Function } else { RegionKind::Loop },
        mode: Mode::Each,
        rank_local: false,
        constants: [("tag".to_owned(), tag.to_owned())].into(),
    }
}

fn values(series_ns: &[u64]) -> CallpathValues {
    let mut executions: Vec<ExecutionSummary> = Vec::new();
    for &ns in series_ns {
        let visit = ExecutionSummary::of_one_visit(0, ns);
        match executions.last_mut() {
            Some(all) => all.absorb(&visit),
            None => executions.push(visit),
        }
    }
    let series = series_ns.iter().map(|&ns| SeriesBucket::of_one_visit(0, ns)).collect();
    CallpathValues { executions, series, ..CallpathValues::default() }
}

/// The same for equal arguments, and in no order that could be seen (the finaliser of
/// `SplitMix64`).
fn noise(rank: usize, at: usize, iteration: usize) -> u64 {
    let mut z = ((rank as u64) << 40) ^ ((at as u64) << 20) ^ iteration as u64;
    z = (z ^ (z >> 30)).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
