//! The report at two screen widths, with and without colours, for one rank and for thousands, with
//! names that break careless tables.

use std::path::Path;

use insta::assert_snapshot;
use tinyprof_format::file::ProfileWriter;
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, PhaseTimes, RankFacts, Region,
    RunMetadata, SiteId,
};

use crate::support::{done, scratch};

const EXECUTIONS: u32 = 6;

/// Name, parent, tag, and the time of an execution on a rank, in microseconds.
type Row = (String, Option<usize>, Option<&'static str>, fn(u32) -> u64);

fn rows() -> Vec<Row> {
    let long = format!("solver::{}::step", "a_module_of_twenty_c".repeat(9));
    assert!(long.len() > 190);
    vec![
        ("main".to_owned(), None, None, |rank| if rank == 2_500 { 19_000 } else { 10_000 }),
        (long, Some(0), None, |rank| if rank == 2_500 { 15_000 } else { 6_000 }),
        ("right\u{202e}tfel\u{2066}".to_owned(), Some(0), Some("COMM"), |rank| {
            1_000 + u64::from(rank % 7) * 100
        }),
        ("zero\u{200b}width\u{feff}".to_owned(), Some(1), None, |_| 3_000),
        ("schreiben, 流れ".to_owned(), Some(0), Some("IO"), |_| 900),
        ("tiny".to_owned(), Some(0), None, |_| 4),
        ("tinier".to_owned(), Some(0), None, |_| 2),
    ]
}

fn map(rank: u32) -> EventMap {
    let mut ids: Vec<CallpathId> = Vec::new();
    let mut records = Vec::new();
    for (site, (name, parent, tag, us)) in (1..).zip(rows()) {
        let site = SiteId::from_bits(site);
        let parent = parent.map(|at| ids[at]);
        let id = parent.map_or(CallpathId::root(site), |parent| parent.child(site));
        ids.push(id);
        let constants = tag.map(|tag| ("tag".into(), tag.into())).into_iter().collect();
        let region = Region { constants, ..Region::named(site, name) };
        // Executions differ a little.
        let ns = |execution: u32| us(rank) * (1_000 + u64::from(execution % 3));
        let executions =
            (0..EXECUTIONS).map(|e| ExecutionSummary::of_one_visit(e, ns(e))).collect();
        records.push((
            id,
            parent,
            region,
            CallpathValues { executions, ..CallpathValues::default() },
        ));
    }
    let host = format!("nid{:05}.site.example", rank / 64);
    EventMap::from_records(records, RankFacts { host, ..RankFacts::default() })
}

fn written(directory: &Path, ranks: u32) {
    let maps: Vec<EventMap> = (0..ranks).map(map).collect();
    let metadata = RunMetadata {
        executable: "/home/ada/run".into(),
        tinyprof_version: "0.1.0".into(),
        visit_cost_ps: 18_400,
        visit_cost_error_ps: 0,
        root_visit_cost_ps: 0,
        root_visit_cost_error_ps: 0,
        counted_visit_cost_ps: 0,
        starting_ns: 0,
        ..RunMetadata::default()
    };
    let flush = PhaseTimes { snapshot_ns: 12_000, write_ns: 188_000, ..PhaseTimes::default() };
    ProfileWriter::new()
        .with_ranks_per_part(1_024)
        .with_metadata(metadata)
        .with_times(flush)
        .write(&directory.join("run"), &maps)
        .expect("it is written");
}

/// Returns the report with and without colours; the contents must not depend on them.
fn pictures(ranks: u32, columns: &str) -> String {
    let scratch = scratch();
    written(scratch.path(), ranks);
    let report = |color: &str| {
        done(&["report", "run.tprof", "--width", columns, "--color", color], scratch.path())
    };
    let (plain, painted) = (report("never"), report("always"));
    let width: usize = columns.parse().expect("a number");
    for line in plain.lines() {
        assert!(tinyprof_report::cells::columns(line) <= width, "{line}");
        assert!(
            !line.chars().any(|c| c.is_control() || matches!(c, '\u{202e}' | '\u{200b}')),
            "{line:?}"
        );
    }
    assert_eq!(anstream::adapter::strip_str(&painted).to_string(), plain);
    assert!(plain.lines().count() <= 20, "{plain}");
    format!("{plain}--- with colours\n{}", painted.replace('\u{1b}', "ESC"))
}

#[test]
fn one_rank_in_80_columns() {
    assert_snapshot!(pictures(1, "80"));
}

#[test]
fn one_rank_in_200_columns() {
    assert_snapshot!(pictures(1, "200"));
}

#[test]
fn thousands_of_ranks_in_80_columns() {
    assert_snapshot!(pictures(4_096, "80"));
}

#[test]
fn thousands_of_ranks_in_200_columns() {
    assert_snapshot!(pictures(4_096, "200"));
}
