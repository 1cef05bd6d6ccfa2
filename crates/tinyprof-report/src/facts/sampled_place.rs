//! Where ranks compute longer than others, by the samples of their code.

use std::collections::BTreeMap;

use tinyprof_format::model::CallpathIndex;
use tinyprof_vocabulary::RankSet;

use crate::facts::numbers::float;
use crate::facts::totals::Totals;

/// The least samples of a place that is named.
const SAMPLES_MIN: u64 = 10;

/// The standard errors by which a difference must be larger than chance.
const ERRORS_MIN: f64 = 3.0;

/// A function and line that some ranks are in for longer than others.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledPlace {
    /// The function and line, `work (a.c:12)`; without debug information the function alone.
    pub name: String,
    /// The mean of the ranks, in ns.
    pub here_ns: f64,
    /// The mean of the others, in ns; none if there are no others.
    pub elsewhere_ns: Option<f64>,
}

/// The samples at a place, by rank.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    here: u64,
    elsewhere: u64,
    period_ns: u64,
}

impl SampledPlace {
    /// Returns the place at which `ranks` have the most time beyond that of the other ranks, or the
    /// most time if there are no others: in all of the program, or in the region `within`. None if
    /// there are no samples, or what they show may be chance.
    #[must_use]
    pub fn of(totals: &Totals, ranks: &RankSet, within: Option<CallpathIndex>) -> Option<Self> {
        let count = u32::try_from(totals.ranks().len()).unwrap_or(u32::MAX);
        let here = f64::from((0..count).map(|rank| u32::from(ranks.contains(rank))).sum::<u32>());
        let elsewhere = f64::from(count) - here;
        let places = sums(totals, ranks, within);
        let excess = |(name, sums): (&str, Sums)| {
            let place = sums.place(name, here, elsewhere);
            let excess_ns = place.here_ns - place.elsewhere_ns.unwrap_or(0.0);
            let is_clear = excess_ns > ERRORS_MIN * sums.error_ns(here, elsewhere);
            (sums.here >= SAMPLES_MIN && is_clear).then_some((place, excess_ns))
        };
        let most = places.into_iter().filter_map(excess).max_by(|a, b| a.1.total_cmp(&b.1));
        most.map(|(place, _)| place).filter(|_| here > 0.0)
    }
}

fn sums<'a>(
    totals: &'a Totals,
    ranks: &RankSet,
    within: Option<CallpathIndex>,
) -> BTreeMap<&'a str, Sums> {
    let mut places: BTreeMap<&str, Sums> = BTreeMap::new();
    for (index, callpath) in totals.callpaths().iter() {
        let region = &callpath.region;
        let Some((name, period_ns)) = region.sampled_line().zip(region.sample_period_ns()) else {
            continue;
        };
        if within.is_some() && callpath.parent != within {
            continue;
        }
        let sums = places.entry(name).or_default();
        sums.period_ns = period_ns;
        for (rank, number) in (0..totals.ranks().len()).zip(0_u32..) {
            let of = if ranks.contains(number) { &mut sums.here } else { &mut sums.elsewhere };
            *of = of.saturating_add(totals.visits(index, rank));
        }
    }
    places
}

impl Sums {
    fn place(&self, name: &str, here: f64, elsewhere: f64) -> SampledPlace {
        let mean_ns = |samples, ranks| float(samples) * float(self.period_ns) / ranks;
        SampledPlace {
            name: name.to_owned(),
            here_ns: mean_ns(self.here, here.max(1.0)),
            elsewhere_ns: (elsewhere > 0.0).then(|| mean_ns(self.elsewhere, elsewhere)),
        }
    }

    /// Returns the standard error of the difference between the means: numbers of samples are
    /// Poisson's.
    fn error_ns(&self, here: f64, elsewhere: f64) -> f64 {
        let variance = |samples, ranks: f64| float(samples) / (ranks * ranks);
        let of_others = if elsewhere > 0.0 { variance(self.elsewhere, elsewhere) } else { 0.0 };
        float(self.period_ns) * (variance(self.here, here.max(1.0)) + of_others).sqrt()
    }
}
