//! A profile in the terms of CubeX: metrics, one tree, hosts with their ranks, and the bytes of
//! each value.

use std::collections::HashMap;
use std::error::Error;

use tinyprof_format::model::CallpathIndex;

use super::tree::{Kind, Tree};
use crate::export::exporter::Source;
use crate::export::rank_sums::RankSums;

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
    pub(super) source: &'a Source<'a>,
    sums: RankSums,
    pub(super) tree: Tree,
    pub(super) metrics: Vec<Metric>,
    /// The hosts, in the order of their first rank, with their ranks.
    pub(super) hosts: Vec<(&'a str, Vec<usize>)>,
    /// The ranks grouped by host: the order of the locations in the system tree.
    pub(super) locations: Vec<usize>,
}

impl<'a> Cube<'a> {
    /// # Errors
    /// If the profile cannot be read.
    pub(super) fn new(source: &'a Source<'a>) -> Result<Self, Box<dyn Error>> {
        let mut hosts: Vec<(&str, Vec<usize>)> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for &rank in &source.ranks {
            let host = source.facts()[rank].host.as_str();
            let at = *known.entry(host).or_insert(hosts.len());
            if at == hosts.len() {
                hosts.push((host, Vec::new()));
            }
            hosts[at].1.push(rank);
        }
        let sums = RankSums::of(source)?;
        let varying =
            |key: &str| Metric { kind: Kind::Exclusive, what: What::Varying(key.to_owned()) };
        let mut metrics = vec![
            Metric { kind: Kind::Exclusive, what: What::Visits },
            Metric { kind: Kind::Inclusive, what: What::Time },
        ];
        metrics.extend(sums.keys().map(varying));
        if sums.has_messages() {
            let directions = [What::BytesOut, What::BytesIn];
            metrics.extend(directions.map(|what| Metric { kind: Kind::Exclusive, what }));
        }
        let locations = hosts.iter().flat_map(|(_, ranks)| ranks.iter().copied()).collect();
        let tree = Tree::new(source.callpaths());
        Ok(Self { source, sums, tree, metrics, hosts, locations })
    }

    pub(super) fn value(&self, metric: &Metric, node: usize, rank: usize) -> [u8; 8] {
        let inclusive_ns = |row| self.sums.totals.inclusive_ns(CallpathIndex::new(row), rank);
        let Some(row) = self.tree.row(node) else {
            // The root that joins several roots has only the sum of its children's values.
            let below = self.tree.roots().iter().map(|&root| inclusive_ns(root));
            let is_time = matches!(metric.what, What::Time);
            return if is_time { below.fold(0, u64::saturating_add).to_le_bytes() } else { [0; 8] };
        };
        match &metric.what {
            What::Visits => self.sums.totals.visits(CallpathIndex::new(row), rank).to_le_bytes(),
            What::Time => inclusive_ns(row).to_le_bytes(),
            What::Varying(key) => self.sums.metric(key, row, rank).to_le_bytes(),
            What::BytesOut => self.sums.transfers(row, rank).out_bytes.to_le_bytes(),
            What::BytesIn => self.sums.transfers(row, rank).in_bytes.to_le_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::exporter::Request;
    use crate::messages_example as example;

    #[test]
    fn bytes_are_metrics_where_there_are_messages() {
        let request = Request::of_profile("run", example::profile(4));
        let source = request.source().expect("it is in memory");
        let cube = Cube::new(&source).expect("it is in memory");
        let found = cube.metrics.iter().map(|metric| {
            let sum = |(node, rank)| u64::from_le_bytes(cube.value(metric, node, rank));
            let cells = (0..cube.tree.len()).flat_map(|node| (0..4).map(move |rank| (node, rank)));
            cells.map(sum).sum::<u64>()
        });
        let sent = 366_000 + 4 * (5 + 3 * 8 + (1 << 20));
        assert_eq!(found.skip(2).collect::<Vec<_>>(), [sent, 366_000 + 4 * 3 * 8]);
    }
}
