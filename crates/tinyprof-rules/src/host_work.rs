//! Whether the ranks of a host do the same as those of others: only then their times can be
//! compared.

use std::collections::BTreeMap;

use tinyprof_report::Totals;
use tinyprof_report::cells::ratio;

/// Returns, by host, the part of the visits of its ranks that those of other hosts do not make, or
/// make more often, on average: 0 where all do the same, 1 where they have nothing in common. None
/// for one host alone.
pub(crate) fn differences(totals: &Totals) -> BTreeMap<String, f64> {
    let mut hosts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (rank, facts) in totals.ranks().iter().enumerate() {
        hosts.entry(&facts.host).or_default().push(rank);
    }
    let ranks = totals.ranks().len();
    let rows: Vec<_> = totals.callpaths().iter().map(|(index, _)| index).collect();
    let all: Vec<u128> =
        rows.iter().map(|row| (0..ranks).map(|rank| visits(totals, *row, rank)).sum()).collect();
    let others = |here: &[usize]| ranks - here.len();
    let known = hosts.iter().filter(|(_, here)| others(here) > 0);
    known
        .map(|(host, here)| {
            let (mut apart, mut both) = (0.0, 0.0);
            for (row, all) in rows.iter().zip(&all) {
                let own: u128 = here.iter().map(|rank| visits(totals, *row, *rank)).sum();
                let mean_here = ratio(own, here.len() as u128);
                let mean_there = ratio(all - own, others(here) as u128);
                apart += (mean_here - mean_there).abs();
                both += mean_here + mean_there;
            }
            ((*host).to_owned(), if both > 0.0 { apart / both } else { 0.0 })
        })
        .collect()
}

fn visits(totals: &Totals, row: tinyprof_format::model::CallpathIndex, rank: usize) -> u128 {
    totals.visits(row, rank).into()
}
