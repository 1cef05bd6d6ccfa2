//! Mean, minimum and maximum over all ranks, presented as ranks.

use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathValues, ExecutionSummary, SeriesBucket};

/// Returns the three summaries of this number of ranks, given by row: their names in the viewer,
/// and their values by row.
pub(super) fn of_all_ranks(
    ranks: usize,
    mut all: Vec<[CallpathValues; 3]>,
) -> [(String, Vec<CallpathValues>); 3] {
    let mut of = |what: &str, at: usize| {
        let values = all.iter_mut().map(|three| std::mem::take(&mut three[at])).collect();
        (format!("{what} of {ranks} ranks, each execution by itself"), values)
    };
    [of("mean", 0), of("minimum", 1), of("maximum", 2)]
}

/// Returns the mean, minimum and maximum of a callpath's values by rank. Compares executions that
/// begin with the same number, and series elements at the same position. Metrics are left out.
pub(super) fn of_row(ranks: &[CallpathValues]) -> [CallpathValues; 3] {
    let mut executions: BTreeMap<u32, Spread> = BTreeMap::new();
    let mut series: BTreeMap<(u32, usize), Spread> = BTreeMap::new();
    for values in ranks {
        for e in &values.executions {
            let seen = executions.entry(e.execution).or_default();
            seen.add(e.sum_ns, e.visits, e.min_ns, e.max_ns);
            seen.executions = seen.executions.max(e.executions);
        }
        let (mut place, mut execution) = (0, None);
        for bucket in &values.series {
            place = if execution.replace(bucket.execution) == Some(bucket.execution) {
                place + 1
            } else {
                0
            };
            let seen = series.entry((bucket.execution, place)).or_default();
            seen.add(bucket.sum_ns, bucket.visits.into(), bucket.min_ns, bucket.max_ns);
        }
    }
    let pick: [fn(&Numbers) -> u64; 3] =
        [Numbers::mean, |numbers| numbers.min, |numbers| numbers.max];
    pick.map(|pick| CallpathValues {
        executions: executions
            .iter()
            .map(|(&execution, spread)| spread.execution(execution, pick))
            .collect(),
        series: series
            .iter()
            .map(|(&(execution, _), spread)| spread.bucket(execution, pick))
            .collect(),
        ..CallpathValues::default()
    })
}

/// The ranks' values at one position.
#[derive(Default)]
struct Spread {
    sum_ns: Numbers,
    visits: Numbers,
    visit_ns: Numbers,
    executions: u32,
}

impl Spread {
    fn add(&mut self, sum_ns: u64, visits: u64, min_ns: u64, max_ns: u64) {
        self.sum_ns.add(sum_ns);
        self.visits.add(visits);
        self.visit_ns.add(min_ns);
        self.visit_ns.add(max_ns);
    }

    fn execution(&self, execution: u32, pick: fn(&Numbers) -> u64) -> ExecutionSummary {
        ExecutionSummary {
            executions: self.executions,
            visits: pick(&self.visits),
            min_ns: self.visit_ns.min,
            max_ns: self.visit_ns.max,
            ..ExecutionSummary::of_one_visit(execution, pick(&self.sum_ns))
        }
    }

    fn bucket(&self, execution: u32, pick: fn(&Numbers) -> u64) -> SeriesBucket {
        SeriesBucket {
            // An element has at least one visit.
            visits: u32::try_from(pick(&self.visits)).unwrap_or(u32::MAX).max(1),
            min_ns: self.visit_ns.min,
            max_ns: self.visit_ns.max,
            ..SeriesBucket::of_one_visit(execution, pick(&self.sum_ns))
        }
    }
}

#[derive(Default)]
struct Numbers {
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Numbers {
    fn add(&mut self, number: u64) {
        self.min = if self.count == 0 { number } else { self.min.min(number) };
        self.max = self.max.max(number);
        self.sum += u128::from(number);
        self.count += 1;
    }

    /// Returns the mean, rounded half up.
    fn mean(&self) -> u64 {
        let count = u128::from(self.count.max(1));
        u64::try_from((self.sum + count / 2) / count).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_compared_over_the_ranks_that_have_them() {
        let rank = |times: &[(u32, u64)]| CallpathValues {
            executions: times
                .iter()
                .map(|&(e, ns)| ExecutionSummary::of_one_visit(e, ns))
                .collect(),
            series: times
                .iter()
                .flat_map(|&(e, ns)| [1, 2].map(|n| SeriesBucket::of_one_visit(e, n * ns)))
                .collect(),
            ..CallpathValues::default()
        };
        let three =
            of_row(&[rank(&[(0, 10), (1, 4)]), rank(&[(0, 13)]), CallpathValues::default()]);
        let seen = three.map(|values| {
            let executions: Vec<_> =
                values.executions.iter().map(|e| (e.execution, e.sum_ns)).collect();
            (executions, values.series.iter().map(|b| (b.execution, b.sum_ns)).collect::<Vec<_>>())
        });
        assert_eq!(seen[0], (vec![(0, 12), (1, 4)], vec![(0, 12), (0, 23), (1, 4), (1, 8)]));
        assert_eq!(seen[1], (vec![(0, 10), (1, 4)], vec![(0, 10), (0, 20), (1, 4), (1, 8)]));
        assert_eq!(seen[2], (vec![(0, 13), (1, 4)], vec![(0, 13), (0, 26), (1, 4), (1, 8)]));
    }
}
