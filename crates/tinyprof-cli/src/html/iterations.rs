//! The series of callpaths: a line with its band over the ranks, and a map of iterations x ranks.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tinyprof_format::model::{CallpathIndex, CallpathValues, MetricBucket, SeriesBucket};
use tinyprof_report::{IterationPoint, Iterations, SeriesElement, rank_points};

use super::columns::{COARSE, Columns, FINE, USUAL};
use super::rows::Bins;

/// The most points of a series; longer series are reduced to it.
const POINTS_MAX: usize = 256;
/// The most values of all maps of iterations x ranks together.
const MAPS_VALUES_MAX: usize = 300_000;
/// The most metrics of a callpath whose series are in the page, in the order of their keys.
const METRICS_MAX: usize = 6;
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

/// Returns the series of a callpath, given its values by rank, with those of its metrics; none if
/// no rank has one of times.
pub(super) fn of_callpath(
    index: CallpathIndex,
    ranks: &[CallpathValues],
    map_values_max: usize,
    columns: &mut Columns,
) -> Option<Value> {
    let keys: BTreeSet<&String> = ranks
        .iter()
        .flat_map(|values| &values.metrics)
        .filter(|(_, metric)| !metric.series.is_empty())
        .map(|(key, _)| key)
        .collect();
    let keys: Vec<&String> = keys.into_iter().take(METRICS_MAX).collect();
    let map_values_max = map_values_max / (1 + keys.len());
    let times: Vec<&[SeriesBucket]> = ranks.iter().map(|values| &values.series[..]).collect();
    let mut found = of_series(&times, map_values_max, Columns::add, columns)?;
    found["callpath"] = index.row().into();
    let of_metric = |key: &String| {
        let mut found = of_series(&of_key(ranks, key), map_values_max, Columns::add_any, columns)?;
        found["key"] = key.as_str().into();
        Some(found)
    };
    found["metrics"] = keys.into_iter().filter_map(of_metric).collect();
    Some(found)
}

/// Returns the series of a metric, by rank.
fn of_key<'a>(ranks: &'a [CallpathValues], key: &str) -> Vec<&'a [MetricBucket]> {
    ranks
        .iter()
        .map(|values| values.metrics.get(key).map_or(&[][..], |metric| &metric.series))
        .collect()
}

/// Returns a series for the page; none if no rank has one. `add` adds a column.
fn of_series<T: SeriesElement>(
    ranks: &[&[T]],
    map_values_max: usize,
    add: fn(&mut Columns, &[f64], u32) -> Value,
    columns: &mut Columns,
) -> Option<Value> {
    let found = Iterations::of_series(ranks, POINTS_MAX)?;
    let bins = Bins::fitting(ranks.len(), found.points.len(), map_values_max);
    let visits = Iterations::of_series(ranks, usize::MAX);
    let visits = visits.as_ref().unwrap_or(&found);
    let slowest = slowest(visits);
    let with_line = if bins.ranks_per_bin > 1 { notable_ranks(&slowest) } else { Vec::new() };
    let line_of = |&rank: &u32| {
        let series = ranks[rank as usize];
        let values = rank_points(series, found.visits_per_point, found.points.len());
        json!({ "rank": rank, "values": add(columns, &values, USUAL) })
    };
    let lines: Vec<Value> = with_line.iter().map(line_of).collect();
    let mut line = |value: fn(&IterationPoint) -> f64| {
        let values: Vec<f64> = found
            .points
            .iter()
            .map(|point| if point.ranks > 0 { value(point) } else { f64::NAN })
            .collect();
        add(columns, &values, FINE)
    };
    Some(json!({
        "visits": found.visits,
        "visits_per_point": found.visits_per_point,
        "folded": found.folded,
        "execution_starts": found.execution_starts,
        "min": line(|point| point.min),
        "mean": line(|point| point.mean),
        "max": line(|point| point.max),
        "max_rank": line(|point| f64::from(point.max_rank)),
        "ranks_per_bin": bins.ranks_per_bin,
        "bins": bins.count(),
        "map": add(columns, &map(ranks, &found, bins), COARSE),
        "slowest": slowest.iter().map(Slowest::json).collect::<Vec<_>>(),
        "usual_max": usual(&visits.points),
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
        let IterationPoint { max, mean, max_rank, .. } = self.point;
        json!({
            "visit": self.visit,
            "execution": self.execution,
            "rank": max_rank,
            "max": max,
            "mean": mean,
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
    found.sort_by(|a, b| b.point.max.total_cmp(&a.point.max).then(a.visit.cmp(&b.visit)));
    found.truncate(SLOWEST_LISTED);
    found
}

/// Returns the median over the iterations of the slowest rank's time; 0 without iterations.
fn usual(points: &[IterationPoint]) -> f64 {
    let mut times: Vec<f64> = points.iter().filter(|p| p.ranks > 0).map(|p| p.max).collect();
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
fn map<T: SeriesElement>(ranks: &[&[T]], found: &Iterations, bins: Bins) -> Vec<f64> {
    let points = found.points.len();
    let mut map = Vec::with_capacity(bins.count() * points);
    for group in ranks.chunks(bins.ranks_per_bin) {
        let of_rank = |series: &&[T]| rank_points(series, found.visits_per_point, points);
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
    use tinyprof_format::model::{MetricSummary, MetricValues, Profile, THREAD_SECONDS};
    use tinyprof_format::text::read_text;
    use tinyprof_report::Totals;
    use tinyprof_rules::Rules;

    use super::super::page;
    use super::super::payload::Shown;
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
        assert_eq!(usual(&visits.points).to_bits(), 0.2e9_f64.to_bits());
        assert_eq!(notable_ranks(&found), [0, 1]);
    }

    #[test]
    fn a_row_of_several_ranks_shows_the_slowest() {
        let profile = profile();
        let (index, _) = profile.callpaths.iter().next().expect("a callpath");
        let found = Iterations::of_callpath(&profile, index, 5).expect("a series");
        let values = profile.values[index.row()].iter();
        let series: Vec<&[SeriesBucket]> = values.map(|values| &values.series[..]).collect();
        let map = map(&series, &found, Bins { ranks: 3, ranks_per_bin: 2 });
        let tenths: Vec<f64> = map.iter().map(|ns| (ns / 1e8).round()).collect();
        assert_eq!(tenths, [1.0, 2.0, 7.0, 1.0, 9.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    }

    /// Returns the profile with two metrics at each visit: one that halves, and one that rank 2
    /// does not record.
    fn profile_with_metrics() -> Profile {
        let mut profile = profile();
        for (rank, values) in profile.values[0].iter_mut().enumerate() {
            let rank = f64::from(u32::try_from(rank).expect("few"));
            let bucket = |at: u32, execution, value: f64| {
                let value = value + rank * f64::from(at % 2);
                MetricBucket { execution, values: 1, sum: value, min: value, max: value }
            };
            let visits: Vec<(u32, u32)> =
                (0..).zip(values.series.iter().map(|b| b.execution)).collect();
            let series = |of: fn(u32) -> f64| -> MetricValues {
                let series = visits.iter().map(|&(at, execution)| bucket(at, execution, of(at)));
                MetricValues { executions: Vec::new(), series: series.collect() }
            };
            values.metrics.insert("<b>residual".to_owned(), series(|at| 0.5_f64.powf(at.into())));
            if rank < 2.0 {
                values.metrics.insert("particles".to_owned(), series(|at| 1_000.0 + f64::from(at)));
            }
        }
        profile
    }

    #[test]
    fn the_series_of_metrics_are_beside_those_of_times() {
        let profile = profile_with_metrics();
        let (index, _) = profile.callpaths.iter().next().expect("a callpath");
        let mut columns = Columns::default();
        let found = of_callpath(index, &profile.values[0], 100, &mut columns).expect("a series");
        assert!(found["key"].is_null());
        let keys: Vec<&str> = found["metrics"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|metric| metric["key"].as_str())
            .collect();
        assert_eq!(keys, ["<b>residual", "particles"]);
        let particles = &found["metrics"][1];
        assert_eq!((&particles["visits"], &particles["bins"]), (&5.into(), &3.into()));
        assert_eq!(
            particles["slowest"][0],
            json!({
                "visit": 3, "execution": 1, "rank": 1, "max": 1_004.0, "mean": 1_003.5,
            })
        );
        assert_eq!(particles["usual_max"], 1_002.0);
        // Values are much smaller than a nanosecond, and not rounded to one.
        assert_eq!(found["metrics"][0]["max"]["min"], 0.0625);
    }

    /// Writes the page that `web/tests/series.test.js` tests.
    #[test]
    #[ignore = "writes the page that scripts/browser.sh tests, into TINYPROF_PAGES"]
    fn page_with_metrics() {
        let folder = std::env::var_os("TINYPROF_PAGES").expect("TINYPROF_PAGES is set");
        let mut profile = profile_with_metrics();
        // On rank 1, three threads visit it: the longest takes twice the mean.
        let threads = [1.0, 1.0, 4.0].map(|seconds| MetricSummary::of_one_value(0, seconds));
        let threads = threads.into_iter().reduce(|mut all, one| {
            all.absorb(&one);
            all
        });
        let executions = threads.into_iter().collect();
        let threads = MetricValues { executions, series: Vec::new() };
        profile.values[0][1].metrics.insert(THREAD_SECONDS.to_owned(), threads);
        let totals = Totals::of_profile(&profile);
        let (name, regions) = ("metrics", Value::Array(Vec::new()));
        let shown = Shown {
            name,
            profile: &profile,
            totals: &totals,
            regions: &regions,
            rules: &Rules::default(),
            timeline: None,
            opens_timeline: false,
            whole: None,
        };
        let page = page::of_profiles(&[shown], None).expect("a small profile");
        let file = std::path::Path::new(&folder).join("metrics.html");
        std::fs::write(file, page).expect("it is written");
    }
}
