//! The graph as GraphML.

use std::io::{self, Write};

use tinyprof_structure::{Drawing, DrawnKind};

use super::kind;
use crate::export::xml;

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"#;

/// The attributes: of what, their keys, and their types.
const KEYS: [(&str, &str, &str); 20] = [
    ("graph", "name", "string"),
    ("graph", "ranks", "string"),
    ("node", "kind", "string"),
    ("node", "name", "string"),
    ("node", "callpath", "string"),
    ("node", "function", "string"),
    ("node", "phase", "string"),
    ("node", "loop", "string"),
    ("node", "ranks", "string"),
    ("node", "count", "long"),
    ("node", "time_ns", "long"),
    ("node", "waiting_ns", "long"),
    ("edge", "kind", "string"),
    ("edge", "offset", "int"),
    ("edge", "count", "long"),
    ("edge", "time_ns", "long"),
    ("edge", "bytes", "long"),
    ("edge", "waiting_ns", "long"),
    ("edge", "compensated_ns", "long"),
    ("edge", "transfer_ns", "long"),
];

pub(super) fn write(name: &str, drawing: &Drawing, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEAD.as_bytes())?;
    for (of, key, kind) in KEYS {
        writeln!(
            out,
            "  <key id=\"{of}_{key}\" for=\"{of}\" attr.name=\"{key}\" attr.type=\"{kind}\"/>"
        )?;
    }
    writeln!(out, "  <graph id=\"calls\" edgedefault=\"directed\">")?;
    data(out, "graph", &[("name", xml(name)), ("ranks", drawing.ranks.to_string())])?;
    for (number, node) in drawing.nodes.iter().enumerate() {
        writeln!(out, "    <node id=\"n{number}\">")?;
        let name = if node.kind == DrawnKind::Begin { "begin" } else { node.path.as_str() };
        let callpath = if node.kind == DrawnKind::Call { node.path.as_str() } else { "" };
        data(
            out,
            "node",
            &[
                ("kind", kind(node.kind).to_owned()),
                ("name", xml(name)),
                ("callpath", xml(callpath)),
                ("function", xml(&node.function)),
                ("phase", node.phase.clone()),
                ("loop", xml(&node.in_loop)),
                ("ranks", node.ranks.to_string()),
                ("count", node.times.count.to_string()),
                ("time_ns", node.times.sum.to_string()),
                ("waiting_ns", node.waiting_ns.to_string()),
            ],
        )?;
        writeln!(out, "    </node>")?;
    }
    for edge in &drawing.edges {
        writeln!(out, "    <edge source=\"n{}\" target=\"n{}\">", edge.from, edge.to)?;
        data(
            out,
            "edge",
            &[
                ("kind", edge.kind.to_owned()),
                ("count", edge.times.count.to_string()),
                ("time_ns", edge.times.sum.to_string()),
            ],
        )?;
        writeln!(out, "    </edge>")?;
    }
    for messages in &drawing.messages {
        writeln!(out, "    <edge source=\"n{}\" target=\"n{}\">", messages.from, messages.to)?;
        let sums = &messages.sums;
        let offset =
            if messages.offset == i32::MAX { String::new() } else { messages.offset.to_string() };
        data(
            out,
            "edge",
            &[
                ("kind", messages.kind.to_owned()),
                ("offset", offset),
                ("count", sums.count.to_string()),
                ("bytes", sums.bytes.to_string()),
                ("waiting_ns", sums.sum_ns.to_string()),
                ("compensated_ns", sums.compensated_ns.to_string()),
                ("transfer_ns", sums.transfer_ns.to_string()),
            ],
        )?;
        writeln!(out, "    </edge>")?;
    }
    writeln!(out, "  </graph>\n</graphml>")
}

/// Writes the attributes that are not empty.
fn data(out: &mut dyn Write, of: &str, values: &[(&str, String)]) -> io::Result<()> {
    for (key, value) in values.iter().filter(|(_, value)| !value.is_empty()) {
        writeln!(out, "      <data key=\"{of}_{key}\">{value}</data>")?;
    }
    Ok(())
}
