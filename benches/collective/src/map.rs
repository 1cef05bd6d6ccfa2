//! Synthetic event maps from a formula: equal in every run, and similar to measured times.

use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, Mode, RankFacts, Region, RegionKind,
    SeriesBucket, SiteId,
};

/// The amount of data on a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Callpaths: one root region and its children.
    pub callpaths: u32,
    /// Executions, each of which visits every callpath.
    pub executions: u32,
    /// Visits of a callpath in an execution.
    pub iterations: u32,
    /// True if each visit is kept (mode `each`).
    pub each: bool,
}

impl Shape {
    /// Returns the number of visits of one rank, each of which is one value.
    #[must_use]
    pub fn values(&self) -> u64 {
        u64::from(self.callpaths) * u64::from(self.executions) * u64::from(self.iterations)
    }
}

/// Returns the event map of `rank`.
///
/// Visits take a time around that of their callpath, which is between 1 us and 10 ms. Their
/// logarithm is normally distributed with a deviation of a tenth, like that of computation times.
#[must_use]
pub fn event_map(shape: Shape, rank: u32) -> EventMap {
    let mut numbers = SplitMix(u64::from(rank) + 1);
    let mut root = None;
    let records: Vec<_> = (0..shape.callpaths)
        .map(|number| {
            let region = region(number);
            let id = root
                .map_or(CallpathId::root(region.site), |root: CallpathId| root.child(region.site));
            let parent = root;
            root = root.or(Some(id));
            let median_ns =
                1000.0 * 10_000_f64.powf(f64::from(number) / f64::from(shape.callpaths));
            (id, parent, region, values(shape, median_ns, &mut numbers))
        })
        .collect();
    let facts =
        RankFacts { host: format!("node-{}", rank / 64), process_id: rank, ..RankFacts::default() };
    EventMap::from_records(records, facts)
}

fn values(shape: Shape, median_ns: f64, numbers: &mut SplitMix) -> CallpathValues {
    let mut values = CallpathValues::default();
    for execution in 0..shape.executions {
        let mut sum: Option<ExecutionSummary> = None;
        for _ in 0..shape.iterations {
            let ns = numbers.time_ns(median_ns);
            let one = ExecutionSummary::of_one_visit(execution, ns);
            sum = Some(sum.map_or(one, |mut sum| {
                sum.absorb(&one);
                sum
            }));
            if shape.each {
                values.series.push(SeriesBucket::of_one_visit(execution, ns));
            }
        }
        values.executions.extend(sum);
    }
    values
}

fn region(number: u32) -> Region {
    Region {
        site: SiteId::from_bits(u64::from(number) + 1),
        name: format!("region_{number}"),
        module: "application::solver".into(),
        file: "src/solver.rs".into(),
        line: number + 1,
        column: 1,
        kind: RegionKind::Function,
        mode: Mode::Each,
        rank_local: false,
        constants: [].into(),
    }
}

/// Steele, Lea and Flood's generator: a few operations, and any seed works.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a sum of twelve uniform numbers, which is close enough to a normal distribution.
    #[expect(clippy::cast_precision_loss, reason = "the 32 high bits are exact in a float")]
    fn bell(&mut self) -> f64 {
        (0..12).map(|_| (self.next() >> 32) as f64 / 4_294_967_296.0).sum::<f64>() - 6.0
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times are below 2^53 ns"
    )]
    fn time_ns(&mut self, median_ns: f64) -> u64 {
        (median_ns * (0.1 * self.bell()).exp()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_has_its_shape_and_is_the_same_each_time() {
        let shape = Shape { callpaths: 5, executions: 3, iterations: 40, each: true };
        let map = event_map(shape, 7);
        assert_eq!(map.values.iter().map(CallpathValues::visits).sum::<u64>(), shape.values());
        assert_eq!(map.values.iter().map(|v| v.series.len()).sum::<usize>(), 600);
        assert_eq!(map.executions(), 3);
        assert_eq!(map, event_map(shape, 7));
        let other = event_map(shape, 8);
        assert_eq!(map.callpaths, other.callpaths);
        assert_ne!(map.values, other.values);
    }

    #[test]
    fn times_lie_around_their_median() {
        let mut numbers = SplitMix(1);
        let mut times: Vec<u64> = (0..1001).map(|_| numbers.time_ns(100_000.0)).collect();
        times.sort_unstable();
        assert!(times[500].abs_diff(100_000) < 2_000, "{}", times[500]);
        // One standard deviation of the logarithm: a tenth.
        assert!(times[841].abs_diff(110_500) < 3_000, "{}", times[841]);
    }
}
