//! The data of a profile in the page: facts and numbers as JSON, columns as bytes, compressed.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use tinyprof_format::model::{CallpathIndex, RankFacts};
use tinyprof_report::{Activity, Efficiency, Finding, Report, Totals, Words, losses_in_words};
use tinyprof_rules::Rules;
use tinyprof_structure::StructureBuilder;
use tinyprof_views::GroupRow;
use tinyprof_views::{LongJson, report_json};
use tinyprof_why::WhyBuilder;

use tinyprof_report::ByCallpath;

use super::columns::Columns;
use super::communication::Messages;
use super::rows::Bins;
use super::timeline::{Timeline, Waits};
use super::waiting::Waiting;
use super::{executions, iterations, rows};
use crate::render;

/// A profile as the page shows it.
pub(super) struct Shown<'a> {
    pub(super) name: &'a str,
    pub(super) profile: &'a dyn ByCallpath,
    pub(super) totals: &'a Totals,
    /// The regions of the whole profile with the most exclusive time.
    pub(super) regions: &'a Value,
    /// The events, if there are any; and whether they are what the page opens with.
    pub(super) timeline: Option<&'a Timeline>,
    pub(super) opens_timeline: bool,
    /// The rules that add findings.
    pub(super) rules: &'a Rules,
    /// The report of the whole profile, and its callpaths' rows in `profile`, if `profile` has only
    /// some of them.
    pub(super) whole: Option<(&'a Report, &'a [Option<usize>])>,
}

/// Returns the profile for the page as base64 of deflated bytes: the length of the JSON (4 bytes,
/// little endian), the JSON, and the columns.
///
/// # Errors
/// If the profile cannot be read, or its names and statistics are longer than 4 GiB.
pub(super) fn of_profile(shown: &Shown<'_>) -> Result<String, Box<dyn Error>> {
    let Shown { name, profile, totals, regions, timeline, opens_timeline, rules, whole } = *shown;
    let report = Report::of_totals(totals).named(name);
    let mut columns = Columns::default();
    let of_all = whole.map_or(&report, |(whole, _)| whole);
    let row = |index: CallpathIndex| whole.map_or(Some(index.row()), |(_, rows)| rows[index.row()]);
    let mut waits = timeline.map(|timeline| timeline.waits(totals.callpaths()));
    let found = (rules, &report);
    let mut members = members(profile, totals, found, (of_all, &row), &mut columns, &mut waits)?;
    let timeline = timeline.zip(waits).map(|(timeline, waits)| timeline.json(&waits, &mut columns));
    members["timeline"] = timeline.into();
    members["opens_timeline"] = opens_timeline.into();
    let activities = Activity::of_callpaths(totals.callpaths());
    let mut json = report_json(&report).with_items(|row, callpath| {
        // The page builds paths from the names.
        callpath["path"].take();
        callpath["activity"] = activities[row].map(activity_word).into();
    });
    if let Some((whole, _)) = whole {
        let whole_json = report_json(whole);
        let mut hints = whole_json.member("hints").clone();
        for (json, hint) in hints.as_array_mut().into_iter().flatten().zip(whole.findings()) {
            json["callpath"] = hint.place.and_then(row).into();
        }
        json = json.with("hints", hints);
        for member in ["efficiency", "overhead"] {
            json = json.with(member, whole_json.member(member).clone());
        }
    }
    Ok(packed(&Head { members: &members, regions, report: &json }, &columns.into_bytes())?)
}

/// Returns any JSON for the page, with the bytes that it refers to.
///
/// # Errors
/// If the JSON is longer than 4 GiB.
pub(super) fn packed(head: &impl Serialize, bytes: &[u8]) -> io::Result<String> {
    let head = serde_json::to_vec(head)?;
    let length = u32::try_from(head.len()).map_err(io::Error::other)?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&length.to_le_bytes())?;
    encoder.write_all(&head)?;
    encoder.write_all(bytes)?;
    Ok(STANDARD.encode(encoder.finish()?))
}

/// The page's facts of a profile: the report, and more.
struct Head<'a, 'b> {
    members: &'a Value,
    regions: &'a Value,
    report: &'a LongJson<'b>,
}

impl Serialize for Head<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = self.members.as_object().into_iter().flatten();
        let mut map = serializer.serialize_map(None)?;
        for (member, value) in members {
            match member.as_str() {
                "report" => map.serialize_entry(member, self.report)?,
                "regions" => map.serialize_entry(member, self.regions)?,
                _ => map.serialize_entry(member, value)?,
            }
        }
        map.end()
    }
}

/// Writes everything except the report. Callpaths are identified by their rows in `profile`.
fn members(
    profile: &dyn ByCallpath,
    totals: &Totals,
    (rules, report): (&Rules, &Report),
    (whole, row): (&Report, &dyn Fn(CallpathIndex) -> Option<usize>),
    columns: &mut Columns,
    waits: &mut Option<Waits>,
) -> Result<Value, Box<dyn Error>> {
    let (hosts, host_of_rank) = hosts(totals.ranks());
    let callpaths = rows::costliest(totals);
    let ranks = rows::rows(totals, &callpaths, columns);
    let mut messages = Messages::new(totals.ranks().len());
    let bins = Bins::of_matrix(totals.ranks().len());
    let mut waiting = Waiting::new(totals.callpaths(), bins);
    let mut why = WhyBuilder::new(totals.callpaths(), totals.ranks().len());
    let mut structure = StructureBuilder::new(totals.callpaths(), totals.ranks().len());
    let (mut iterations, mut executions) = (BTreeMap::new(), BTreeMap::new());
    let series = callpaths.iter().filter(|&&index| totals.has_series(index)).count();
    let map_values_max = iterations::map_values_max(series);
    let positions: BTreeMap<CallpathIndex, usize> = callpaths.iter().copied().zip(0..).collect();
    profile.each(&mut |index, values| {
        messages.add(index, values);
        waiting.add(index, values);
        waits.iter_mut().for_each(|waits| waits.add(index, values));
        structure.add(index, values);
        why.add(index, values);
        let Some(&position) = positions.get(&index) else { return Ok(()) };
        let found = iterations::of_callpath(index, values, map_values_max, columns);
        iterations.extend(found.map(|found| (position, found)));
        executions.insert(position, executions::of_callpath(index, values, columns));
        Ok(())
    })?;
    profile.each_causes(&mut |rank, causes| why.add_causes(rank, causes))?;
    let structure = structure.finish(true);
    let mut why = why.finish(totals);
    render::notes(&rules.apply(&mut why, totals, report));
    // The hints on what the findings tell by other words are left out.
    let has_why = why.is_known();
    let hints = whole.findings().iter().filter(|one| !why.covers(one.kind));
    Ok(json!({
        "report": null,
        "regions": null,
        "facts": facts(totals),
        "losses": losses_in_words(whole),
        "efficiency": whole.efficiency().map(efficiency),
        "hints": hints.map(|found| hint(found, row)).collect::<Vec<_>>(),
        "why": if has_why { why.page_json() } else { Value::Null },
        "hosts": hosts,
        "host_of_rank": host_of_rank,
        "ranks": ranks,
        "iterations": iterations.into_values().collect::<Value>(),
        "executions": executions.into_values().collect::<Value>(),
        "communication": messages.json(totals.callpaths(), columns),
        "waiting": waiting.json(columns),
        "structure": structure.lanes_json(),
        "loops": structure.loops().iter().map(loop_row).collect::<Value>(),
    }))
}

/// Returns a loop that is seen from its calls. Times are those of all its ranks together.
fn loop_row(row: &GroupRow) -> Value {
    json!({
        "name": row.name,
        "ranks": row.ranks.to_string(),
        "size": row.ranks.len(),
        "iterations": row.visits,
        "ns": row.inclusive_ns,
        "computing_ns": row.exclusive_ns,
        "waiting_ns": row.waiting_ns,
    })
}

const fn activity_word(activity: Activity) -> &'static str {
    match activity {
        Activity::Computation => "COMP",
        Activity::Communication => "COMM",
        Activity::InputOutput => "IO",
        Activity::Setup => "INIT",
    }
}

fn facts(totals: &Totals) -> Value {
    let manifest = totals.manifest();
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
        "checkpoints": manifest.interim_profiles.written,
        // If only some ranks were selected, the profile has more.
        "ranks_of_profile": totals.ranks().len(),
    })
}

fn efficiency(found: &Efficiency) -> Value {
    json!({
        "parallel": found.parallel,
        "load_balance": found.load_balance,
        "communication": found.communication,
        "processors": found.processors,
        "serialisation": found.serialisation,
        "transfer": found.transfer,
        "io_share": found.io_share,
    })
}

fn hint(finding: &Finding, row: &dyn Fn(CallpathIndex) -> Option<usize>) -> Value {
    let Words { headline, evidence, advice } = &finding.words;
    json!({
        "kind": finding.kind.word(),
        "callpath": finding.place.and_then(row),
        "rank": finding.rank(),
        "iteration": finding.iteration,
        "headline": headline,
        "evidence": format!("{evidence} {advice}"),
    })
}

/// Returns the distinct hosts, and the position of each rank's host.
fn hosts(ranks: &[RankFacts]) -> (Vec<&str>, Vec<usize>) {
    let (mut hosts, mut known) = (Vec::new(), BTreeMap::new());
    let mut place = |host| {
        *known.entry(host).or_insert_with(|| {
            hosts.push(host);
            hosts.len() - 1
        })
    };
    let of_rank = ranks.iter().map(|facts| place(facts.host.as_str())).collect();
    (hosts, of_rank)
}
