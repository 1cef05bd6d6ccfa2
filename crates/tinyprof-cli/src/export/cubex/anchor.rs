//! `anchor.xml`: metrics, regions, call tree and system of a CubeX archive.

use std::fmt::Write as _;

use super::cube::{Cube, Metric, What};
use super::tree::Kind;
use crate::export::names::xml as text;

/// Returns the description of `cube`. Writing to a string cannot fail, so results of `write!` are
/// dropped.
pub(super) fn anchor(cube: &Cube<'_>) -> String {
    let mut xml =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"4.4\">\n");
    for (key, value) in [
        ("Creator", concat!("tinyprof ", env!("CARGO_PKG_VERSION"))),
        ("tinyprof profile", &cube.source.name),
        ("tinyprof precision", cube.source.precision()),
        ("executable", &cube.source.manifest().metadata.executable),
    ] {
        let _ = writeln!(xml, "<attr key=\"{key}\" value=\"{}\"/>", text(value));
    }
    xml.push_str("<metrics title=\"Metric tree\">\n");
    for (number, metric) in cube.metrics.iter().enumerate() {
        push_metric(&mut xml, number, metric);
    }
    xml.push_str("</metrics>\n<program title=\"Call tree\">\n");
    push_regions(&mut xml, cube);
    push_tree(&mut xml, cube);
    xml.push_str("</program>\n<system title=\"System tree\">\n");
    push_system(&mut xml, cube);
    xml.push_str("</system>\n</cube>\n");
    xml
}

fn push_metric(xml: &mut String, number: usize, metric: &Metric) {
    let kind = match metric.kind {
        Kind::Inclusive => "INCLUSIVE",
        Kind::Exclusive => "EXCLUSIVE",
    };
    let (name, unique, data, unit, description) = match &metric.what {
        What::Visits => ("Visits", "visits".to_owned(), "UINT64", "occ", "Number of visits"),
        What::Time => ("Time", "time".to_owned(), "UINT64", "ns", "Time from entry to exit"),
        What::BytesOut => (
            "Bytes out",
            "bytes_out".to_owned(),
            "UINT64",
            "bytes",
            "Bytes of messages and other transfers that leave the rank",
        ),
        What::BytesIn => (
            "Bytes in",
            "bytes_in".to_owned(),
            "UINT64",
            "bytes",
            "Bytes of messages and other transfers that reach the rank",
        ),
        What::Varying(key) => (
            key.as_str(),
            format!("metric.{key}"),
            "DOUBLE",
            "",
            "Sum of what the region recorded under this key",
        ),
    };
    let _ = writeln!(
        xml,
        "<metric id=\"{number}\" type=\"{kind}\"><disp_name>{}</disp_name><uniq_name>{}</uniq_name><dtype>{data}</dtype>\
         <uom>{unit}</uom><val></val><url></url><descr>{description}</descr></metric>",
        text(name),
        text(&unique),
    );
}

/// Writes one region per node, so that each keeps its own line.
fn push_regions(xml: &mut String, cube: &Cube<'_>) {
    for node in 0..cube.tree.len() {
        let region = cube.tree.row(node).map(|row| &cube.source.callpaths().rows()[row].region);
        let (name, file, line) =
            region.map_or(("[all roots]", "", 0), |r| (r.name.as_str(), r.file.as_str(), r.line));
        let name = text(name);
        let file = if file.is_empty() { String::new() } else { text(file) };
        // -1 means an unknown line in this format.
        let begin = if line == 0 { "-1".to_owned() } else { line.to_string() };
        let _ = writeln!(
            xml,
            "<region id=\"{node}\" mod=\"{file}\" begin=\"{begin}\" end=\"-1\"><name>{name}</name>\
             <mangled_name>{name}</mangled_name><paradigm>user</paradigm><role>function</role><url></url>\
             <descr></descr></region>"
        );
    }
}

/// Writes the nested nodes. It uses an explicit stack, since a hostile tree may be deeper than the
/// thread's stack allows.
fn push_tree(xml: &mut String, cube: &Cube<'_>) {
    let mut waiting = vec![(0, false)];
    while let Some((node, is_closing)) = waiting.pop() {
        if is_closing {
            xml.push_str("</cnode>\n");
            continue;
        }
        let _ = writeln!(xml, "<cnode id=\"{node}\" calleeId=\"{node}\">");
        waiting.push((node, true));
        waiting.extend(cube.tree.children(node).iter().rev().map(|&child| (child, false)));
    }
}

/// Writes the machine, its hosts, and their ranks as processes of one thread.
fn push_system(xml: &mut String, cube: &Cube<'_>) {
    let cluster = &cube.source.manifest().metadata.cluster;
    let machine = if cluster.is_empty() { "machine" } else { cluster };
    let _ = writeln!(
        xml,
        "<systemtreenode Id=\"0\"><name>{}</name><class>machine</class><descr></descr>",
        text(machine)
    );
    let mut location = 0;
    for (number, (host, ranks)) in cube.hosts.iter().enumerate() {
        let name = if host.is_empty() { "host" } else { host };
        let id = number + 1;
        let name = text(name);
        let _ = writeln!(
            xml,
            "<systemtreenode Id=\"{id}\"><name>{name}</name><class>node</class><descr></descr>"
        );
        for rank in ranks {
            let _ = writeln!(
                xml,
                "<locationgroup Id=\"{location}\"><name>rank {rank}</name><rank>{rank}</rank><type>process</type>\
                 <location Id=\"{location}\"><name>rank {rank}</name><rank>0</rank><type>thread</type></location>\
                 </locationgroup>"
            );
            location += 1;
        }
        xml.push_str("</systemtreenode>\n");
    }
    xml.push_str("</systemtreenode>\n");
}
