//! The graph in the language of Graphviz.

use std::io::{self, Write};

use tinyprof_report::cells::{columns, cut, time_cell};
use tinyprof_report::escaped;
use tinyprof_structure::{Drawing, DrawnKind, DrawnNode};

/// The maximum width of a line in a node, in columns.
const NODE_COLUMNS: usize = 48;

pub(super) fn write(name: &str, drawing: &Drawing, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "digraph {} {{", quoted(name))?;
    writeln!(out, "  node [shape=box];")?;
    for (number, node) in drawing.nodes.iter().enumerate() {
        let shape = match node.kind {
            DrawnKind::Begin => ", shape=circle",
            DrawnKind::Loop => ", shape=hexagon",
            _ => "",
        };
        writeln!(out, "  n{number} [label={}{shape}];", label(node))?;
    }
    for edge in &drawing.edges {
        let style = if edge.kind == "completion" { ", style=dotted" } else { "" };
        let from_loop =
            drawing.nodes.get(edge.from).is_some_and(|node| node.kind == DrawnKind::Loop);
        let text = if edge.kind == "completion" || from_loop {
            format!("{}x", edge.times.count)
        } else {
            format!("{}x {}", edge.times.count, time_cell(edge.times.sum.into()))
        };
        writeln!(out, "  n{} -> n{} [label={}{style}];", edge.from, edge.to, quoted(&text))?;
    }
    for messages in &drawing.messages {
        let offset = match messages.offset {
            i32::MAX => String::new(),
            offset => format!(" from {offset:+}"),
        };
        let sums = &messages.sums;
        let waiting = time_cell(sums.sum_ns.into());
        let text = format!("{}x{offset}, waiting {waiting}", sums.count);
        writeln!(
            out,
            "  n{} -> n{} [label={}, style=dashed, constraint=false, color=blue];",
            messages.from,
            messages.to,
            quoted(&text)
        )?;
    }
    writeln!(out, "}}")
}

fn label(node: &DrawnNode) -> String {
    if node.kind == DrawnKind::Begin {
        return quoted("begin");
    }
    // The end of a path says most.
    let path = match node.path.rsplit_once('<') {
        Some((_, name)) if columns(&node.path) > NODE_COLUMNS => name,
        _ => &node.path,
    };
    let lines = [
        cut(&escaped(path), NODE_COLUMNS),
        format!("{}x {}", node.times.count, time_cell(node.times.sum.into())),
        cut(&format!("ranks {}", node.ranks), NODE_COLUMNS),
    ];
    format!("\"{}\"", lines.map(|line| plain(&line)).join("\\n"))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", plain(&escaped(text)))
}

fn plain(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_quotes() {
        assert_eq!(quoted("a\"]; x -> y\\"), r#""a\"]; x -> y\\""#);
        assert_eq!(quoted("a\nb"), r#""a\\nb""#);
    }
}
