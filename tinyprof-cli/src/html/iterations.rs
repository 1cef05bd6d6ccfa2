//! The series of callpaths: a line with its band over the ranks, and a map of iterations x ranks.

use serde_json::{Value, json};
use tinyprof_format::model::{CallpathIndex, CallpathValues};
use tinyprof_report::{IterationPoint, Iterations, rank_points};

use super::columns::{COARSE, Columns, FINE, USUAL};
use super::rows::Bins;

/// The most points of a series; longer series are reduced to it.
const POINTS_MAX: usize = 256;
/// The most values of all maps of iterations x ranks together.
const MAPS_VALUES_MAX: usize = 300_000;
/// The number of slowest iterations that are listed.
const SLOWEST_LISTED: usize = 10;
/// The most ranks with a line of their own, if ranks share the rows of the map.
const LINES_MAX: usize = 4;
/// The most values of one map; more cannot be seen.
const MAP_VALUES_MAX: usize = 64 * 1_024;

/// Returns the most values of the map of a callpath, if this many callpaths have one.
pub(super) fn map_values_max(series: usize) -> usize {
    (MAPS_VALUES_MAX / series.max(1)).min(MAP_VALUES_MAX)
}

/// Returns the series of a callpath, given its values by rank; none if no rank has one.
pub(super) fn of_callpath(
    index: CallpathIndex,
    ranks: &[CallpathValues],
    map_values_max: usize,
    columns: &mut Columns,
) -> Option<Value> {
    let found = Iterations::of_ranks(ranks, POINTS_MAX)?;
    let bins = Bins::fitting(ranks.len(), found.points.len(), map_values_max);
    let visits = Iterations::of_ranks(ranks, usize::MAX);
    let visits = visits.as_ref().unwrap_or(&found);
    let slowest = slowest(visits);
    let with_line = if bins.ranks_per_bin > 1 { notable_ranks(&slowest) } else { Vec::new() };
    let line_of = |&rank: &u32| {
        let series = &ranks[rank as usize].series;
        let values = rank_points(series, found.visits_per_point, found.points.len());
        json!({ "rank": rank, "ns": columns.add(&values, USUAL) })
    };
    let lines: Vec<Value> = with_line.iter().map(line_of).collect();
    let mut line = |value: fn(&IterationPoint) -> f64| {
        let values: Vec<f64> = found
            .points
            .iter()
            .map(|point| if point.ranks > 0 { value(point) } else { f64::NAN })
            .collect();
        columns.add(&values, FINE)
    };
    Some(json!({
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
        "map_ns": columns.add(&map(ranks, &found, bins), COARSE),
        "slowest": slowest.iter().map(Slowest::json).collect::<Vec<_>>(),
        "usual_max_ns": usual_ns(&visits.points),
        "lines": lines,
    }))
}

/// An iteration that took long on some rank.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slowest {
    /// The position of its first visit; there is one unless the recorder folded the series.
    visit: u64,
    execution: usize,
    point: IterationPoint,
}

impl Slowest {
    fn json(&self) -> Value {
        let IterationPoint { max_ns, mean_ns, max_rank, .. } = self.point;
        json!({
            "visit": self.visit,
            "execution": self.execution,
            "rank": max_rank,
            "max_ns": max_ns,
            "mean_ns": mean_ns,
        })
    }
}

/// Returns the iterations with the greatest times of a rank, the greatest first.
fn slowest(visits: &Iterations) -> Vec<Slowest> {
    let of = |(at, &point): (usize, &IterationPoint)| Slowest {
        visit: at as u64 * visits.visits_per_point,
        execution: visits.execution_starts.partition_point(|&start| start <= at),
        point,
    };
    let mut found: Vec<Slowest> =
        visits.points.iter().enumerate().filter(|(_, p)| p.ranks > 0).map(of).collect();
    found.sort_by(|a, b| b.point.max_ns.total_cmp(&a.point.max_ns).then(a.visit.cmp(&b.visit)));
    found.truncate(SLOWEST_LISTED);
    found
}

/// Returns the median over the iterations of the slowest rank's time; 0 without iterations.
fn usual_ns(points: &[IterationPoint]) -> f64 {
    let mut times: Vec<f64> = points.iter().filter(|p| p.ranks > 0).map(|p| p.max_ns).collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

/// Returns the first ranks of the slowest iterations, each once.
fn notable_ranks(slowest: &[Slowest]) -> Vec<u32> {
    let mut ranks: Vec<u32> = Vec::new();
    for rank in slowest.iter().map(|slowest| slowest.point.max_rank) {
        if ranks.len() < LINES_MAX && !ranks.contains(&rank) {
            ranks.push(rank);
        }
    }
    ranks
}

/// Returns the times of visits by bin of ranks, iteration innermost: those of the slowest rank of
/// the bin, as a mean would hide it.
fn map(ranks: &[CallpathValues], found: &Iterations, bins: Bins) -> Vec<f64> {
    let points = found.points.len();
    let mut map = Vec::with_capacity(bins.count() * points);
    for group in ranks.chunks(bins.ranks_per_bin) {
        let of_rank =
            |rank: &CallpathValues| rank_points(&rank.series, found.visits_per_point, points);
        let of_ranks: Vec<Vec<f64>> = group.iter().map(of_rank).collect();
        // The maximum of a number and NaN is the number.
        let slowest =
            |point: usize| of_ranks.iter().map(|rank| rank[point]).fold(f64::NAN, f64::max);
        map.extend((0..points).map(slowest));
    }
    map
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::Profile;
    use tinyprof_format::text::read_text;

    use super::*;

    fn profile() -> Profile {
        // Two executions of five visits in all, on three ranks.
        let text = "id,parent,tag,is_loop,times\n\
            step,null,null,1,0.1+0.2+0.1-0.1+0.9|0.1+0.1+0.7-0.1+0.1|0.1+0.1+0.1-0.1+0.1\n";
        read_text(text.as_bytes()).expect("it is read").profile
    }

    #[test]
    fn the_slowest_iterations_are_named_with_execution_and_rank() {
        let profile = profile();
        let (index, _) = profile.callpaths.iter().next().expect("a callpath");
        let visits = Iterations::of_callpath(&profile, index, usize::MAX).expect("a series");
        let found = slowest(&visits);
        let named: Vec<(u64, usize, u32)> =
            found.iter().map(|s| (s.visit, s.execution, s.point.max_rank)).collect();
        assert_eq!(named[..3], [(4, 1, 0), (2, 0, 1), (1, 0, 0)]);
        assert_eq!(usual_ns(&visits.points).to_bits(), 0.2e9_f64.to_bits());
        assert_eq!(notable_ranks(&found), [0, 1]);
    }

    #[test]
    fn a_row_of_several_ranks_shows_the_slowest() {
        let profile = profile();
        let (index, _) = profile.callpaths.iter().next().expect("a callpath");
        let found = Iterations::of_callpath(&profile, index, 5).expect("a series");
        let map = map(&profile.values[index.row()], &found, Bins { ranks: 3, ranks_per_bin: 2 });
        let tenths: Vec<f64> = map.iter().map(|ns| (ns / 1e8).round()).collect();
        assert_eq!(tenths, [1.0, 2.0, 7.0, 1.0, 9.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    }
}
