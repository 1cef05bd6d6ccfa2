//! 003: sizes of the graphs, phases and classes, and times of nodes. All but times is counted.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tinyprof_bench_collective::document::table::{Table, float};
use tinyprof_bench_collective::files::directory_bytes;

use super::jobs::{Job, Jobs, Level, Run, number, rows, text};
use crate::page::three;

/// A program as the paper ran it, as far as it has said how: its arguments, and what the paper has.
struct Case {
    program: &'static str,
    ranks: u32,
    full: &'static str,
    small: &'static str,
    paper: &'static str,
}

const CASES: [Case; 6] = [
    Case {
        program: "wave",
        ranks: 8,
        full: "--points 10000 --steps 5000",
        small: "--points 100 --steps 50",
        paper: "WaveSend, 8 CPUs: about 8 KB a process; 3 classes",
    },
    Case {
        program: "wavefront",
        ranks: 4,
        full: "--points 51 --planes 100 --steps 250",
        small: "--points 5 --planes 10 --steps 20",
        paper: "NAS LU, class B, 4 CPUs: 274.8 KB",
    },
    Case {
        program: "sort",
        ranks: 8,
        full: "--keys 8000000 --repeat 10",
        small: "--keys 10000 --repeat 10",
        paper: "NAS IS, class C, 8 CPUs: 75 KB",
    },
    Case {
        program: "multigrid",
        ranks: 8,
        full: "--size 4 --levels 2",
        small: "--size 4 --levels 2",
        paper: "SMG2000, 8 CPUs: 736 KB, not readable",
    },
    Case {
        program: "multigrid",
        ranks: 8,
        full: "--size 4 --levels 4",
        small: "--size 4 --levels 4",
        paper: "",
    },
    Case {
        program: "fire",
        ranks: 4,
        full: "--points 40000 --steps 30",
        small: "--points 300 --steps 20 --weather 10",
        paper: "XFire, 4 CPUs: 2 classes, 3 phases",
    },
];

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    program: String,
    ranks: u32,
    arguments: String,
    callpaths: usize,
    profile_bytes: u64,
    /// The graph of all ranks as GraphML, and of one rank of each class.
    xml_bytes: usize,
    classes_xml_bytes: usize,
    messages: f64,
    message_bytes: f64,
    phases: Vec<Phase>,
    /// Of the loop that takes longest: what a rank does there on average.
    nodes: Vec<Node>,
    computing_s: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Phase {
    kind: String,
    /// The ranks of each class, by what they do and with whom.
    classes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Node {
    call: String,
    calls: f64,
    time_s: f64,
    waiting_s: f64,
}

pub(super) fn measure(jobs: &Jobs) -> Result<Vec<Row>, String> {
    CASES.iter().map(|case| measure_one(jobs, case)).collect()
}

fn measure_one(jobs: &Jobs, case: &Case) -> Result<Row, String> {
    let arguments = jobs.size(case.full, case.small);
    let run = jobs.run(&Job::new(case.program, case.ranks, arguments, Level::Messages))?;
    let report = jobs.json(&["report"], &run)?;
    let structure = jobs.json(&["classes", "--structure-only"], &run)?;
    let phases: Vec<&Value> = rows(&structure, "/phases").collect();
    let loops = phases.iter().filter(|phase| text(phase, "/kind") == "loop");
    let longest = loops.max_by(|a, b| time_ns(a).total_cmp(&time_ns(b)));
    let (nodes, computing_s) = longest.map(|phase| nodes(phase, case.ranks)).unwrap_or_default();
    Ok(Row {
        program: case.program.to_owned(),
        ranks: case.ranks,
        arguments: arguments.to_owned(),
        callpaths: rows(&report, "/callpaths").count(),
        profile_bytes: directory_bytes(&run.profile())?,
        xml_bytes: graph_bytes(jobs, &run, &[])?,
        classes_xml_bytes: graph_bytes(jobs, &run, &["--ranks", "classes"])?,
        messages: number(&report, "/mpi/messages")?,
        message_bytes: number(&report, "/mpi/bytes_out")?,
        phases: phases.iter().map(|phase| Phase::of(phase)).collect(),
        nodes,
        computing_s,
    })
}

fn graph_bytes(jobs: &Jobs, run: &Run, words: &[&str]) -> Result<usize, String> {
    Ok(jobs.ask(&[&["graph", "--to", "graphml"], words].concat(), run)?.len())
}

impl Phase {
    fn of(phase: &Value) -> Self {
        let classes = rows(phase, "/classes").map(|class| text(class, "/ranks").to_owned());
        Self { kind: text(phase, "/kind").to_owned(), classes: classes.collect() }
    }
}

fn of_class(class: &Value, place: &str) -> f64 {
    let at = |place| class.pointer(place).and_then(Value::as_f64).unwrap_or_default();
    at(place) * at("/size")
}

fn time_ns(phase: &Value) -> f64 {
    let times = rows(phase, "/classes")
        .map(|class| of_class(class, "/in_calls_ns") + of_class(class, "/computing_ns"));
    times.sum()
}

/// Returns the calls of a phase, and its computing, as means of all ranks, those that take longest
/// first.
fn nodes(phase: &Value, ranks: u32) -> (Vec<Node>, f64) {
    let mut nodes: Vec<Node> = Vec::new();
    for class in rows(phase, "/classes") {
        let part =
            class.pointer("/size").and_then(Value::as_f64).unwrap_or_default() / f64::from(ranks);
        for call in rows(class, "/calls") {
            let number =
                |place| call.pointer(place).and_then(Value::as_f64).unwrap_or_default() * part;
            let name = text(call, "/callpath").to_owned();
            let of_it = Node {
                call: name.clone(),
                calls: number("/calls"),
                time_s: number("/time_ns") / 1e9,
                waiting_s: number("/waiting_ns") / 1e9,
            };
            match nodes.iter_mut().find(|node| node.call == name) {
                Some(node) => node.add(&of_it),
                None => nodes.push(of_it),
            }
        }
    }
    nodes.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    nodes.truncate(5);
    let computing = rows(phase, "/classes").map(|class| of_class(class, "/computing_ns"));
    (nodes, computing.sum::<f64>() / f64::from(ranks) / 1e9)
}

impl Node {
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.time_s += other.time_s;
        self.waiting_s += other.waiting_s;
    }
}

pub(super) fn table(found: &[Row]) -> String {
    format!("{}\n{}\n{}", sizes(found), classes(found), times(found))
}

fn sizes(found: &[Row]) -> String {
    let mut table = Table::new(&[
        "program",
        "arguments",
        "ranks",
        "callpaths",
        "messages",
        "bytes of one",
        "the profile, KB",
        "all ranks as XML, KB",
        "a rank of each class as XML, KB",
        "003 has",
    ]);
    for (row, case) in found.iter().zip(&CASES) {
        table.row(&[
            format!("`{}`", row.program),
            format!("`{}`", row.arguments),
            row.ranks.to_string(),
            row.callpaths.to_string(),
            format!("{}", row.messages),
            three(if row.messages > 0.0 { row.message_bytes / row.messages } else { 0.0 }),
            three(float(row.profile_bytes) / 1e3),
            three(float(row.xml_bytes as u64) / 1e3),
            three(float(row.classes_xml_bytes as u64) / 1e3),
            case.paper.to_owned(),
        ]);
    }
    table.finish()
}

fn classes(found: &[Row]) -> String {
    let mut table = Table::new(&["program", "phases, and the ranks of each class"]);
    for row in found {
        let phase = |phase: &Phase| format!("{}: {}", phase.kind, phase.classes.join(" / "));
        let phases: Vec<String> = row.phases.iter().map(phase).collect();
        table.row(&[format!("`{}`", row.program), phases.join("; ")]);
    }
    table.finish()
}

fn times(found: &[Row]) -> String {
    let mut table = Table::new(&[
        "program",
        "node of the longest loop",
        "times a rank",
        "time of a rank, s",
        "waiting, s",
        "of the loop, %",
    ]);
    let wanted = |row: &&Row| row.program == "wavefront" || row.program == "sort";
    for row in found.iter().filter(wanted) {
        let all_s = row.computing_s + row.nodes.iter().map(|node| node.time_s).sum::<f64>();
        let share = |time_s: f64| three(100.0 * time_s / all_s);
        let program = format!("`{}`", row.program);
        let computing = [three(row.computing_s), "-".to_owned(), share(row.computing_s)];
        table.row(&[&[program.clone(), "computing".into(), "-".into()][..], &computing].concat());
        for node in &row.nodes {
            table.row(&[
                program.clone(),
                format!("`{}`", node.call),
                three(node.calls),
                three(node.time_s),
                three(node.waiting_s),
                share(node.time_s),
            ]);
        }
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nodes_are_means_of_all_ranks() {
        let class = |size: u32, time_ns: f64| {
            json!({"size": size, "computing_ns": 4e9, "in_calls_ns": time_ns, "ranks": "0",
                "calls": [{"callpath": "main<MPI_Recv", "calls": 8.0, "time_ns": time_ns,
                    "waiting_ns": 0.0}]})
        };
        let phase = json!({"kind": "loop", "classes": [class(1, 2e9), class(3, 6e9)]});
        let (nodes, computing_s) = nodes(&phase, 4);
        assert_eq!((nodes.len(), nodes[0].calls, nodes[0].time_s, computing_s), (1, 8.0, 5.0, 4.0));
        assert_eq!(time_ns(&phase), 36e9);
        assert_eq!(Phase::of(&phase).classes, ["0", "0"]);
    }
}
