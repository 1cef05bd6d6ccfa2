//! The series of callpaths: a line with its band over the ranks, and a map of iterations x ranks.

use serde_json::{Value, json};
use tinyprof_format::model::{CallpathIndex, Profile};
use tinyprof_report::{IterationPoint, Iterations, rank_points};

use super::columns::{COARSE, Columns, FINE};
use super::rows::Bins;

/// The most points of a series; longer series are reduced to it.
const POINTS_MAX: usize = 256;
/// The most values of all maps of iterations x ranks together.
const MAPS_VALUES_MAX: usize = 300_000;
/// The most values of one map; more cannot be seen.
const MAP_VALUES_MAX: usize = 64 * 1_024;

/// Returns the series of those of `callpaths` that have one.
pub(super) fn iterations(
    profile: &Profile,
    callpaths: &[CallpathIndex],
    columns: &mut Columns,
) -> Value {
    let series: Vec<(CallpathIndex, Iterations)> = callpaths
        .iter()
        .filter_map(|&index| Some((index, Iterations::of_callpath(profile, index, POINTS_MAX)?)))
        .collect();
    let map_max = (MAPS_VALUES_MAX / series.len().max(1)).min(MAP_VALUES_MAX);
    let of = |(index, found): &(CallpathIndex, Iterations)| {
        let bins = Bins::fitting(profile.ranks.len(), found.points.len(), map_max);
        let mut line = |value: fn(&IterationPoint) -> f64| {
            let values: Vec<f64> = found
                .points
                .iter()
                .map(|point| if point.ranks > 0 { value(point) } else { f64::NAN })
                .collect();
            columns.add(&values, FINE)
        };
        json!({
            "callpath": index.row(),
            "visits": found.visits,
            "visits_per_point": found.visits_per_point,
            "folded": found.folded,
            "execution_starts": found.execution_starts,
            "min_ns": line(|point| point.min_ns),
            "mean_ns": line(|point| point.mean_ns),
            "max_ns": line(|point| point.max_ns),
            "max_rank": line(|point| f64::from(point.max_rank)),
            "ranks_per_bin": bins.ranks_per_bin,
            "bins": bins.count(),
            "map_ns": columns.add(&map(profile, *index, found, bins), COARSE),
        })
    };
    series.iter().map(of).collect()
}

/// Returns the times of visits by bin of ranks, iteration innermost.
fn map(profile: &Profile, index: CallpathIndex, found: &Iterations, bins: Bins) -> Vec<f64> {
    let points = found.points.len();
    let mut map = Vec::with_capacity(bins.count() * points);
    let ranks = &profile.values[index.row()];
    for group in ranks.chunks(bins.ranks_per_bin) {
        let of_rank = |rank: &tinyprof_format::model::CallpathValues| {
            rank_points(&rank.series, found.visits_per_point, points)
        };
        let of_ranks: Vec<Vec<f64>> = group.iter().map(of_rank).collect();
        let bin = Bins { ranks: of_ranks.len(), ranks_per_bin: of_ranks.len() };
        map.extend((0..points).flat_map(|point| {
            bin.means(|rank| Some(of_ranks[rank][point]).filter(|ns| ns.is_finite()))
        }));
    }
    map
}
