//! The facts of a manifest as text.

use tinyprof_format::model::{Manifest, Precision, RunMetadata};
use tinyprof_report::cells::{counted, data, time};
use tinyprof_report::{ROUNDED, escaped, filtered, sentences};

use crate::date::utc;

/// The maximum number of hosts named; the others are only counted.
const HOSTS_NAMED: usize = 4;

/// Returns the facts of a manifest as text: one line each, with the labels used in the rest of
/// TinyProf.
///
/// Facts that the manifest leaves empty have no line. Programs can read the manifest itself, which
/// is JSON.
#[must_use]
pub fn info_text(manifest: &Manifest) -> String {
    let run = &manifest.metadata;
    let mut text = String::new();
    let mut line = |label: &str, fact: &str| {
        if !fact.is_empty() {
            text.push_str(&format!("{label:<12}{}\n", escaped(fact)));
        }
    };
    line("executable", &run.executable);
    line("command", &command(run));
    line("user", &run.user);
    line("launched", &if run.launchdate > 0 { utc(run.launchdate) } else { String::new() });
    line("cluster", &run.cluster);
    line("job", run.jobid.as_deref().unwrap_or_default());
    line("ranks", &manifest.ranks.to_string());
    line("hosts", &hosts(run));
    // What is read from the memory of a program does not say.
    let unsaid = if manifest.complete { "none" } else { "not known" };
    line("MPI", run.mpi_version.as_deref().unwrap_or(unsaid));
    line("executions", &manifest.executions.to_string());
    line("callpaths", &manifest.callpaths.callpaths.to_string());
    line("clock", &run.clock);
    line("times", precision(manifest));
    line("peak memory", &peak_memory(manifest));
    line("files", &files(manifest));
    line("flush", &flush(manifest));
    line("interim profiles", &interim_profiles(manifest));
    line("written by", &written_by(manifest));
    if !manifest.complete {
        line(
            "incomplete",
            manifest.incomplete_because.as_deref().unwrap_or("its run did not come to its end"),
        );
    }
    line("filter", &filtered(run).unwrap_or_default());
    let losses = sentences(&manifest.losses, run.segments_refused.as_deref());
    line("losses", losses.first().map_or("none", String::as_str));
    losses.iter().skip(1).for_each(|loss| line("", loss));
    text
}

/// Returns the command line with shell quoting.
fn command(run: &RunMetadata) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=+./:,@%".contains(c);
    let quoted = |argument: &String| {
        if !argument.is_empty() && argument.chars().all(plain) {
            argument.clone()
        } else {
            format!("'{}'", argument.replace('\'', r"'\''"))
        }
    };
    run.cmdline.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn hosts(run: &RunMetadata) -> String {
    let named =
        run.hostlist.iter().take(HOSTS_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match run.hostlist.len().saturating_sub(HOSTS_NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    match (run.numhosts, named.as_str()) {
        (0, _) => String::new(),
        (hosts, "") => hosts.to_string(),
        (hosts, _) => format!("{hosts} ({named}{more})"),
    }
}

fn precision(manifest: &Manifest) -> &'static str {
    match manifest.precision {
        Precision::Exact => "",
        Precision::EightBit => ROUNDED,
    }
}

fn peak_memory(manifest: &Manifest) -> String {
    let peak = &manifest.peak_memory;
    match (peak.max_bytes, manifest.ranks) {
        (0, _) => String::new(),
        (max_bytes, 0 | 1) => data(max_bytes),
        (max_bytes, _) => {
            format!(
                "{} at most on a rank, {} on all together",
                data(max_bytes),
                data(peak.sum_bytes)
            )
        }
    }
}

fn files(manifest: &Manifest) -> String {
    let parts = manifest.parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.bytes));
    let bytes = data(parts.saturating_add(manifest.callpaths.bytes));
    format!("{}, {bytes}", counted(manifest.parts.len() as u64, "part"))
}

fn flush(manifest: &Manifest) -> String {
    let times = &manifest.flush;
    let phases = [
        ("snapshot", times.snapshot_ns),
        ("synchronise", times.synchronise_ns),
        ("aggregate", times.aggregate_ns),
        ("write", times.write_ns),
    ];
    let taken = phases.iter().filter(|(_, ns)| *ns > 0);
    taken
        .map(|(phase, ns)| format!("{phase} {}", time((*ns).into())))
        .collect::<Vec<_>>()
        .join(", ")
}

fn interim_profiles(manifest: &Manifest) -> String {
    let so_far = &manifest.interim_profiles;
    let failed =
        if so_far.failed > 0 { format!(", {} failed", so_far.failed) } else { String::new() };
    match so_far.written.saturating_add(so_far.failed) {
        0 => String::new(),
        _ => format!("{} written{failed}, {} in all", so_far.written, time(so_far.total_ns.into())),
    }
}

fn written_by(manifest: &Manifest) -> String {
    let version = &manifest.version;
    let format = format!("format {}.{}", version.major, version.minor);
    match manifest.metadata.tinyprof_version.as_str() {
        "" => format,
        tinyprof => format!("tinyprof {tinyprof}, {format}"),
    }
}
