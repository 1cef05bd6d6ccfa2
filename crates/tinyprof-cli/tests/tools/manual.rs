//! The output shown in docs/cli.md: each `$` line of its console blocks is run, and its output
//! compared.
//!
//! `TINYPROF_UPDATE_DOCS=1 cargo test -p tinyprof-cli --test tools` rewrites the page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tinyprof_format::file::ProfileWriter;
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, MessageKey, MessageKind, MetricSummary,
    MetricValues, Mode, RankFacts, Region, RegionKind, RunMetadata, SiteId, Traffic,
};

use crate::communication::write_wave;
use crate::support::{done, scratch};

fn region(site: u64, name: &str) -> Region {
    Region {
        site: SiteId::from_bits(site),
        name: name.into(),
        module: "heat".into(),
        file: "src/main.rs".into(),
        line: 10 * u32::try_from(site).expect("a small number"),
        column: 1,
        kind: RegionKind::Function,
        mode: Mode::Total,
        rank_local: false,
        constants: [].into(),
    }
}

/// Writes a run of four ranks and two executions. Times differ between runs by a few parts in a
/// thousand, depending on `run`, and `exchange` takes `slower` times as long.
fn write_run(directory: &Path, name: &str, run: u64, slower: f64) {
    let rank = |rank: u64| {
        let times = |base_us: u64, slower: f64| {
            let one = |execution: u64| {
                let noise = (run * 37 + rank * 11 + execution * 5 + base_us) % 13;
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    clippy::cast_precision_loss,
                    reason = "small"
                )]
                let ns = ((base_us * (1_000 + noise)) as f64 * slower) as u64;
                ExecutionSummary {
                    visits: 100,
                    min_ns: ns / 200,
                    max_ns: ns / 50,
                    ..ExecutionSummary::of_one_visit(u32::try_from(execution).expect("small"), ns)
                }
            };
            CallpathValues { executions: vec![one(0), one(1)], ..CallpathValues::default() }
        };
        let main = CallpathId::root(SiteId::from_bits(1));
        let of = |site: u64| main.child(SiteId::from_bits(site));
        let mut exchange = times(30_000 + 1_000 * rank, slower);
        let sent =
            MetricSummary { values: 100, ..MetricSummary::of_one_value(0, 100.0 * 65_536.0) };
        let sent = MetricSummary { min: 65_536.0, max: 65_536.0, ..sent };
        exchange
            .metrics
            .insert("bytes".into(), MetricValues { executions: vec![sent], series: Vec::new() });
        let mut records = vec![
            (main, None, region(1, "main"), times(120_000, 1.0 + (slower - 1.0) / 4.0)),
            (of(2), Some(main), region(2, "exchange"), exchange),
            (of(3), Some(main), region(3, "compute"), times(80_000, 1.0)),
        ];
        if rank == 0 {
            records.push((of(4), Some(main), region(4, "write"), times(2_000, 1.0)));
        }
        let facts = RankFacts { host: "node001".into(), threads: 1, ..RankFacts::default() };
        EventMap::from_records(records, facts)
    };
    let metadata = RunMetadata {
        user: "ada".into(),
        launchdate: 1_795_270_350,
        executable: "/home/ada/heat".into(),
        cmdline: vec!["./heat".into(), "--steps".into(), "100".into()],
        mpi_version: Some("Open MPI 4.1.4".into()),
        tinyprof_version: env!("CARGO_PKG_VERSION").into(),
        clock: "tsc".into(),
        ..RunMetadata::default()
    };
    let ranks: Vec<EventMap> = (0..4).map(rank).collect();
    ProfileWriter::new()
        .with_ranks_per_part(4)
        .with_metadata(metadata)
        .write(&directory.join(name), &ranks)
        .expect("it is written");
}

/// Writes a run of four ranks of an MPI program that has no regions of its own. Each rank sends to
/// the next.
fn write_mpi_run(directory: &Path, name: &str) {
    use MessageKind::{CollectiveIn, CollectiveOut, FileOut, MessageIn, MessageOut};
    let rank = |rank: u32| {
        let visits = |visits: u64, ns: u64| {
            let (min_ns, max_ns) = (ns / (2 * visits), 2 * ns / visits);
            ExecutionSummary { visits, min_ns, max_ns, ..ExecutionSummary::of_one_visit(0, ns) }
        };
        let main = CallpathId::root(SiteId::from_bits(1));
        let root = Region::named(SiteId::from_bits(1), "lu");
        let time = CallpathValues {
            executions: vec![visits(1, 2_310_000_000)],
            ..CallpathValues::default()
        };
        let mut records = vec![(main, None, root, time)];
        let mut call = |site: u64, name: &str, time, messages: &[(MessageKind, i32, u64, u64)]| {
            let messages = messages.iter().map(|&(kind, partner, count, size)| {
                (MessageKey::new(kind, partner, size), Traffic { count, bytes: count * size })
            });
            let values = CallpathValues {
                executions: vec![time],
                messages: messages.collect(),
                ..CallpathValues::default()
            };
            let site = SiteId::from_bits(site);
            let tag = if name.contains("File") { "IO" } else { "COMM" };
            let region = Region {
                module: "mpi".into(),
                constants: [("tag".into(), tag.into())].into(),
                ..Region::named(site, name)
            };
            records.push((main.child(site), Some(main), region, values));
        };
        let next = if rank == 3 { -3 } else { 1 };
        let before = if rank == 0 { 3 } else { -1 };
        let late_ns = u64::from(rank) * 30_000_000;
        call(
            2,
            "MPI_Isend at exchange (lu.f:120)",
            visits(3_000, 50_800_000),
            &[(MessageOut, next, 3_000, 8_000)],
        );
        call(
            3,
            "MPI_Waitall at exchange (lu.f:140)",
            visits(3_000, 419_000_000 + late_ns),
            &[(MessageIn, before, 3_000, 8_000)],
        );
        call(
            4,
            "MPI_Allreduce at norm (norm.f:17)",
            visits(300, 185_000_000 - late_ns),
            &[(CollectiveOut, 4, 300, 40), (CollectiveIn, 4, 300, 40)],
        );
        if rank == 0 {
            let written = [(FileOut, 0, 1, 5_000_000)];
            call(5, "MPI_File_write at lu+0x1c40", visits(1, 31_000_000), &written);
        }
        let facts = RankFacts { host: "node001".into(), threads: 1, ..RankFacts::default() };
        EventMap::from_records(records, facts)
    };
    let metadata = RunMetadata {
        executable: "/home/ada/lu".into(),
        mpi_version: Some("Open MPI 4.1.4".into()),
        tinyprof_version: env!("CARGO_PKG_VERSION").into(),
        clock: "tsc".into(),
        ..RunMetadata::default()
    };
    ProfileWriter::new()
        .with_metadata(metadata)
        .write(&directory.join(name), &(0..4).map(rank).collect::<Vec<_>>())
        .expect("the profile is written");
}

/// Creates the files that the page's commands use.
fn prepare(directory: &Path) {
    write_run(directory, "heat", 1, 1.0);
    for run in 1..=3 {
        write_run(directory, &format!("before-{run}"), run, 1.0);
        write_run(directory, &format!("after-{run}"), 3 + run, 1.1);
    }
    write_mpi_run(directory, "lu");
    write_wave(directory, "wave");
    write_run(directory, "damaged", 1, 1.0);
    let part = directory.join("damaged.tprof/part-00000");
    let mut bytes = fs::read(&part).expect("the part");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&part, bytes).expect("it is damaged");
    let text = "\"id\",\"parent\",\"tag\",\"is_loop\",\"times\"\n\
        \"main\",\"null\",\"null\",\"0\",\"0.500000|0.250000\"\n\
        \"main-solve\",\"main\",\"COMP\",\"0\",\"0.1|0.x\"\n";
    fs::write(directory.join("old.csv"), text).expect("the text is written");
    fs::create_dir(directory.join("segments")).expect("a directory");
}

/// Returns the page with the output of each command below it.
fn with_output(page: &str, directory: &Path) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_tinyprof")).parent().expect("a directory");
    let path = std::env::join_paths(
        std::iter::once(bin.to_path_buf())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let path = path.expect("a search path");
    let (mut text, mut in_block, mut code) = (String::new(), false, 0);
    for line in page.lines() {
        if line.starts_with("```") {
            in_block = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| in_block) {
            let script = format!("(exit {code}); {command}");
            let mut bash = Command::new("bash");
            bash.args(["--noprofile", "--norc", "-c", &format!("exec 2>&1; {script}")])
                .current_dir(directory);
            let output =
                bash.env("PATH", &path).env("NO_COLOR", "1").output().expect("bash starts");
            code = output.status.code().expect("an exit code");
            let shown = String::from_utf8(output.stdout).expect("UTF-8");
            text.push_str(&format!(
                "{line}\n{}",
                if shown.ends_with('\n') || shown.is_empty() { shown } else { shown + "\n" }
            ));
            continue;
        }
        if !in_block || line.starts_with("```") {
            text.push_str(&format!("{line}\n"));
        }
    }
    text
}

#[test]
fn the_page_shows_what_the_command_prints() {
    let scratch = scratch();
    prepare(scratch.path());
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let page = fs::read_to_string(&file).expect("docs/cli.md");
    let made = with_output(&page, scratch.path());
    if std::env::var_os("TINYPROF_UPDATE_DOCS").is_some() {
        fs::write(&file, &made).expect("the page is written");
        return;
    }
    for (number, (found, expected)) in page.lines().zip(made.lines()).enumerate() {
        assert_eq!(
            found,
            expected,
            "docs/cli.md, line {}: see the first lines of this test's file",
            number + 1
        );
    }
    assert_eq!(
        page.lines().count(),
        made.lines().count(),
        "docs/cli.md: see the first lines of this test's file"
    );
}

#[test]
fn the_page_shows_every_command() {
    let page =
        fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md"))
            .expect("docs/cli.md");
    let scratch = scratch();
    let help = done(&["--help"], scratch.path());
    let commands = help
        .split_once("Commands:\n")
        .and_then(|(_, rest)| rest.split_once("\n\n"))
        .expect("commands")
        .0;
    for name in commands
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
    {
        assert!(
            page.contains(&format!("$ tinyprof {name} ")),
            "docs/cli.md has no example of tinyprof {name}"
        );
    }
}
