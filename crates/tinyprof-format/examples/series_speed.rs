//! How fast series are encoded by the rank that owns them, and read from a profile:
//! `series_speed VALUES REPETITIONS`.
//!
//! Prints a line for each repetition: millions of values a second of one core, encoded and read,
//! and bytes a value. The times are log-normal, in nanoseconds, of one callpath. Reading is all
//! that a user gets: file, checksums, values.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program says what came of it")]
#![expect(clippy::disallowed_types, reason = "a measurement needs the clock")]

use std::process::ExitCode;
use std::time::Instant;

use tinyprof_format::file::{EncodedRank, ProfileWriter, read_profile};
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, Mode, RankFacts, Region, RegionKind,
    SeriesBucket, SiteId,
};

fn main() -> ExitCode {
    let numbers: Vec<u32> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let &[values, repetitions] = numbers.as_slice() else {
        eprintln!("usage: series_speed VALUES REPETITIONS");
        return ExitCode::from(2);
    };
    match measure(values, repetitions) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(values: u32, repetitions: u32) -> Result<(), Box<dyn std::error::Error>> {
    let map = event_map(values);
    let directory = std::env::temp_dir().join(format!("tinyprof-speed-{}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    let path = ProfileWriter::new().write(&directory.join("series"), std::slice::from_ref(&map))?;
    for _ in 0..repetitions {
        let start = Instant::now();
        let encoded = EncodedRank::of_event_map(&map);
        let encode = start.elapsed();
        let bytes: usize = encoded.callpaths.iter().map(|callpath| callpath.series.len()).sum();
        let start = Instant::now();
        let profile = read_profile(&path)?;
        let read = start.elapsed();
        assert_eq!(profile.ranks.len(), 1, "the profile has the one rank that was written");
        let millions = |time: std::time::Duration| f64::from(values) / time.as_secs_f64() / 1e6;
        println!("{:.1} {:.1} {:.3}", millions(encode), millions(read), ratio(bytes, values));
    }
    std::fs::remove_dir_all(&directory)?;
    Ok(())
}

fn event_map(values: u32) -> EventMap {
    let site = SiteId::from_bits(1);
    let region = Region {
        site,
        name: "step".into(),
        module: "synthetic".into(),
        file: "src/synthetic.rs".into(),
        line: 1,
        column: 1,
        kind: RegionKind::Loop,
        mode: Mode::Each,
        rank_local: false,
        constants: [].into(),
    };
    let mut random = 1;
    let series: Vec<_> =
        (0..values).map(|_| SeriesBucket::of_one_visit(0, log_normal_ns(&mut random))).collect();
    let mut summary: Option<ExecutionSummary> = None;
    for bucket in &series {
        let visit = ExecutionSummary::of_one_visit(0, bucket.sum_ns);
        match &mut summary {
            Some(summary) => summary.absorb(&visit),
            None => summary = Some(visit),
        }
    }
    let values = CallpathValues {
        executions: summary.into_iter().collect(),
        series,
        ..CallpathValues::default()
    };
    EventMap::from_records([(CallpathId::root(site), None, region, values)], RankFacts::default())
}

/// Around 100 us, of which a factor of 1.2 is one standard deviation: a loop whose iterations do
/// the same.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive time far below 2^53"
)]
fn log_normal_ns(random: &mut u64) -> u64 {
    let mut uniform = || {
        *random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(*random >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    };
    // The sum of twelve uniform numbers is near enough to normal.
    let normal: f64 = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
    (1e5 * (0.18 * normal).exp()) as u64
}

#[expect(clippy::cast_precision_loss, reason = "a ratio of sizes needs no more than 53 bits")]
fn ratio(bytes: usize, values: u32) -> f64 {
    bytes as f64 / f64::from(values)
}
