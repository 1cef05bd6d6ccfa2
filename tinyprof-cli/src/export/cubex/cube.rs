//! A profile in the terms of CubeX: metrics, one tree, hosts with their ranks, and the bytes of
//! each value.

use std::collections::{BTreeSet, HashMap};

use tinyprof_format::model::CallpathValues;
use tinyprof_report::{Transfers, has_messages};

use super::tree::{Kind, Tree};
use crate::export::exporter::{Source, metrics_of};

/// A quantity of each callpath on each rank.
pub(super) struct Metric {
    pub(super) kind: Kind,
    pub(super) what: What,
}

pub(super) enum What {
    /// The number of visits, a whole number.
    Visits,
    /// A time in whole nanoseconds.
    Time,
    /// The sum of a varying metric.
    Varying(String),
    /// The bytes of messages and other transfers that leave the rank.
    BytesOut,
    /// The bytes that reach it.
    BytesIn,
}

/// A profile in the terms of CubeX.
pub(super) struct Cube<'a> {
    pub(super) source: &'a Source,
    pub(super) tree: Tree,
    pub(super) metrics: Vec<Metric>,
    /// The hosts, in the order of their first rank, with their ranks.
    pub(super) hosts: Vec<(&'a str, Vec<usize>)>,
    /// The ranks grouped by host: the order of the locations in the system tree.
    pub(super) locations: Vec<usize>,
}

impl<'a> Cube<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        let mut hosts: Vec<(&str, Vec<usize>)> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for &rank in &source.ranks {
            let host = source.profile.ranks[rank].host.as_str();
            let at = *known.entry(host).or_insert(hosts.len());
            if at == hosts.len() {
                hosts.push((host, Vec::new()));
            }
            hosts[at].1.push(rank);
        }
        let keys: BTreeSet<&String> = source
            .profile
            .values
            .iter()
            .flatten()
            .flat_map(|values| values.metrics.keys())
            .collect();
        let varying =
            |key: &String| Metric { kind: Kind::Exclusive, what: What::Varying(key.clone()) };
        let mut metrics = vec![
            Metric { kind: Kind::Exclusive, what: What::Visits },
            Metric { kind: Kind::Inclusive, what: What::Time },
        ];
        metrics.extend(keys.into_iter().map(varying));
        if has_messages(&source.profile) {
            let directions = [What::BytesOut, What::BytesIn];
            metrics.extend(directions.map(|what| Metric { kind: Kind::Exclusive, what }));
        }
        let locations = hosts.iter().flat_map(|(_, ranks)| ranks.iter().copied()).collect();
        Self { source, tree: Tree::new(&source.profile.callpaths), metrics, hosts, locations }
    }

    pub(super) fn value(&self, metric: &Metric, node: usize, rank: usize) -> [u8; 8] {
        let rows = &self.source.profile.values;
        let Some(row) = self.tree.row(node) else {
            // The root that joins several roots has only the sum of its children's values.
            let below = self.tree.roots().iter().map(|root| rows[*root][rank].inclusive_ns());
            let is_time = matches!(metric.what, What::Time);
            return if is_time { below.fold(0, u64::saturating_add).to_le_bytes() } else { [0; 8] };
        };
        let values = &rows[row][rank];
        match &metric.what {
            What::Visits => values.visits().to_le_bytes(),
            What::Time => values.inclusive_ns().to_le_bytes(),
            What::Varying(key) => sum(values, key).to_le_bytes(),
            What::BytesOut => Transfers::of_messages(&values.messages).out().bytes.to_le_bytes(),
            What::BytesIn => {
                Transfers::of_messages(&values.messages).into_rank().bytes.to_le_bytes()
            }
        }
    }
}

fn sum(values: &CallpathValues, key: &str) -> f64 {
    metrics_of(values).find(|(found, _)| *found == key).map_or(0.0, |(_, metric)| metric.sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::exporter::Request;
    use crate::messages_example as example;

    #[test]
    fn bytes_are_metrics_where_there_are_messages() {
        let request = Request::of_profile("run", example::profile(4));
        let cube = Cube::new(request.source());
        let found = cube.metrics.iter().map(|metric| {
            let sum = |(node, rank)| u64::from_le_bytes(cube.value(metric, node, rank));
            let cells = (0..cube.tree.len()).flat_map(|node| (0..4).map(move |rank| (node, rank)));
            cells.map(sum).sum::<u64>()
        });
        let sent = 366_000 + 4 * (5 + 3 * 8 + (1 << 20));
        assert_eq!(found.skip(2).collect::<Vec<_>>(), [sent, 366_000 + 4 * 3 * 8]);
    }
}
