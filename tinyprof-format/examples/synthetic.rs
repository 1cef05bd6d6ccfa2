//! Writes a profile of made-up times, for measurements of readers:
//! `synthetic TARGET RANKS CALLPATHS RANKS_PER_PART [CHILDREN]`.
//!
//! Each callpath's own time is log-normal over the ranks, in nanoseconds. The numbers depend on
//! nothing but the arguments, so that measurements of two days are of equal bytes.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program says what came of it")]

use std::path::PathBuf;
use std::process::ExitCode;

use tinyprof_format::file::ProfileWriter;
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, Mode, PhaseTimes, RankFacts, Region,
    RegionKind, RunMetadata, SiteId,
};

/// Callpaths below each callpath, unless the last argument says otherwise.
const CHILDREN: usize = 3;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u32> = arguments.iter().skip(1).filter_map(|text| text.parse().ok()).collect();
    let ([target, ..], &[ranks, callpaths, ranks_per_part, ref more @ ..]) =
        (&arguments[..], &numbers[..])
    else {
        eprintln!("usage: synthetic TARGET RANKS CALLPATHS RANKS_PER_PART [CHILDREN]");
        return ExitCode::from(2);
    };
    let children = more.first().map_or(CHILDREN, |&children| children.max(1) as usize);
    let map = |rank| event_map(rank, callpaths.max(1) as usize, children);
    let maps: Vec<EventMap> = (0..ranks).map(map).collect();
    let metadata = RunMetadata {
        user: "ada".into(),
        executable: "/opt/app/solve".into(),
        cmdline: vec!["solve".into(), "--steps=100".into()],
        cluster: "synthetic".into(),
        launchdate: 1_795_270_350,
        ..RunMetadata::default()
    };
    let flush = PhaseTimes::default();
    match ProfileWriter::new()
        .with_ranks_per_part(ranks_per_part.max(1) as usize)
        .with_metadata(metadata)
        .with_times(flush)
        .write(&PathBuf::from(target), &maps)
    {
        Ok(path) => {
            println!("{}", path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn event_map(rank: u32, callpaths: usize, children: usize) -> EventMap {
    let mut random = Random(u64::from(rank) << 32);
    let mut inclusive_ns: Vec<u64> = (0..callpaths).map(|row| own_ns(row, &mut random)).collect();
    for row in (1..callpaths).rev() {
        inclusive_ns[(row - 1) / children] += inclusive_ns[row];
    }
    let mut ids: Vec<CallpathId> = Vec::new();
    let records: Vec<_> = (0..callpaths)
        .map(|row| {
            let site = SiteId::from_bits(row as u64 + 1);
            let parent = row.checked_sub(1).map(|before| ids[before / children]);
            let id = parent.map_or_else(|| CallpathId::root(site), |parent| parent.child(site));
            ids.push(id);
            (id, parent, region(row, site), values(row, inclusive_ns[row], &mut random))
        })
        .collect();
    let facts =
        RankFacts { host: format!("node{}", rank / 64), threads: 1, ..RankFacts::default() };
    EventMap::from_records(records, facts)
}

/// The middle differs from callpath to callpath by up to 2^8; the spread is a factor of e.
fn own_ns(row: usize, random: &mut Random) -> u64 {
    let middle_ns = f64::from(1_u32 << (12 + row * 5 % 9));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive time far below 2^53"
    )]
    let ns = (middle_ns * random.normal().exp()) as u64;
    ns
}

/// A third of the callpaths are visited once, a third ten times, a third as often as it happens.
fn values(row: usize, sum_ns: u64, random: &mut Random) -> CallpathValues {
    let visits = match row % 3 {
        0 => 1,
        1 => 10,
        _ => 50 + random.next() % 100,
    };
    let mut summary = ExecutionSummary::of_one_visit(0, sum_ns);
    if visits > 1 {
        let mean_ns = sum_ns / visits;
        summary.visits = visits;
        summary.min_ns = mean_ns - random.next() % (mean_ns / 2 + 1);
        summary.max_ns = mean_ns + random.next() % (mean_ns + 1);
        summary.sum_squares_ns2 *= 1.25 / f64::from(u32::try_from(visits).unwrap_or(u32::MAX));
    }
    CallpathValues { executions: vec![summary], ..CallpathValues::default() }
}

fn region(row: usize, site: SiteId) -> Region {
    Region {
        site,
        name: format!("region_{row}"),
        module: "synthetic".into(),
        file: "src/synthetic.rs".into(),
        line: u32::try_from(row + 1).unwrap_or(u32::MAX),
        column: 1,
        kind: if row % 3 == 1 { RegionKind::Loop } else { RegionKind::Function },
        mode: Mode::Total,
        rank_local: false,
        constants: [].into(),
    }
}

/// Splitmix64: small, fast, and good enough to strew times.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Of mean 0 and variance 1: the sum of twelve uniform numbers is near enough to normal.
    fn normal(&mut self) -> f64 {
        let uniform =
            |bits: u64| f64::from(u32::try_from(bits >> 32).unwrap_or(0)) / f64::from(u32::MAX);
        (0..12).map(|_| uniform(self.next())).sum::<f64>() - 6.0
    }
}
