//! The cost of watching a large job: agents with 64 ranks and 200 callpaths each, routers that
//! merge 32 of them, and a root.
//!
//! ```text
//! cargo run --release -p tinyprof-picture --example scale -- 64 1024
//! ```
//!
//! Prints, for each number of agents: the bytes of a picture, the processor time that a router and
//! the root take for one picture of each, and the bytes that come to the root.

#![expect(clippy::disallowed_types, clippy::print_stdout, reason = "it measures, and prints that")]

use std::error::Error;
use std::time::Instant;

use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, RankFacts, Region, SiteId,
};
use tinyprof_picture::{Picture, frame};

const RANKS: u32 = 64;
const CALLPATHS: u64 = 200;
const FAN_IN: usize = 32;

/// Returns what the agent of a host sees of a job with these ranks, which are empty.
fn agent(host: u32, ranks: &mut [EventMap]) -> Picture {
    let own = host * RANKS..(host + 1) * RANKS;
    for rank in own.clone() {
        let main = CallpathId::root(SiteId::from_bits(1));
        let record = |site: u64| {
            let id = SiteId::from_bits(site);
            let ns = 1_000_000 * site + u64::from(rank).wrapping_mul(7_919) % 1_000_000;
            let executions = vec![ExecutionSummary::of_one_visit(0, ns)];
            let values = CallpathValues { executions, ..CallpathValues::default() };
            let region = Region::named(id, format!("module::function_{site}"));
            if site == 1 {
                (main, None, region, values)
            } else {
                (main.child(id), Some(main), region, values)
            }
        };
        let facts = RankFacts { host: format!("node{host:05}"), ..RankFacts::default() };
        ranks[rank as usize] = EventMap::from_records((1..=CALLPATHS).map(record), facts);
    }
    let picture = Picture::of_ranks(ranks);
    ranks[own.start as usize..own.end as usize].fill(EventMap::default());
    picture
}

/// Reads pictures and merges them, and returns them as one, with the seconds that it took.
fn merged(sent: &[Vec<u8>]) -> Result<(Vec<u8>, f64), Box<dyn Error>> {
    let begun = Instant::now();
    let mut all = Picture::default();
    for bytes in sent {
        let picture = frame::read(&mut bytes.as_slice())?
            .and_then(frame::Sent::picture)
            .ok_or("a picture")?;
        all.merge(&picture)?;
    }
    let mut bytes = Vec::new();
    frame::write(&mut bytes, &all)?;
    Ok((bytes, begun.elapsed().as_secs_f64()))
}

fn main() -> Result<(), Box<dyn Error>> {
    for hosts in std::env::args().skip(1) {
        let hosts: u32 = hosts.parse()?;
        let mut ranks = vec![EventMap::default(); (RANKS * hosts) as usize];
        let agents: Vec<Vec<u8>> = (0..hosts)
            .map(|host| {
                let mut bytes = Vec::new();
                frame::write(&mut bytes, &agent(host, &mut ranks)).map(|()| bytes)
            })
            .collect::<Result<_, _>>()?;
        let picture = agents[0].len();
        let (mut level, mut routers_s) = (agents, Vec::new());
        while level.len() > FAN_IN {
            let mut next = Vec::new();
            for group in level.chunks(FAN_IN) {
                let (bytes, took_s) = merged(group)?;
                next.push(bytes);
                routers_s.push(took_s);
            }
            level = next;
        }
        let at_root: usize = level.iter().map(Vec::len).sum();
        let (all, root_s) = merged(&level)?;
        let router_s = routers_s.iter().copied().fold(0.0, f64::max);
        println!(
            "{hosts:6} agents, {:8} ranks: {picture} B a picture; router {:.1} ms, root {:.1} ms; {} KB to the root; {} B in all",
            hosts * RANKS,
            1e3 * router_s,
            1e3 * root_s,
            at_root / 1000,
            all.len()
        );
    }
    Ok(())
}
