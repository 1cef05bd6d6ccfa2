//! `tinyprof waits`, `classes` and `graph` as users and scripts see them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tinyprof_format::file::ProfileWriter;

use crate::programs::wave_send;
use crate::support::{done, json, run, scratch, write};

/// Writes the wave on 8 ranks, of which rank 5 is slow.
pub(crate) fn write_wave(directory: &Path, name: &str) {
    let mut world = wave_send(8, 50, Some(5));
    for rank in world.ranks() {
        let clock = world.clock(rank);
        clock.companions = 114;
        clock.own_intrusion_ns = 40_000;
        clock.intrusion_ns = 46_000 + 1_000 * rank as u64;
        clock.uncertainty_ns = 2_000;
        clock.ideal_ns = 7_000_000;
    }
    ProfileWriter::new().write(&directory.join(name), &world.end()).expect("it is written");
}

fn ranks(phase: &Value) -> Vec<&str> {
    let classes = phase["classes"].as_array().expect("a list");
    classes.iter().map(|class| class["ranks"].as_str().expect("text")).collect()
}

#[test]
fn waits_are_read_from_the_file() {
    let scratch = scratch();
    write_wave(scratch.path(), "wave");
    let all = json(&["waits", "wave.tprof", "--json"], scratch.path());
    let first = &all["waits"][0];
    assert_eq!(first["kind"], "late_sender");
    assert_eq!(first["callpath"], "wave<MPI_Recv at step (wave.c:34)");
    assert_eq!(first["for_callpath"], "wave<MPI_Isend at step (wave.c:30)");
    assert!(first["waiting_ns"].as_u64() > first["compensated_ns"].as_u64(), "{first}");
    assert_eq!((&all["clock"]["companions"], &all["clock"]["ranks"]), (&json!(912), &json!(8)));
    assert_eq!(all["compensated"][7]["rank"], 7);
    let pairs =
        json(&["waits", "wave.tprof", "--by-rank", "--rank", "4", "--json"], scratch.path());
    let pairs = pairs["waits"].as_array().expect("a list");
    assert!(pairs.iter().all(|pair| pair["ranks"] == "4" || pair["ranks"] == ""), "{pairs:?}");
    assert_eq!((&pairs[0]["ranks"], &pairs[0]["for_ranks"]), (&json!("4"), &json!("5")));
    let path = ["waits", "wave.tprof", "--path", "wave<MPI_Recv at main (wave.c:42)", "--json"];
    let found = json(&path, scratch.path());
    let found = found["waits"].as_array().expect("a list");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["for_callpath"], "wave<MPI_Send at main (wave.c:40)");
    let ran = run(&["waits", "wave.tprof", "--rank", "8"], scratch.path());
    assert!(ran.code == Some(1) && ran.stderr.contains("there is no rank 8"), "{}", ran.stderr);
}

#[test]
fn all_commands_have_the_same_base() {
    let scratch = scratch();
    let mut world = wave_send(4, 50, Some(2));
    for rank in world.ranks() {
        world.call(rank, "MPI_Init at main (wave.c:9)", 500_000_000);
        world.clock(rank).companions = 100;
    }
    ProfileWriter::new().write(&scratch.path().join("wave"), &world.end()).expect("it is written");
    let of = |arguments: &[&str]| {
        let arguments = [&arguments[..1], &["wave.tprof"], &arguments[1..], &["--json"]].concat();
        json(&arguments, scratch.path())
    };
    let (report, waits, mpi) = (of(&["report"]), of(&["waits"]), of(&["mpi"]));
    let (by_region, by_call) = (of(&["report", "--by", "region"]), of(&["report", "--by", "call"]));
    let top = of(&["top", "-n", "99"]);
    let base_ns = report["total_inclusive_ns"].as_f64().expect("a number");
    assert!(report["startup_ns"].as_u64() > Some(2_000_000_000));
    for found in [&report, &waits, &mpi, &by_region, &by_call, &top] {
        assert_eq!(found["total_inclusive_ns"], base_ns, "{found}");
        assert_eq!(found["startup_ns"], report["startup_ns"], "{found}");
    }

    // The share of a call is the same everywhere.
    let sum = |rows: &Value, key: &str, name: &str, share: &str| -> f64 {
        let rows = rows.as_array().expect("a list").iter();
        let of_name = rows.filter(|row| row[key].as_str().is_some_and(|path| path.contains(name)));
        of_name.map(|row| row[share].as_f64().expect("a number")).sum()
    };
    for function in ["MPI_Recv", "MPI_Send", "MPI_Init"] {
        let expected = sum(&report["callpaths"], "path", function, "exclusive_share");
        assert_eq!(function != "MPI_Init", expected > 0.0, "{function} {expected}");
        for (rows, key, share) in [
            (&top["callpaths"], "path", "exclusive_share"),
            (&by_region["regions"], "name", "exclusive_share"),
            (&by_call["rows"], "name", "share"),
            (&mpi["functions"], "name", "share"),
            (&mpi["call_sites"], "path", "share"),
        ] {
            let found = sum(rows, key, function, share);
            assert!((found - expected).abs() < 1e-9, "{function} {found} {expected} {rows}");
        }
    }
    let all: f64 = sum(&mpi["functions"], "name", "MPI_", "share");
    assert!((all - report["mpi"]["share"].as_f64().expect("a number")).abs() < 1e-9);
    let root = report["callpaths"][0]["share"].as_f64();
    assert!(root.is_some_and(|share| (share - 1.0).abs() < 1e-9), "{root:?}");

    // So is that of waiting, and the useful time is a part of the same base.
    let waiting = |rows: &Value| -> f64 {
        let rows = rows.as_array().expect("a list").iter();
        rows.map(|row| row["waiting_share"].as_f64().expect("a number")).sum()
    };
    let late = sum(&waits["waits"], "kind", "late_sender", "share");
    let of_all = waits["waiting_ns"].as_f64().expect("a number") / base_ns;
    assert!((waiting(&by_call["rows"]) - of_all).abs() < 1e-9 && of_all >= late && late > 0.01);
    let percent = format!("{:.1}%", 100.0 * of_all);
    let text = done(&["waits", "wave.tprof", "--width", "200"], scratch.path());
    assert!(text.contains(&format!("{percent} of the time of all ranks")), "{percent} {text}");
    let why = of(&["why"]);
    let of_why = why["waiting"]["share"].as_f64().expect("a number");
    assert!((of_why - of_all).abs() < 1e-9, "{of_why} {of_all}");
    // What why tells, no hint tells by other words: it could contradict the cause.
    assert_eq!(report["hints"], serde_json::json!([]));
    // With selected ranks the base is their time.
    let of_one =
        |command: &[&str]| of(&[command, &["--rank", "1"]].concat())["total_inclusive_ns"].clone();
    assert_eq!(of_one(&["waits"]), of_one(&["report", "--by", "peer"]));
    assert!(of_one(&["waits"]).as_f64() < Some(base_ns / 2.0));
    let efficiency = &report["efficiency"];
    let useful = efficiency["load_balance"].as_f64().zip(efficiency["communication"].as_f64());
    assert!(
        useful.is_some_and(|(balance, rest)| balance * rest + all < 1.0 + 1e-6),
        "{efficiency}"
    );
}

#[test]
fn waits_fit_any_width() {
    let scratch = scratch();
    write_wave(scratch.path(), "wave");
    for width in ["20", "80", "200"] {
        let text = done(&["waits", "wave.tprof", "--width", width], scratch.path());
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= width.parse::<usize>().expect("a number").max(35), "{width}: {text}");
    }
    let text = done(&["waits", "wave.tprof", "--compensated"], scratch.path());
    assert!(text.contains("in parallel"), "{text}");
    let csv = done(&["waits", "wave.tprof", "--format", "csv"], scratch.path());
    assert!(csv.starts_with("kind,callpath,for_callpath,ranks,"), "{csv}");
}

#[test]
fn reports_begin_with_the_verdict_of_why() {
    let scratch = scratch();
    write_wave(scratch.path(), "wave");
    let found = json(&["why", "wave.tprof", "--json"], scratch.path());
    let verdict = found["verdict"].as_str().expect("text");
    assert!(found["findings"].is_array() && found["waiting"]["is_known"] == true, "{found:#}");
    let text = done(&["why", "wave.tprof", "--width", "1000"], scratch.path());
    assert_eq!(text.lines().next(), Some(verdict));
    let report = done(&["report", "wave.tprof", "--width", "1000"], scratch.path());
    assert_eq!(report.lines().next(), Some(verdict));
    assert!(report.contains("waiting: "), "{report}");
    // A part of a run has no verdict.
    let part = done(&["report", "wave.tprof", "--rank", "4"], scratch.path());
    assert!(part.starts_with("wave.tprof: "), "{part}");
}

#[test]
fn classes_are_read_from_the_file() {
    let scratch = scratch();
    write_wave(scratch.path(), "wave");
    let found = json(&["classes", "wave.tprof", "--json"], scratch.path());
    let phases = found["phases"].as_array().expect("a list");
    assert_eq!(phases.len(), 3);
    assert_eq!(ranks(&phases[1]), ["0", "1-4,6", "5", "7"]);
    let found = json(&["classes", "wave.tprof", "--structure-only", "--json"], scratch.path());
    assert_eq!(ranks(&found["phases"][1]), ["0", "1-6", "7"]);
    assert_eq!(found["phases"][1]["classes"][1]["peers"], json!([-1, 1]));
    let text = done(&["classes", "wave.tprof", "--width", "100"], scratch.path());
    assert!(
        text.contains("phase 2: loop from MPI_Isend at step (wave.c:30), 4 classes\n"),
        "{text}"
    );
}

#[test]
fn graphs_are_of_all_ranks_some_or_one_of_each_class() {
    let scratch = scratch();
    write_wave(scratch.path(), "wave");
    let graph = |ranks: &str| {
        json(&["graph", "wave.tprof", "--to", "json", "--ranks", ranks], scratch.path())
    };
    let all = graph("all");
    assert_eq!((&all["ranks"], all["nodes"].as_array().map(Vec::len)), (&json!("0-7"), Some(12)));
    let node = |graph: &Value, name: &str| {
        let nodes = graph["nodes"].as_array().expect("a list").clone();
        let is_it =
            |node: &Value| node["callpath"].as_str().is_some_and(|path| path.ends_with(name));
        nodes.iter().position(is_it).map(|at| (at, nodes[at].clone())).expect("it is there")
    };
    let (at, receive) = node(&all, "MPI_Recv at step (wave.c:33)");
    assert_eq!((&receive["ranks"], &receive["phase"]), (&json!("1-7"), &json!("2")));
    let found = all["nodes"].as_array().expect("a list").iter().find(|node| node["kind"] == "loop");
    let found = found.expect("the wave has a loop");
    assert_eq!((&found["count"], &found["name"]), (&json!(400), &receive["loop"]));
    assert_eq!((&found["callpath"], &found["ranks"]), (&Value::Null, &json!("0-7")));
    let messages = all["messages"].as_array().expect("a list");
    let to_it: Vec<&Value> = messages.iter().filter(|edge| edge["to"] == at).collect();
    assert_eq!(
        (to_it.len(), &to_it[0]["offset"], &to_it[0]["count"]),
        (1, &json!(-1), &json!(350))
    );
    assert_eq!(to_it[0]["from"], node(&all, "MPI_Isend at step (wave.c:31)").0);
    let classes = graph("classes");
    assert_eq!(classes["ranks"], "0-1,5,7");
    let (_, receive) = node(&classes, "MPI_Recv at step (wave.c:33)");
    assert_eq!((&receive["ranks"], &receive["count"]), (&json!("1-7"), &json!(150)));
    assert_eq!(graph("3")["ranks"], "3");
    let ran = run(&["graph", "wave.tprof", "--to", "json", "--ranks", "9"], scratch.path());
    assert!(ran.code == Some(1) && ran.stderr.contains("there is no rank 9"), "{}", ran.stderr);
}

#[test]
fn graphs_are_written_for_other_tools() {
    let scratch = scratch();
    write_wave(scratch.path(), "wave");
    let dot = done(&["graph", "wave.tprof", "--to", "dot"], scratch.path());
    assert!(dot.starts_with("digraph \"wave.tprof\" {\n") && dot.ends_with("}\n"), "{dot}");
    assert_eq!(dot.matches(" [label=").count(), dot.lines().count() - 3, "{dot}");
    done(&["graph", "wave.tprof", "--to", "graphml", "-o", "wave.graphml"], scratch.path());
    let text = fs::read_to_string(scratch.path().join("wave.graphml")).expect("it is written");
    let mut reader = quick_xml::Reader::from_str(&text);
    while reader.read_event().expect("it is XML") != quick_xml::events::Event::Eof {}
    assert_eq!(text.matches("<node ").count(), 12);
    assert_eq!(text.matches("<data key=\"node_kind\">loop</data>").count(), 1);
    assert!(text.ends_with("</graphml>\n"));
    let again = ["graph", "wave.tprof", "--to", "graphml", "-o", "wave.graphml"];
    assert_eq!(run(&again, scratch.path()).code, Some(1), "no file is overwritten");
}

#[test]
fn a_profile_without_edges_says_how_to_get_one() {
    let scratch = scratch();
    write(scratch.path(), "run", &[("main", "0.5"), ("main<solve", "0.4")]);
    let check = |command: &[&str], code| {
        let ran = run(command, scratch.path());
        assert_eq!(ran.code, Some(code), "{command:?}");
        assert!(ran.stderr.contains("-o mpi=messages"), "{}", ran.stderr);
        assert!(!ran.stdout.is_empty());
    };
    // A script that asks who waits for whom notices that nobody knows.
    check(&["waits", "run.tprof"], 1);
    check(&["waits", "run.tprof", "--json"], 1);
    check(&["waits", "run.tprof", "--compensated"], 1);
    check(&["classes", "run.tprof"], 0);
    let none = json(&["waits", "run.tprof", "--json"], scratch.path());
    assert_eq!((&none["waits"], &none["clock"]), (&json!([]), &Value::Null));
    let none = json(&["classes", "run.tprof", "--json"], scratch.path());
    assert_eq!(none["phases"], json!([]));
}

#[test]
fn reports_are_by_site_loop_call_and_peer() {
    let scratch = scratch();
    write_wave(scratch.path(), "wave");
    let rows = |by: &str| {
        let found = json(&["report", "wave.tprof", "--by", by, "--json"], scratch.path());
        assert_eq!(found["by"], by);
        found["rows"].as_array().expect("a list").clone()
    };
    let named = |rows: &[Value], name: &str| {
        rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}")).clone()
    };
    let call = named(&rows("call"), "MPI_Recv");
    assert_eq!((&call["count"], &call["messages_in"]), (&json!(714), &json!(714)));
    assert!(call["waiting_ns"].as_u64() > Some(0) && call["transfer_ns"] == 714 * 2_000);
    let site = named(&rows("site"), "wave<MPI_Send at main (wave.c:20)");
    assert_eq!((&site["ranks"], &site["bytes_out"]), (&json!("0"), &json!(56_000)));
    // Rank 5 is slow: nobody is waited for longer.
    let peers = rows("peer");
    assert_eq!(peers[0]["name"], "rank 5");
    assert_eq!((&peers[0]["ranks"], &peers[0]["messages_out"]), (&json!("0,4,6"), &json!(101)));
    let loops = rows("loop");
    assert_eq!((loops.len(), &loops[0]["ranks"]), (1, &json!("0-7")));
    assert_eq!(loops[0]["name"], "loop from MPI_Isend at step (wave.c:30)");
    assert!(loops[0]["inclusive_ns"].as_u64() > Some(8 * 50 * 100_000), "{loops:?}");
    let text = done(&["report", "wave.tprof", "--by", "peer", "--width", "100"], scratch.path());
    assert!(text.lines().nth(1).is_some_and(|line| line.ends_with("  peer")), "{text}");
    let regions = json(&["report", "wave.tprof", "--by", "procedure", "--json"], scratch.path());
    assert!(regions["regions"].is_array());
}

#[test]
fn a_graph_by_class_of_4096_ranks_is_small() {
    let scratch = scratch();
    let maps = wave_send(4_096, 3, None).end();
    ProfileWriter::new().write(&scratch.path().join("wide"), &maps).expect("it is written");
    drop(maps);
    for format in ["json", "graphml"] {
        let arguments = ["graph", "wide.tprof", "--to", format, "--ranks", "classes"];
        let text = done(&arguments, scratch.path());
        assert!(text.len() <= 100_000, "{format}: {} bytes", text.len());
        assert!(text.contains("1-4095"), "{format}");
    }
}
