//! GraphML: the callpath tree, with the report's numbers for each callpath.

use std::error::Error;
use std::io::{self, Write};

use tinyprof_format::model::{Callpath, CallpathIndex};
use tinyprof_report::{RankStatistics, Spread, Transfers};

use super::exporter::{Exporter, Notes, Request};
use super::names::xml;
use super::summary::Summary;

pub(super) struct GraphMl;

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"#;

/// The text attributes of a node.
const TEXTS: [&str; 4] = ["name", "id", "module", "file"];

/// The integer attributes of a node.
const NUMBERS: [&str; 10] = [
    "line",
    "ranks",
    "visits",
    "inclusive_sum_ns",
    "inclusive_min_ns",
    "inclusive_max_ns",
    "exclusive_sum_ns",
    "exclusive_min_ns",
    "exclusive_max_ns",
    "depth",
];

/// The integer attributes of a node of profiles with messages.
const MESSAGE_NUMBERS: [&str; 4] = ["messages_out", "bytes_out", "messages_in", "bytes_in"];

/// The other numeric attributes of a node.
const MEANS: [&str; 2] = ["inclusive_mean_ns", "exclusive_mean_ns"];

impl Exporter for GraphMl {
    fn export(
        &self,
        request: &Request<'_>,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        let source = request.source()?;
        let summary = Summary::of(&source)?;
        let statistics = &summary.statistics;
        let table = source.callpaths();
        let of_messages = MESSAGE_NUMBERS.into_iter().filter(|_| summary.has_messages());
        let names: Vec<&str> = NUMBERS.into_iter().chain(of_messages).collect();
        let numbers: Vec<Vec<u128>> = table
            .iter()
            .zip(statistics.rows())
            .map(|((index, callpath), row)| {
                let messages = messages(summary.transfers.get(&index.row()));
                let all = numbers(callpath, &row).into_iter().chain(messages);
                all.take(names.len()).collect()
            })
            .collect();
        out.write_all(HEAD.as_bytes())?;
        for name in TEXTS {
            key(out, name, "string")?;
        }
        for (at, &name) in names.iter().enumerate() {
            // GraphML's `long` is a signed 64-bit integer.
            let is_long = numbers.iter().all(|numbers| i64::try_from(numbers[at]).is_ok());
            key(out, name, if is_long { "long" } else { "double" })?;
        }
        for name in MEANS {
            key(out, name, "double")?;
        }
        writeln!(
            out,
            "  <key id=\"precision\" for=\"graph\" attr.name=\"precision\" attr.type=\"string\"/>"
        )?;
        let efficiency = summary.efficiency();
        for (name, _) in &efficiency {
            writeln!(
                out,
                "  <key id=\"efficiency_{name}\" for=\"graph\" attr.name=\"efficiency_{name}\" attr.type=\"double\"/>"
            )?;
        }
        writeln!(out, "  <graph id=\"{}\" edgedefault=\"directed\">", xml(&source.name))?;
        writeln!(out, "    <data key=\"precision\">{}</data>", source.precision())?;
        for (name, number) in &efficiency {
            writeln!(out, "    <data key=\"efficiency_{name}\">{number}</data>")?;
        }
        for ((index, callpath), (row, numbers)) in table.iter().zip(statistics.rows().zip(&numbers))
        {
            node(out, index, callpath, &row, names.iter().copied().zip(numbers))?;
        }
        for (index, callpath) in table.iter() {
            if let Some(parent) = callpath.parent {
                writeln!(
                    out,
                    "    <edge source=\"n{}\" target=\"n{}\"/>",
                    parent.row(),
                    index.row()
                )?;
            }
        }
        out.write_all(b"  </graph>\n</graphml>\n")?;
        Ok(summary.metrics_note().into_iter().collect())
    }
}

fn key(out: &mut (dyn Write + Send), name: &str, kind: &str) -> io::Result<()> {
    writeln!(out, "  <key id=\"{name}\" for=\"node\" attr.name=\"{name}\" attr.type=\"{kind}\"/>")
}

fn node<'a>(
    out: &mut (dyn Write + Send),
    index: CallpathIndex,
    callpath: &Callpath,
    row: &RankStatistics,
    numbers: impl Iterator<Item = (&'a str, &'a u128)>,
) -> io::Result<()> {
    let region = &callpath.region;
    let id = format!("{:016x}", callpath.id.to_bits());
    writeln!(out, "    <node id=\"n{}\">", index.row())?;
    for (name, text) in TEXTS.into_iter().zip([&region.name, &id, &region.module, &region.file]) {
        writeln!(out, "      <data key=\"{name}\">{}</data>", xml(text))?;
    }
    for (name, number) in numbers {
        writeln!(out, "      <data key=\"{name}\">{number}</data>")?;
    }
    for (name, spread) in MEANS.into_iter().zip([&row.inclusive, &row.exclusive]) {
        if let Some(mean) = row.mean_ns(spread) {
            writeln!(out, "      <data key=\"{name}\">{mean}</data>")?;
        }
    }
    writeln!(out, "    </node>")
}

fn numbers(callpath: &Callpath, row: &RankStatistics) -> [u128; NUMBERS.len()] {
    let of = |spread: &Spread| [spread.sum_ns, spread.min_ns.into(), spread.max_ns.into()];
    let ([i_sum, i_min, i_max], [e_sum, e_min, e_max]) = (of(&row.inclusive), of(&row.exclusive));
    let (line, ranks, visits) = (callpath.region.line.into(), row.ranks.into(), row.visits.into());
    [line, ranks, visits, i_sum, i_min, i_max, e_sum, e_min, e_max, callpath.depth.into()]
}

/// Returns the messages of a callpath on all ranks together.
fn messages(transfers: Option<&Transfers>) -> [u128; MESSAGE_NUMBERS.len()] {
    let transfers = transfers.copied().unwrap_or_default();
    let (out, into_rank) = (transfers.out(), transfers.into_rank());
    [out.count, out.bytes, into_rank.count, into_rank.bytes].map(u128::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages_example as example;

    #[test]
    fn messages_are_attributes_where_there_are_any() {
        let text = |profile| {
            let mut text = Vec::new();
            let request = Request::of_profile("run", profile);
            GraphMl.export(&request, &mut text).expect("it is written");
            String::from_utf8(text).expect("text")
        };
        let mut profile = example::profile(4);
        let with = text(profile.clone());
        for (name, number) in MESSAGE_NUMBERS.into_iter().zip([0, 0, 54, 366_000]) {
            let data = format!("<data key=\"{name}\">{number}</data>");
            assert!(with.contains(&data), "{data}");
            assert!(with.contains(&format!("<key id=\"{name}\"")));
        }
        let expected = tinyprof_report::Efficiency::of_profile(&profile).expect("there are tags");
        let data =
            format!("<data key=\"efficiency_load_balance\">{}</data>", expected.load_balance);
        assert!(with.contains(&data), "{data}: {with}");
        assert!(with.contains("<key id=\"efficiency_parallel\" for=\"graph\""));
        profile.values.iter_mut().flatten().for_each(|values| values.messages.clear());
        assert!(!text(profile).contains("messages"));
    }
}
