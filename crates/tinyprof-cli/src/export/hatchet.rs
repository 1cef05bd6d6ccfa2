//! Hatchet's json-split, as Caliper writes it: the tree as a list of nodes, and one row per node
//! and rank.
//!
//! Hatchet takes the order of the nodes from a first column of that name, in which row N belongs to
//! node N. So the first rank has a row for every node, with zeros for callpaths that it did not
//! visit. Other ranks omit those rows, and the reader fills in zeros.

use std::borrow::Cow;
use std::error::Error;
use std::io::Write;

use serde::Serialize;
use serde::ser::{SerializeSeq as _, Serializer};
use tinyprof_format::model::{Callpath, CallpathIndex, CallpathTable, RunMetadata};

use super::exporter::{Exporter, Notes, Request, Source, float};
use super::rank_sums::{RankSums, Sums};
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
        request: &Request<'_>,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        write(&request.source()?, &|name| Cow::Borrowed(name), out)?;
        Ok(Notes::new())
    }
}

/// Writes a profile, with its regions named like this.
///
/// # Errors
/// If the profile cannot be read, or `out` not be written.
pub(super) fn write(
    source: &Source<'_>,
    label: &dyn Fn(&str) -> Cow<'_, str>,
    out: &mut (dyn Write + Send),
) -> Result<(), Box<dyn Error>> {
    let (order, node_of_row) = preorder(source.callpaths());
    let sums = RankSums::of(source)?;
    let exclusive_ns = sums.totals.exclusive_ns();
    let keys: Vec<&str> = sums.keys().collect();
    let has_messages = sums.has_messages();
    let columns = columns(&keys, has_messages);
    // Columns that are not values identify a node. This includes the order, which Hatchet must
    // not take for a metric.
    let is_value = |column: &String| !COLUMNS[..2].contains(&column.as_str());
    let column_metadata =
        columns.iter().map(|column| ColumnMetadata { is_value: is_value(column) }).collect();
    let node = |&index: &CallpathIndex| {
        let callpath = source.callpaths().get(index);
        Node::of(callpath, label(&callpath.region.name), &node_of_row)
    };
    let file = File {
        data: Data {
            ranks: &source.ranks,
            sums: &sums,
            exclusive_ns: &exclusive_ns,
            order: &order,
            keys: &keys,
            has_messages,
        },
        columns,
        column_metadata,
        nodes: order.iter().map(node).collect(),
        profile: &source.name,
        precision: source.precision(),
        metadata: &source.manifest().metadata,
    };
    json::write(out, &file)?;
    writeln!(out)?;
    Ok(())
}

/// Returns the names of all columns of a profile with these metrics.
fn columns(keys: &[&str], has_messages: bool) -> Vec<String> {
    let named = keys.iter().map(|key| format!("metric {key}"));
    let of_messages = MESSAGE_COLUMNS.into_iter().filter(|_| has_messages).map(str::to_owned);
    COLUMNS.into_iter().map(str::to_owned).chain(named).chain(of_messages).collect()
}

/// Returns the callpaths in preorder, and the position of each row in it.
fn preorder(callpaths: &CallpathTable) -> (Vec<CallpathIndex>, Vec<usize>) {
    let order = paths::preorder(callpaths);
    let mut node_of_row = vec![0; order.len()];
    for (node, index) in order.iter().enumerate() {
        node_of_row[index.row()] = node;
    }
    (order, node_of_row)
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
    label: Cow<'a, str>,
    column: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<usize>,
}

impl<'a> Node<'a> {
    fn of(callpath: &Callpath, label: Cow<'a, str>, node_of_row: &[usize]) -> Self {
        let parent = callpath.parent.map(|parent| node_of_row[parent.row()]);
        Self { label, column: "path", parent }
    }
}

/// The rows, written one by one so that those of a wide profile need not be in memory.
struct Data<'a> {
    ranks: &'a [usize],
    sums: &'a RankSums,
    /// By row, then by rank.
    exclusive_ns: &'a [Vec<u64>],
    order: &'a [CallpathIndex],
    keys: &'a [&'a str],
    has_messages: bool,
}

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let first = self.ranks.first();
        serializer.collect_seq(self.ranks.iter().flat_map(|&rank| {
            self.order.iter().enumerate().filter_map(move |(node, &index)| {
                let is_wanted = Some(&rank) == first || self.sums.is_present(index, rank);
                is_wanted.then_some(Row { data: self, node, index, rank })
            })
        }))
    }
}

/// The values of a node on a rank, in the order of the columns.
struct Row<'a> {
    data: &'a Data<'a>,
    node: usize,
    index: CallpathIndex,
    rank: usize,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { data, index, rank, .. } = *self;
        let Data { sums, keys, has_messages, .. } = data;
        let exclusive_ns = data.exclusive_ns[index.row()][rank];
        let inclusive_ns = sums.totals.inclusive_ns(index, rank);
        let of_messages = if *has_messages { MESSAGE_COLUMNS.len() } else { 0 };
        let length = COLUMNS.len() + keys.len() + of_messages;
        let mut row = serializer.serialize_seq(Some(length))?;
        for whole in [self.node, self.node, rank] {
            row.serialize_element(&whole)?;
        }
        row.serialize_element(&sums.totals.visits(index, rank))?;
        for seconds in [exclusive_ns, inclusive_ns].map(|ns| float(ns.into()) / 1e9) {
            row.serialize_element(&seconds)?;
        }
        for ns in [exclusive_ns, inclusive_ns] {
            row.serialize_element(&ns)?;
        }
        for key in *keys {
            row.serialize_element(&sums.metric(key, index.row(), rank))?;
        }
        if *has_messages {
            let Sums { out_count, out_bytes, in_count, in_bytes } =
                sums.transfers(index.row(), rank);
            for number in [out_count, out_bytes, in_count, in_bytes] {
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
