//! Hatchet's json-split, as Caliper writes it: the tree as a list of nodes, and one row per node
//! and rank.
//!
//! Hatchet takes the order of the nodes from a first column of that name, in which row N belongs to
//! node N. So the first rank has a row for every node, with zeros for callpaths that it did not
//! visit. Other ranks omit those rows, and the reader fills in zeros.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Write;

use serde::Serialize;
use serde::ser::{SerializeSeq as _, Serializer};
use tinyprof_format::model::{Callpath, CallpathIndex, CallpathValues, MetricSummary, RunMetadata};
use tinyprof_report::{RankStatistics, Transfers};

use super::exporter::{Exporter, Notes, Request, Source, float, metrics_of};
use super::{json, paths};

pub(super) struct Hatchet;

/// The columns before those of metrics. Hatchet treats columns with `(inc)` in their name as
/// inclusive; by its convention, `time` is in seconds.
const COLUMNS: [&str; 8] =
    ["Node order", "path", "rank", "visits", "time", "time (inc)", "time_ns", "time_ns (inc)"];

/// The columns of profiles with messages, after the others. They are of the callpath alone, as is
/// `time`.
const MESSAGE_COLUMNS: [&str; 4] = ["messages_out", "bytes_out", "messages_in", "bytes_in"];

impl Exporter for Hatchet {
    fn export(
        &self,
        request: &Request,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        let source = request.source();
        let (order, node_of_row) = preorder(source);
        let keys = keys(source);
        let has_messages = tinyprof_report::has_messages(&source.profile);
        let named = keys.iter().map(|key| format!("metric {key}"));
        let of_messages = MESSAGE_COLUMNS.into_iter().filter(|_| has_messages).map(str::to_owned);
        let columns = COLUMNS.into_iter().map(str::to_owned);
        let columns: Vec<String> = columns.chain(named).chain(of_messages).collect();
        // Columns that are not values identify a node. This includes the order, which Hatchet must
        // not take for a metric.
        let is_value = |column: &String| !COLUMNS[..2].contains(&column.as_str());
        let column_metadata =
            columns.iter().map(|column| ColumnMetadata { is_value: is_value(column) }).collect();
        let nodes = order
            .iter()
            .map(|&index| Node::of(source.profile.callpaths.get(index), &node_of_row))
            .collect();
        let file = File {
            data: Data { source, order: &order, keys: &keys, has_messages },
            columns,
            column_metadata,
            nodes,
            profile: &source.name,
            precision: source.precision(),
            metadata: &source.profile.manifest.metadata,
        };
        json::write(out, &file)?;
        writeln!(out)?;
        Ok(Notes::new())
    }
}

/// Returns the callpaths in preorder, and the position of each row in it.
fn preorder(source: &Source) -> (Vec<CallpathIndex>, Vec<usize>) {
    let order = paths::preorder(&source.profile.callpaths);
    let mut node_of_row = vec![0; order.len()];
    for (node, index) in order.iter().enumerate() {
        node_of_row[index.row()] = node;
    }
    (order, node_of_row)
}

/// Returns the keys of all varying metrics.
fn keys(source: &Source) -> Vec<&str> {
    let values = source.profile.values.iter().flatten();
    let keys: BTreeSet<&str> =
        values.flat_map(|values| values.metrics.keys().map(String::as_str)).collect();
    keys.into_iter().collect()
}

#[derive(Serialize)]
struct File<'a> {
    data: Data<'a>,
    columns: Vec<String>,
    column_metadata: Vec<ColumnMetadata>,
    nodes: Vec<Node<'a>>,
    profile: &'a str,
    precision: &'static str,
    #[serde(flatten)]
    metadata: &'a RunMetadata,
}

#[derive(Serialize)]
struct ColumnMetadata {
    is_value: bool,
}

#[derive(Serialize)]
struct Node<'a> {
    label: &'a str,
    column: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<usize>,
}

impl<'a> Node<'a> {
    fn of(callpath: &'a Callpath, node_of_row: &[usize]) -> Self {
        let parent = callpath.parent.map(|parent| node_of_row[parent.row()]);
        Self { label: &callpath.region.name, column: "path", parent }
    }
}

/// The rows, written one by one so that those of a wide profile need not be in memory.
struct Data<'a> {
    source: &'a Source,
    order: &'a [CallpathIndex],
    keys: &'a [&'a str],
    has_messages: bool,
}

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let first = self.source.ranks.first();
        serializer.collect_seq(self.source.ranks.iter().flat_map(|&rank| {
            let rows = self.source.of_rank(rank);
            self.order.iter().enumerate().filter_map(move |(node, &index)| {
                let values = self.source.profile.values(index, rank);
                let is_wanted = Some(&rank) == first || !values.is_absent();
                is_wanted.then(|| Row {
                    node,
                    rank,
                    statistics: rows[index.row()],
                    values,
                    keys: self.keys,
                    has_messages: self.has_messages,
                })
            })
        }))
    }
}

/// The values of a node on a rank, in the order of the columns.
struct Row<'a> {
    node: usize,
    rank: usize,
    statistics: RankStatistics,
    values: &'a CallpathValues,
    keys: &'a [&'a str],
    has_messages: bool,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let RankStatistics { visits, inclusive, exclusive, .. } = self.statistics;
        let of_messages = if self.has_messages { MESSAGE_COLUMNS.len() } else { 0 };
        let length = COLUMNS.len() + self.keys.len() + of_messages;
        let mut row = serializer.serialize_seq(Some(length))?;
        for whole in [self.node, self.node, self.rank] {
            row.serialize_element(&whole)?;
        }
        row.serialize_element(&visits)?;
        for seconds in [exclusive.sum_ns, inclusive.sum_ns].map(|ns| float(ns) / 1e9) {
            row.serialize_element(&seconds)?;
        }
        // The times of one rank fit 64 bits.
        for ns in [exclusive.max_ns, inclusive.max_ns] {
            row.serialize_element(&ns)?;
        }
        let metrics: BTreeMap<&str, MetricSummary> = metrics_of(self.values).collect();
        for key in self.keys {
            row.serialize_element(&metrics.get(key).map_or(0.0, |metric| metric.sum))?;
        }
        if self.has_messages {
            let transfers = Transfers::of_messages(&self.values.messages);
            let (out, into_rank) = (transfers.out(), transfers.into_rank());
            for number in [out.count, out.bytes, into_rank.count, into_rank.bytes] {
                row.serialize_element(&number)?;
            }
        }
        row.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::messages_example as example;

    #[test]
    fn messages_are_columns_of_each_rank() {
        let request = Request::of_profile("run", example::profile(4));
        let mut file = Vec::new();
        Hatchet.export(&request, &mut file).expect("it is written");
        let file: Value = serde_json::from_slice(&file).expect("JSON");
        assert_eq!(
            file["columns"].as_array().expect("a list")[8..],
            MESSAGE_COLUMNS.map(Value::from)
        );
        let label = |row: &Value| {
            let node = row[1].as_u64().and_then(|node| usize::try_from(node).ok());
            file["nodes"][node.expect("a number")]["label"].as_str().map(str::to_owned)
        };
        let rows = file["data"].as_array().expect("a list");
        let of_rank = |name: &str, rank: u64| {
            let is = |row: &&Value| label(row).as_deref() == Some(name) && row[2] == rank;
            let row = rows.iter().find(is).expect("the row").as_array().expect("a list");
            row[8..].iter().map(|value| value.as_u64().expect("whole")).collect::<Vec<_>>()
        };
        // Rank 3 gets 12 messages of rank 2, and 2 of rank 1.
        assert_eq!(of_rank("MPI_Recv", 3), [0, 0, 14, 92_000]);
        assert_eq!(of_rank("MPI_Send", 3), [13, 12_005, 0, 0]);
        assert_eq!(of_rank("MPI_Allreduce", 0), [3, 24, 3, 24]);
        assert_eq!(of_rank("main", 0), [0; 4]);
    }
}
