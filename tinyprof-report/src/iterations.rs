//! The series of a callpath over all ranks: the change of a region from visit to visit.

use tinyprof_format::model::{CallpathIndex, CallpathValues, Profile, SeriesBucket};

/// A point of a series, over the ranks that reached it. Times are those of a visit, in nanoseconds:
/// if a point covers several visits, a rank counts with their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IterationPoint {
    /// The number of ranks.
    pub ranks: u32,
    /// The least time of a rank.
    pub min_ns: f64,
    /// The mean over the ranks.
    pub mean_ns: f64,
    /// The greatest time of a rank.
    pub max_ns: f64,
    /// The lowest rank that has the greatest time.
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
        let visits =
            ranks.iter().map(|values| length(&values.series)).max().filter(|&visits| visits > 0)?;
        let folded =
            ranks.iter().flat_map(|values| &values.series).map(|b| b.visits).max().unwrap_or(1);
        let visits_per_point = visits.div_ceil(points_max as u64).max(u64::from(folded));
        let count = place(visits.div_ceil(visits_per_point));
        let mut points = vec![IterationPoint::default(); count];
        for (number, values) in (0_u32..).zip(ranks) {
            for (point, ns) in
                points.iter_mut().zip(rank_points(&values.series, visits_per_point, count))
            {
                point.add(number, ns);
            }
        }
        for point in &mut points {
            point.mean_ns /= f64::from(point.ranks.max(1));
        }
        let longest = ranks.iter().find(|values| length(&values.series) == visits);
        let starts =
            longest.map_or_else(Vec::new, |values| starts(&values.series, visits_per_point));
        Some(Self { visits_per_point, folded, visits, points, execution_starts: starts })
    }
}

impl IterationPoint {
    /// Adds a rank. Until all ranks are added, `mean_ns` holds the sum.
    fn add(&mut self, rank: u32, ns: f64) {
        if ns.is_nan() {
            return;
        }
        if self.ranks == 0 || ns < self.min_ns {
            self.min_ns = ns;
        }
        if self.ranks == 0 || ns > self.max_ns {
            (self.max_ns, self.max_rank) = (ns, rank);
        }
        self.ranks += 1;
        self.mean_ns += ns;
    }
}

/// Returns the mean time of a visit at each of `count` points, in nanoseconds; NaN for points that
/// the rank did not reach.
///
/// A bucket that spans two points belongs to the one where it begins.
///
/// # Panics
/// If `visits_per_point` is 0.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
pub fn rank_points(series: &[SeriesBucket], visits_per_point: u64, count: usize) -> Vec<f64> {
    let mut sums = vec![(0.0, 0_u64); count];
    let mut before = 0_u64;
    for bucket in series {
        if let Some((sum, visits)) = sums.get_mut(place(before / visits_per_point)) {
            *sum += bucket.sum_ns as f64;
            *visits += u64::from(bucket.visits);
        }
        before += u64::from(bucket.visits);
    }
    sums.into_iter().map(|(sum, visits)| sum / visits as f64).collect()
}

fn length(series: &[SeriesBucket]) -> u64 {
    series.iter().map(|bucket| u64::from(bucket.visits)).sum()
}

fn starts(series: &[SeriesBucket], visits_per_point: u64) -> Vec<usize> {
    let (mut starts, mut before) = (Vec::new(), 0_u64);
    let mut last = series.first().map(|bucket| bucket.execution);
    for bucket in series {
        let at = place(before / visits_per_point);
        if last != Some(bucket.execution) && starts.last() != Some(&at) {
            starts.push(at);
        }
        last = Some(bucket.execution);
        before += u64::from(bucket.visits);
    }
    starts
}

fn place(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}
