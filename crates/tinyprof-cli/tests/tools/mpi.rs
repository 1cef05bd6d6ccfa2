//! `tinyprof mpi` as users and scripts see it.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use tinyprof_format::file::ProfileWriter;
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, RankFacts, Region, SiteId,
};

use crate::support::{done, json, run, scratch, write};

/// Writes a run of two ranks with two calls of `MPI_Send` at two call sites, and one barrier.
fn write_mpi(directory: &Path) {
    let rank = |rank: u64| {
        let site = SiteId::from_bits;
        let visit = |ns| CallpathValues {
            executions: vec![ExecutionSummary::of_one_visit(0, ns)],
            ..CallpathValues::default()
        };
        let call =
            |at: u64, name: &str| Region { module: "mpi".into(), ..Region::named(site(at), name) };
        let main = CallpathId::root(site(1));
        let records = [
            (main, None, Region::named(site(1), "lu"), visit(1_000_000)),
            (main.child(site(2)), Some(main), call(2, "MPI_Send at f (a.c:1)"), visit(100_000)),
            (main.child(site(3)), Some(main), call(3, "MPI_Send at g (a.c:9)"), visit(20_000)),
            (
                main.child(site(4)),
                Some(main),
                call(4, "MPI_Barrier at lu+0x12"),
                visit(150_000 + 100_000 * rank),
            ),
        ];
        EventMap::from_records(records, RankFacts::default())
    };
    ProfileWriter::new().write(&directory.join("lu"), &[rank(0), rank(1)]).expect("it is written");
}

#[test]
fn functions_are_summed_over_ranks_and_call_sites() {
    let scratch = scratch();
    write_mpi(scratch.path());
    let found = json(&["mpi", "lu.tprof", "--json"], scratch.path());
    let functions = found["functions"].as_array().expect("a list");
    let numbers = |at: usize| {
        let function = &functions[at];
        assert!(function["bytes_out"].is_u64() && function["bytes_in"].is_u64(), "{function}");
        (&function["name"], &function["calls"], &function["time_ns"])
    };
    assert_eq!(functions.len(), 2);
    assert_eq!(numbers(0), (&"MPI_Barrier".into(), &2.into(), &400_000.into()));
    assert_eq!(numbers(1), (&"MPI_Send".into(), &4.into(), &240_000.into()));
    let call_sites = found["call_sites"].as_array().expect("a list");
    assert_eq!(call_sites[1]["path"], "lu<MPI_Send at f (a.c:1)");
    assert!(found["peers"].is_array());
}

#[test]
fn ranks_and_a_part_of_the_tree_are_selected() {
    let scratch = scratch();
    write_mpi(scratch.path());
    let barrier = json(&["mpi", "lu.tprof", "--rank", "1", "--json"], scratch.path());
    assert_eq!(barrier["functions"][0]["time_ns"], 250_000);
    let path = ["mpi", "lu.tprof", "--path", "lu<MPI_Send at g (a.c:9)", "--json"];
    let send = json(&path, scratch.path());
    assert_eq!(
        (&send["functions"][0]["name"], &send["functions"][0]["share"]),
        (&"MPI_Send".into(), &1.0.into())
    );
}

#[test]
fn tables_are_limited_and_csv_is_not() {
    let scratch = scratch();
    write_mpi(scratch.path());
    let table = done(&["mpi", "lu.tprof", "-n", "1"], scratch.path());
    assert!(table.contains("... 1 more function\n"), "{table}");
    assert!(table.contains("... 2 more call sites\n"), "{table}");
    let csv = done(&["mpi", "lu.tprof", "-n", "1", "--format", "csv"], scratch.path());
    let first: Vec<&str> = csv.lines().filter_map(|line| line.split(',').next()).collect();
    assert_eq!(first, ["table", "function", "function", "call_site", "call_site", "call_site"]);
}

#[test]
fn a_profile_without_mpi_says_so() {
    let scratch = scratch();
    write(scratch.path(), "run", &[("main", "0.5"), ("main<solve", "0.4")]);
    let ran = run(&["mpi", "run.tprof"], scratch.path());
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.ends_with("\nno MPI calls were recorded\n"), "{}", ran.stdout);
    assert!(ran.stderr.starts_with("note: to record MPI calls, "), "{}", ran.stderr);
    let none = json(&["mpi", "run.tprof", "--json"], scratch.path());
    assert_eq!(
        (&none["functions"], &none["mpi"]),
        (&serde_json::json!([]), &serde_json::Value::Null)
    );
}

/// The Python tests validate whole outputs, but have no profile with MPI's functions.
#[test]
fn the_keys_of_calls_are_those_of_the_schema() {
    let scratch = scratch();
    write_mpi(scratch.path());
    let schema: Value =
        serde_json::from_str(include_str!("../../../../docs/schema.json")).expect("it is JSON");
    let found = json(&["mpi", "lu.tprof", "--json"], scratch.path());
    let keys = |object: &Value| -> BTreeSet<String> {
        object.as_object().expect("an object").keys().cloned().collect()
    };
    for list in ["functions", "call_sites"] {
        let described = &schema["$defs"]["mpi"]["properties"][list]["items"]["properties"];
        assert_eq!(keys(&found[list][0]), keys(described), "{list}");
    }
    let usage = &schema["$defs"]["mpi_usage"]["properties"];
    assert_eq!(keys(&found["mpi"]), keys(usage));
    assert_eq!(
        keys(&found["mpi"]["functions"][0]),
        keys(&usage["functions"]["items"]["properties"])
    );
}
