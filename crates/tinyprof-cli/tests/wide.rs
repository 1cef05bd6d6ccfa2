//! Profiles of many ranks and executions: the commands that show statistics read them callpath by
//! callpath, in a part of the memory that the whole profile would take.

use std::path::Path;
use std::process::{Command, Output};

use tinyprof_format::file::ProfileWriter;
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, RankFacts, Region, SeriesBucket, SiteId,
};

const RANKS: u64 = 256;
const CALLPATHS: usize = 60;
const EXECUTIONS: u32 = 40;
const CHILDREN: usize = 3;

/// The memory limit: the values alone take 256 x 60 x 40 x 64 bytes, which is 37 MiB.
const MEMORY: &str = "12MiB";

fn rank(rank: u64, longer_ns: u64) -> EventMap {
    let own_ns = |row: usize, execution: u32| {
        1_000 + longer_ns + (row as u64 * 131 + u64::from(execution) * 17 + rank * 7) % 977
    };
    let mut inclusive_ns = vec![vec![0; EXECUTIONS as usize]; CALLPATHS];
    for row in (0..CALLPATHS).rev() {
        for execution in 0..EXECUTIONS {
            let at = execution as usize;
            inclusive_ns[row][at] += own_ns(row, execution);
            if let Some(before) = row.checked_sub(1) {
                inclusive_ns[before / CHILDREN][at] += inclusive_ns[row][at];
            }
        }
    }
    let mut ids: Vec<CallpathId> = Vec::new();
    let records = (0..CALLPATHS).map(|row| {
        let site = SiteId::from_bits(row as u64 + 1);
        let parent = row.checked_sub(1).map(|before| ids[before / CHILDREN]);
        let id = parent.map_or_else(|| CallpathId::root(site), |parent| parent.child(site));
        ids.push(id);
        let times = || (0..).zip(inclusive_ns[row].iter().copied());
        let executions =
            times().map(|(execution, ns)| ExecutionSummary::of_one_visit(execution, ns)).collect();
        let is_loop = row == 7;
        let series = times().filter(|_| is_loop);
        let series =
            series.map(|(execution, ns)| SeriesBucket::of_one_visit(execution, ns)).collect();
        let values = CallpathValues { executions, series, ..CallpathValues::default() };
        (id, parent, Region::named(site, format!("region{row}")), values)
    });
    EventMap::from_records(records.collect::<Vec<_>>(), RankFacts::default())
}

fn written(scratch: &Path, name: &str, longer_ns: u64) {
    let ranks: Vec<EventMap> = (0..RANKS).map(|number| rank(number, longer_ns)).collect();
    let writer = ProfileWriter::new().with_ranks_per_part(16);
    writer.write(&scratch.join(name), &ranks).expect("it is written");
}

fn run(arguments: &[&str], directory: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    command.args(arguments).current_dir(directory).output().expect("tinyprof starts")
}

#[test]
fn statistics_need_a_part_of_the_memory_of_the_profile() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    written(scratch.path(), "a", 0);
    written(scratch.path(), "b", 100);
    let commands: [&[&str]; 20] = [
        &["report", "a.tprof", "--json"],
        &["report", "a.tprof", "--by", "region", "--json"],
        &["report", "a.tprof", "--rank", "3,70-90", "--execution", "2-9", "--json"],
        &["report", "a.tprof", "--path", "region2", "--json"],
        &["tree", "a.tprof"],
        &["top", "a.tprof", "-n", "60"],
        &["diff", "a.tprof", "b.tprof", "--json"],
        &["diff", "a.tprof", "b.tprof", "--metric", "exclusive", "--json"],
        &["html", "a.tprof", "-o", "-"],
        &["html", "a.tprof", "b.tprof", "-o", "-"],
        &["mpi", "a.tprof", "--json"],
        &["export", "a.tprof", "--to", "tinyprof-csv"],
        &["export", "a.tprof", "--to", "hatchet"],
        &["export", "a.tprof", "--to", "speedscope"],
        &["export", "a.tprof", "--to", "folded"],
        &["export", "a.tprof", "--to", "flamegraph"],
        &["export", "a.tprof", "--to", "chrome", "--max-ranks", "4"],
        &["export", "a.tprof", "b.tprof", "--to", "extrap"],
        &["export", "a.tprof", "--to", "graphml"],
        &["export", "a.tprof", "--to", "openmetrics"],
    ];
    for arguments in commands {
        let free = run(arguments, scratch.path());
        let limited = run(&[arguments, &["--memory", MEMORY]].concat(), scratch.path());
        let error = String::from_utf8_lossy(&limited.stderr);
        assert_eq!(limited.status.code(), Some(0), "{arguments:?}: {error}");
        assert!(!limited.stdout.is_empty() && limited.stdout == free.stdout, "{arguments:?}");
    }
    for format in ["parquet", "cubex", "pprof"] {
        let of = |name: &str, memory: &str| {
            let arguments = ["export", "a.tprof", "--to", format, "-o", name, "--memory", memory];
            let output = run(&arguments, scratch.path());
            let error = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{format}: {error}");
            std::fs::read(scratch.path().join(name)).expect("it is written")
        };
        let (free, limited) = (of(&format!("free.{format}"), "1GiB"), of(format, MEMORY));
        assert!(free == limited, "{format}");
    }
    // The limit is one: the time lines of all ranks are refused.
    let all = ["export", "a.tprof", "--to", "chrome", "--max-ranks", "256", "--memory", MEMORY];
    let refused = run(&all, scratch.path());
    let error = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(1) && error.contains("--max-ranks"), "{error}");
}
