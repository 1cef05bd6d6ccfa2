//! The graph as JSON.

use serde_json::{Value, json};
use tinyprof_structure::{Drawing, DrawnEdge, DrawnKind, DrawnMessages, DrawnNode};

use super::kind;

/// Returns a graph: `nodes` in the order of their first visits, `edges` between nodes of one rank,
/// and `messages` between ranks, both with the positions of their nodes. Times are in ns.
pub(super) fn of(name: &str, drawing: &Drawing) -> Value {
    json!({
        "schema_version": 1,
        "name": name,
        "ranks": drawing.ranks.to_string(),
        "nodes": drawing.nodes.iter().map(node).collect::<Vec<_>>(),
        "edges": drawing.edges.iter().map(edge).collect::<Vec<_>>(),
        "messages": drawing.messages.iter().map(messages).collect::<Vec<_>>(),
    })
}

fn node(node: &DrawnNode) -> Value {
    let of_call = |text: &str| (node.kind == DrawnKind::Call).then(|| text.to_owned());
    json!({
        "kind": kind(node.kind),
        "name": if node.kind == DrawnKind::Begin { "begin" } else { node.path.as_str() },
        "callpath": of_call(&node.path),
        "function": of_call(&node.function),
        "phase": node.phase,
        "loop": node.in_loop,
        "ranks": node.ranks.to_string(),
        "count": node.times.count,
        "time_ns": node.times.sum,
        "max_ns": (node.kind == DrawnKind::Call).then_some(node.times.maximum),
        "waiting_ns": node.waiting_ns,
    })
}

fn edge(edge: &DrawnEdge) -> Value {
    json!({
        "kind": edge.kind,
        "from": edge.from,
        "to": edge.to,
        "count": edge.times.count,
        "time_ns": edge.times.sum,
        "max_ns": edge.times.maximum,
    })
}

fn messages(messages: &DrawnMessages) -> Value {
    let sums = &messages.sums;
    json!({
        "kind": messages.kind,
        "from": messages.from,
        "to": messages.to,
        "offset": (messages.offset != i32::MAX).then_some(messages.offset),
        "count": sums.count,
        "bytes": sums.bytes,
        "waiting_ns": sums.sum_ns,
        "compensated_ns": sums.compensated_ns,
        "transfer_ns": sums.transfer_ns,
    })
}
