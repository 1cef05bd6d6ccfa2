//! A frame as one JSON document, for scripts and other programs.

use serde_json::{Value, json};
use tinyprof_format::model::CallpathIndex;
use tinyprof_report::WaitedFor;

use super::frame::Frame;
use super::iterations::Iterations;

/// Returns a frame as JSON. What is not known is null.
pub(super) fn document(frame: &Frame, has_ended: bool) -> Value {
    let sample = &frame.sample;
    let picture = &sample.picture;
    let still = picture.still.worst.iter().map(|one| {
        json!({
            "rank": one.rank, "host": one.host, "since_ns": one.since_ns,
            "is_stopped": one.is_stopped,
        })
    });
    let missing =
        picture.missing.worst.iter().map(|one| json!({ "host": one.host, "why": one.why }));
    let interval_ns = frame.interval.map(|interval| interval.as_nanos());
    json!({
        "name": picture.name,
        "source": sample.source,
        "has_ended": has_ended,
        "ranks": picture.size,
        "ranks_seen": picture.ranks.len(),
        "hosts": picture.hosts,
        "elapsed_ns": picture.elapsed_ns,
        "age_ns": picture.age_ns,
        "interval_ns": interval_ns.and_then(|ns| u64::try_from(ns).ok()),
        "efficiency": frame.efficiency().map(|of| json!({
            "parallel": of.parallel,
            "load_balance": of.load_balance,
            "communication": of.communication,
        })),
        "activity": frame.activity.map(|of| json!({
            "computation": of.computation(),
            "communication": of.communication,
            "io": of.input_output,
        })),
        "loop": frame.iterations.as_ref().map(Iterations::json),
        "why": sample.why.as_ref().map(tinyprof_why::Why::verdict),
        "causes": sample.why.as_ref().map(tinyprof_why::Why::page_json),
        "still": { "count": picture.still.count, "worst": still.collect::<Vec<_>>() },
        "missing": { "count": picture.missing.count, "worst": missing.collect::<Vec<_>>() },
        "losses": picture.losses,
        "callpaths": callpaths(frame),
    })
}

fn callpaths(frame: &Frame) -> Vec<Value> {
    let picture = &frame.sample.picture;
    let rows = picture.callpaths.iter().zip(&frame.rows).zip(&picture.places);
    rows.map(|(((index, callpath), row), places)| {
        let slowest = places.slowest.iter().map(|slow| {
            json!({ "rank": slow.rank.0, "host": slow.host, "inclusive_ns": slow.inclusive_ns })
        });
        let region = &callpath.region;
        json!({
            "callpath": picture.callpaths.path(index),
            "parent": callpath.parent.map(CallpathIndex::row),
            "name": region.name,
            "file": region.file,
            "line": region.line,
            "ranks": row.ranks,
            "visits": row.visits,
            "visits_per_s": row.recent.map(|recent| recent.visits_per_s),
            "inclusive_ns": whole(row.inclusive.sum_ns),
            "exclusive_ns": whole(row.exclusive.sum_ns),
            "share": row.share,
            "now": row.now(),
            "exclusive_now": row.recent.map(|recent| recent.exclusive_share),
            "imbalance": row.imbalance,
            "waits_for": frame.sample.waited_for.get(&index).map(WaitedFor::text),
            "slowest": slowest.collect::<Vec<_>>(),
            "bins_ns": places.bins,
        })
    })
    .collect()
}

/// JSON has no larger integers that all readers take.
fn whole(ns: u128) -> u64 {
    u64::try_from(ns).unwrap_or(u64::MAX)
}
