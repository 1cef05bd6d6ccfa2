//! Writes a profile of made-up times, for measurements of readers:
//! `synthetic TARGET RANKS CALLPATHS RANKS_PER_PART [CHILDREN [EXECUTIONS]]`.
//!
//! Each callpath's own time is log-normal over the ranks, in nanoseconds. If there are several
//! executions, each has one visit, with a time that varies by a tenth. The numbers depend only on
//! the arguments, so that measurements of two days are of equal bytes. Only the ranks of one part
//! are in memory.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program says what came of it")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tinyprof_format::error::WriteError;
use tinyprof_format::file::{
    EncodedRank, ManifestFacts, OutputFiles, UnfinishedProfile, encode_part, write_part,
};
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, Mode, PhaseTimes, RankFacts, Region,
    RegionKind, RunMetadata, SiteId,
};

/// Callpaths below each callpath, unless the last argument says otherwise.
const CHILDREN: usize = 3;

/// The amount of data on a rank.
#[derive(Clone, Copy)]
struct Shape {
    callpaths: usize,
    children: usize,
    executions: u32,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u32> = arguments.iter().skip(1).filter_map(|text| text.parse().ok()).collect();
    let ([target, ..], &[ranks, callpaths, ranks_per_part, ref more @ ..]) =
        (&arguments[..], &numbers[..])
    else {
        eprintln!("usage: synthetic TARGET RANKS CALLPATHS RANKS_PER_PART [CHILDREN [EXECUTIONS]]");
        return ExitCode::from(2);
    };
    let shape = Shape {
        callpaths: callpaths.max(1) as usize,
        children: more.first().map_or(CHILDREN, |&children| children.max(1) as usize),
        executions: more.get(1).map_or(1, |&executions| executions.max(1)),
    };
    match write(Path::new(target), ranks, ranks_per_part.max(1), shape) {
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

fn write(
    target: &Path,
    ranks: u32,
    ranks_per_part: u32,
    shape: Shape,
) -> Result<PathBuf, WriteError> {
    let files = OutputFiles::default();
    let unfinished = UnfinishedProfile::create(files, target, "synthetic")?;
    let dictionary = event_map(0, shape).callpaths;
    let callpaths = unfinished.write_callpaths(&dictionary)?;
    let (mut parts, mut facts) = (Vec::new(), ManifestFacts::default());
    for number in 0..ranks.div_ceil(ranks_per_part) {
        let first = number * ranks_per_part;
        let here = first..ranks.min(first + ranks_per_part);
        let encode = |rank| EncodedRank::of_event_map(&event_map(rank, shape));
        let encoded: Vec<EncodedRank> = here.clone().map(encode).collect();
        let bytes = encode_part(first, &dictionary, &encoded);
        parts.push(write_part(files, unfinished.directory(), number, here, &bytes)?);
        facts.absorb(ManifestFacts::of_ranks(&encoded));
    }
    let metadata = RunMetadata {
        user: "ada".into(),
        executable: "/opt/app/solve".into(),
        cmdline: vec!["solve".into(), "--steps=100".into()],
        cluster: "synthetic".into(),
        launchdate: 1_795_270_350,
        ..RunMetadata::default()
    };
    let manifest = facts.manifest(ranks, callpaths, parts, metadata, PhaseTimes::default());
    unfinished.finish(&manifest)
}

fn event_map(rank: u32, shape: Shape) -> EventMap {
    let Shape { callpaths, children, executions } = shape;
    let mut random = Random(u64::from(rank) << 32);
    let own_ns: Vec<u64> = (0..callpaths).map(|row| own_ns(row, &mut random)).collect();
    let sums = |own_ns: Vec<u64>| {
        let mut inclusive_ns = own_ns;
        for row in (1..callpaths).rev() {
            inclusive_ns[(row - 1) / children] += inclusive_ns[row];
        }
        inclusive_ns
    };
    let mut inclusive_ns = vec![sums(own_ns.clone())];
    for _ in 1..executions {
        let varied = own_ns.iter().map(|&ns| varied(ns, &mut random));
        inclusive_ns.push(sums(varied.collect()));
    }
    let mut ids: Vec<CallpathId> = Vec::new();
    let records: Vec<_> = (0..callpaths)
        .map(|row| {
            let site = SiteId::from_bits(row as u64 + 1);
            let parent = row.checked_sub(1).map(|before| ids[before / children]);
            let id = parent.map_or_else(|| CallpathId::root(site), |parent| parent.child(site));
            ids.push(id);
            let summaries = (0..).zip(&inclusive_ns).map(|(execution, sums_ns)| match executions {
                1 => summary(row, sums_ns[row], &mut random),
                _ => ExecutionSummary::of_one_visit(execution, sums_ns[row]),
            });
            let executions = summaries.collect();
            let values = CallpathValues { executions, ..CallpathValues::default() };
            (id, parent, region(row, site), values)
        })
        .collect();
    let facts =
        RankFacts { host: format!("node{}", rank / 64), threads: 1, ..RankFacts::default() };
    EventMap::from_records(records, facts)
}

/// The middle differs from callpath to callpath by up to 2^8; the spread is a factor of e.
fn own_ns(row: usize, random: &mut Random) -> u64 {
    whole(f64::from(1_u32 << (12 + row * 5 % 9)) * random.normal().exp())
}

#[expect(clippy::cast_precision_loss, reason = "a time far below 2^53")]
fn varied(ns: u64, random: &mut Random) -> u64 {
    whole(ns as f64 * (0.1 * random.normal()).exp())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive time far below 2^53"
)]
const fn whole(ns: f64) -> u64 {
    ns as u64
}

/// A third of the callpaths are visited once, a third ten times, a third as often as it happens.
fn summary(row: usize, sum_ns: u64, random: &mut Random) -> ExecutionSummary {
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
    summary
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
