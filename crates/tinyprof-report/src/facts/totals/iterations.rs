//! The series of a callpath over all ranks: the change of a region, or of a metric, from visit to
//! visit.

use tinyprof_format::model::{CallpathIndex, CallpathValues, MetricBucket, Profile, SeriesBucket};

/// An element of a series: one value, or several neighbouring ones.
pub trait SeriesElement {
    /// Returns the execution of the first value.
    fn execution(&self) -> u32;

    /// Returns the number of values: visits, or those of a metric.
    fn values(&self) -> u32;

    /// Returns the sum of the values: in nanoseconds, or in the metric's own unit.
    fn sum(&self) -> f64;
}

impl SeriesElement for SeriesBucket {
    fn execution(&self) -> u32 {
        self.execution
    }

    fn values(&self) -> u32 {
        self.visits
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
    fn sum(&self) -> f64 {
        self.sum_ns as f64
    }
}

impl SeriesElement for MetricBucket {
    fn execution(&self) -> u32 {
        self.execution
    }

    fn values(&self) -> u32 {
        self.values
    }

    fn sum(&self) -> f64 {
        self.sum
    }
}

/// A point of a series, over the ranks that reached it. Times are those of a visit, in nanoseconds;
/// values of a metric are in its own unit. If a point covers several, a rank counts with their
/// mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IterationPoint {
    /// The number of ranks.
    pub ranks: u32,
    /// The least time, or value, of a rank.
    pub min: f64,
    /// The mean over the ranks.
    pub mean: f64,
    /// The greatest time, or value, of a rank.
    pub max: f64,
    /// The lowest rank that has the greatest.
    pub max_rank: u32,
}

/// The series of a callpath, visit by visit, with the n-th visits of all ranks side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Iterations {
    /// The number of adjacent visits per point: 1 unless the recorder folded the series, or it is
    /// longer than requested.
    pub visits_per_point: u64,
    /// The most visits in a bucket of the profile: 1 unless the recorder folded the series.
    pub folded: u32,
    /// The most visits of a rank.
    pub visits: u64,
    /// The points, in the order of the visits.
    pub points: Vec<IterationPoint>,
    /// The points at which executions begin, except the first.
    pub execution_starts: Vec<usize>,
}

impl Iterations {
    /// Returns the series of `callpath` in at most `points_max` points; none if no rank has one.
    ///
    /// # Panics
    /// If `points_max` is 0, or the callpath is not of this profile.
    ///
    /// # Cost
    /// Linear in the length of the series.
    #[must_use]
    pub fn of_callpath(
        profile: &Profile,
        callpath: CallpathIndex,
        points_max: usize,
    ) -> Option<Self> {
        Self::of_ranks(&profile.values[callpath.row()], points_max)
    }

    /// Returns the series of a callpath with these values, by rank, in at most `points_max` points;
    /// none if no rank has one.
    ///
    /// # Panics
    /// If `points_max` is 0.
    ///
    /// # Cost
    /// Linear in the length of the series.
    #[must_use]
    pub fn of_ranks(ranks: &[CallpathValues], points_max: usize) -> Option<Self> {
        let series: Vec<&[SeriesBucket]> = ranks.iter().map(|values| &values.series[..]).collect();
        Self::of_series(&series, points_max)
    }

    /// Returns the series with these elements, by rank, in at most `points_max` points; none if no
    /// rank has one.
    ///
    /// # Panics
    /// If `points_max` is 0.
    ///
    /// # Cost
    /// Linear in the length of the series.
    #[must_use]
    pub fn of_series<T: SeriesElement>(ranks: &[&[T]], points_max: usize) -> Option<Self> {
        let visits =
            ranks.iter().map(|series| length(series)).max().filter(|&visits| visits > 0)?;
        let folded = ranks.iter().copied().flatten().map(T::values).max().unwrap_or(1);
        let visits_per_point = visits.div_ceil(points_max as u64).max(u64::from(folded));
        let count = place(visits.div_ceil(visits_per_point));
        let mut points = vec![IterationPoint::default(); count];
        for (number, series) in (0_u32..).zip(ranks) {
            for (point, value) in
                points.iter_mut().zip(rank_points(series, visits_per_point, count))
            {
                point.add(number, value);
            }
        }
        for point in &mut points {
            point.mean /= f64::from(point.ranks.max(1));
        }
        let longest = ranks.iter().find(|series| length(series) == visits);
        let starts = longest.map_or_else(Vec::new, |series| starts(series, visits_per_point));
        Some(Self { visits_per_point, folded, visits, points, execution_starts: starts })
    }
}

impl IterationPoint {
    /// Adds a rank. Until all ranks are added, `mean` holds the sum.
    fn add(&mut self, rank: u32, value: f64) {
        if value.is_nan() {
            return;
        }
        if self.ranks == 0 || value < self.min {
            self.min = value;
        }
        if self.ranks == 0 || value > self.max {
            (self.max, self.max_rank) = (value, rank);
        }
        self.ranks += 1;
        self.mean += value;
    }
}

/// Returns the mean of a visit at each of `count` points; NaN for points that the rank did not
/// reach.
///
/// A bucket that spans two points belongs to the one where it begins.
///
/// # Panics
/// If `visits_per_point` is 0.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
pub fn rank_points<T: SeriesElement>(
    series: &[T],
    visits_per_point: u64,
    count: usize,
) -> Vec<f64> {
    let mut sums = vec![(0.0, 0_u64); count];
    let mut before = 0_u64;
    for bucket in series {
        if let Some((sum, visits)) = sums.get_mut(place(before / visits_per_point)) {
            *sum += bucket.sum();
            *visits += u64::from(bucket.values());
        }
        before += u64::from(bucket.values());
    }
    sums.into_iter().map(|(sum, visits)| sum / visits as f64).collect()
}

fn length<T: SeriesElement>(series: &[T]) -> u64 {
    series.iter().map(|bucket| u64::from(bucket.values())).sum()
}

fn starts<T: SeriesElement>(series: &[T], visits_per_point: u64) -> Vec<usize> {
    let (mut starts, mut before) = (Vec::new(), 0_u64);
    let mut last = series.first().map(T::execution);
    for bucket in series {
        let at = place(before / visits_per_point);
        if last != Some(bucket.execution()) && starts.last() != Some(&at) {
            starts.push(at);
        }
        last = Some(bucket.execution());
        before += u64::from(bucket.values());
    }
    starts
}

fn place(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}
