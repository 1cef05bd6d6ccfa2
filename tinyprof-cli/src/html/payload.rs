//! What of a profile is in the page: facts and numbers as JSON, columns as bytes, compressed.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::{Value, json};
use tinyprof_format::model::Profile;
use tinyprof_format::report::{Activity, Efficiency, Hint, Report};

use super::columns::Columns;
use super::{executions, iterations, rows};

/// The profile for the page: base64 of deflated bytes, which are the length of the JSON (4 bytes, little endian), the
/// JSON, and the columns.
///
/// # Errors
/// When its names and statistics are longer than 4 GiB.
pub(super) fn of_profile(name: &str, profile: &Profile) -> io::Result<String> {
    let mut columns = Columns::default();
    let head = head(name, profile, &mut columns);
    packed(&head, &columns.into_bytes())
}

/// Any JSON for the page, with bytes that it refers to.
///
/// # Errors
/// When the JSON is longer than 4 GiB.
pub(super) fn packed(head: &Value, bytes: &[u8]) -> io::Result<String> {
    let head = head.to_string();
    let length = u32::try_from(head.len()).map_err(io::Error::other)?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&length.to_le_bytes())?;
    encoder.write_all(head.as_bytes())?;
    encoder.write_all(bytes)?;
    Ok(STANDARD.encode(encoder.finish()?))
}

fn head(name: &str, profile: &Profile, columns: &mut Columns) -> Value {
    let report = Report::of_profile(profile).named(name);
    let mut report_json = report.to_json();
    let activities = Activity::of_callpaths(&profile.callpaths);
    if let Some(rows) = report_json["callpaths"].as_array_mut() {
        for (row, activity) in rows.iter_mut().zip(activities) {
            // The page makes paths of the names.
            row["path"].take();
            row["activity"] = activity.map(activity_word).into();
        }
    }
    let (hosts, host_of_rank) = hosts(profile);
    let callpaths = rows::costliest(profile);
    json!({
        "report": report_json,
        "facts": facts(profile),
        "losses": report.losses_in_words(),
        "efficiency": report.efficiency().map(efficiency),
        "hints": report.hints().iter().map(hint).collect::<Vec<_>>(),
        "hosts": hosts,
        "host_of_rank": host_of_rank,
        "ranks": rows::rows(profile, &callpaths, columns),
        "iterations": iterations::iterations(profile, &callpaths, columns),
        "executions": executions::executions(profile, &callpaths),
    })
}

const fn activity_word(activity: Activity) -> &'static str {
    match activity {
        Activity::Computation => "COMP",
        Activity::Communication => "COMM",
        Activity::InputOutput => "IO",
    }
}

fn facts(profile: &Profile) -> Value {
    let manifest = &profile.manifest;
    let metadata = &manifest.metadata;
    json!({
        "user": metadata.user,
        "launchdate": metadata.launchdate,
        "executable": metadata.executable,
        "cmdline": metadata.cmdline,
        "cluster": metadata.cluster,
        "jobid": metadata.jobid,
        "mpi_version": metadata.mpi_version,
        "tinyprof_version": metadata.tinyprof_version,
        "clock": metadata.clock,
        "peak_memory_max_bytes": manifest.peak_memory.max_bytes,
        "flush_ns": manifest.flush.total_ns(),
        "checkpoints": manifest.checkpoints.written,
        // Where only some ranks were selected, those of the profile are more.
        "ranks_of_profile": profile.ranks.len(),
    })
}

fn efficiency(found: &Efficiency) -> Value {
    json!({
        "parallel": found.parallel,
        "load_balance": found.load_balance,
        "communication": found.communication,
        "io_share": found.io_share,
    })
}

fn hint(hint: &Hint) -> Value {
    json!({
        "kind": hint.kind.word(),
        "callpath": hint.callpath.map(tinyprof_format::model::CallpathIndex::row),
        "rank": hint.rank,
        "iteration": hint.iteration,
        "headline": hint.headline,
        "evidence": hint.evidence,
    })
}

/// The hosts, each once, and for each rank the place of its host.
fn hosts(profile: &Profile) -> (Vec<&str>, Vec<usize>) {
    let (mut hosts, mut known) = (Vec::new(), BTreeMap::new());
    let mut place = |host| {
        *known.entry(host).or_insert_with(|| {
            hosts.push(host);
            hosts.len() - 1
        })
    };
    let of_rank = profile.ranks.iter().map(|facts| place(facts.host.as_str())).collect();
    (hosts, of_rank)
}
