//! A profile with as many callpaths as a thread can record. Every command must read it within the
//! default memory limit.
//!
//! Ignored, since it takes minutes: `cargo test --release -p tinyprof-cli --test million --
//! --ignored`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use tinyprof_format::file::ProfileWriter;
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, RankFacts, Region, SiteId,
};

/// The most callpaths that a thread records.
const CALLPATHS: usize = 1 << 20;
const REGIONS: usize = 60;
const CHILDREN: usize = 3;

/// The address space of a command, in KiB: half of it for growing data, and half for files that are
/// read whole.
const ADDRESS_SPACE_KIB: u32 = 2 << 20;

fn written(scratch: &Path, name: &str, longer: u64) {
    let region =
        |site: u64| Arc::new(Region::named(SiteId::from_bits(site), format!("region{site}")));
    let regions: Vec<Arc<Region>> = (1..=REGIONS as u64).map(region).collect();
    let mut inclusive_ns = vec![1_000 + longer; CALLPATHS];
    for row in (1..CALLPATHS).rev() {
        inclusive_ns[(row - 1) / CHILDREN] += inclusive_ns[row];
    }
    let mut ids: Vec<CallpathId> = Vec::with_capacity(CALLPATHS);
    let records = inclusive_ns.into_iter().enumerate().map(|(row, ns)| {
        let parent = row.checked_sub(1).map(|before| ids[before / CHILDREN]);
        let region = &regions[row % REGIONS];
        let id = parent.map_or_else(|| CallpathId::root(region.site), |id| id.child(region.site));
        ids.push(id);
        let executions = vec![ExecutionSummary::of_one_visit(0, ns)];
        (id, parent, Arc::clone(region), CallpathValues { executions, ..CallpathValues::default() })
    });
    let map = EventMap::from_records(records, RankFacts::default());
    assert_eq!(map.callpaths.len(), CALLPATHS);
    ProfileWriter::new().write(&scratch.join(name), &[map]).expect("it is written");
}

#[test]
#[ignore = "takes minutes"]
fn every_command_reads_a_million_callpaths_at_the_default_limit() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    written(scratch.path(), "a", 0);
    written(scratch.path(), "b", 10);
    let formats = [
        "tinyprof-csv",
        "parquet",
        "hatchet",
        "speedscope",
        "folded",
        "flamegraph",
        "chrome",
        "extrap",
        "graphml",
        "cubex",
        "openmetrics",
        "pprof",
    ];
    let commands = [
        "info a.tprof",
        "check a.tprof",
        "check a.tprof --salvage -o salvaged",
        "report a.tprof",
        "report a.tprof --all",
        "report a.tprof --json",
        "report a.tprof --format csv",
        "report a.tprof --path region1",
        "tree a.tprof",
        "tree a.tprof --json",
        "tree a.tprof --format csv",
        "top a.tprof",
        "top a.tprof -n 1000000 --json",
        "diff a.tprof b.tprof",
        "diff a.tprof b.tprof --json",
        "html a.tprof -o a.html",
        "html a.tprof b.tprof -o ab.html",
    ];
    let exports = formats.map(|format| format!("export a.tprof --to {format} -o export.{format}"));
    for arguments in commands.into_iter().map(str::to_owned).chain(exports) {
        let tinyprof = env!("CARGO_BIN_EXE_tinyprof");
        let script = format!("ulimit -v {ADDRESS_SPACE_KIB} && exec \"$0\" {arguments} >/dev/null");
        let mut command = Command::new("/bin/sh");
        command
            .current_dir(scratch.path())
            .arg("-c")
            .arg(script)
            .arg(tinyprof)
            .stdout(Stdio::null());
        let output = command.output().expect("it is started");
        let error = String::from_utf8_lossy(&output.stderr);
        println!("{arguments}");
        assert_eq!(output.status.code(), Some(0), "{arguments}: {error}");
    }
}
