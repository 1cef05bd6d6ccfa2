//! The cost of encoding and decoding columns of times. The plan asks for 30 and 300 million values
//! a second a core.
//!
//! The values are synthetic (log-normal nanoseconds, as of a loop of 50 us with a spread of 30 %),
//! and those of a profile:
//! `TINYPROF_BENCH_PROFILE=NAME.tprof cargo bench -p tinyprof-benches --bench columns`.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tinyprof_format::column::{decode, encode};
use tinyprof_format::file::read_profile;
use tinyprof_format::model::{CallpathValues, EventMap, Precision, SeriesBucket};

/// Length of the longest series that a rank holds of a callpath: the recorder folds longer ones.
const SERIES_LENGTH: usize = 32_768;

/// Returns a number from 0 to 1, of a generator that is equal everywhere (`SplitMix64`).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    f64::from(u32::try_from((z ^ (z >> 31)) >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "nanoseconds of some 50 us"
)]
fn log_normal() -> Vec<u64> {
    let mut state = 1;
    let mut normal = || (0..12).map(|_| uniform(&mut state)).sum::<f64>() - 6.0;
    (0..SERIES_LENGTH).map(|_| (50_000.0 * (0.3 * normal()).exp()) as u64).collect()
}

/// Returns the series of a profile, and the sums of its executions over the ranks.
fn of_profile(path: &Path) -> Vec<Vec<u64>> {
    let profile = read_profile(path).expect("TINYPROF_BENCH_PROFILE names a profile");
    let sums = profile.values.iter().map(|ranks| {
        ranks.iter().flat_map(|values| &values.executions).map(|e| e.sum_ns).collect::<Vec<_>>()
    });
    let series =
        profile.values.iter().flatten().map(|v| v.series.iter().map(|b| b.sum_ns).collect());
    sums.chain(series).filter(|column| column.len() > 1).collect()
}

fn rounded(columns: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let round = |column: &Vec<u64>| {
        let series = column.iter().map(|&ns| SeriesBucket::of_one_visit(0, ns)).collect();
        let values = vec![CallpathValues { series, ..CallpathValues::default() }];
        let map = EventMap { values, ..EventMap::default() };
        let map = map.in_precision(Precision::EightBit);
        map.values[0].series.iter().map(|bucket| bucket.sum_ns).collect()
    };
    columns.iter().map(round).collect()
}

fn columns(criterion: &mut Criterion) {
    let mut all =
        vec![("log-normal", vec![log_normal()]), ("log-normal-8bit", rounded(&[log_normal()]))];
    if let Some(path) = std::env::var_os("TINYPROF_BENCH_PROFILE") {
        all.push(("profile", of_profile(Path::new(&path))));
    }
    for (name, columns) in all {
        let encoded: Vec<Vec<u8>> = columns.iter().map(|column| encode(column)).collect();
        let values: usize = columns.iter().map(Vec::len).sum();
        let bytes: usize = encoded.iter().map(Vec::len).sum();
        let mut group =
            criterion.benchmark_group(format!("{name}, {values} values in {bytes} bytes"));
        group.throughput(Throughput::Elements(values as u64));
        group.bench_function("encode", |bencher| {
            bencher.iter(|| {
                columns.iter().for_each(|column| drop(black_box(encode(black_box(column)))));
            });
        });
        group.bench_function("decode", |bencher| {
            bencher.iter(|| {
                for (bytes, column) in encoded.iter().zip(&columns) {
                    drop(black_box(decode(black_box(bytes), column.len())));
                }
            });
        });
        group.finish();
    }
}

criterion_group!(benches, columns);
criterion_main!(benches);
