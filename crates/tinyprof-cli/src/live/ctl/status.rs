//! `tinyprof ctl status`: which commands a job obeys, and what its ranks do.

use std::error::Error;

use serde_json::json;
use tinyprof_report::escaped;
use tinyprof_segment::control::Accepts;

use super::super::elsewhere::{Elsewhere, by_host};
use super::super::told::{Told, form};
use super::ranks::Rank;
use super::threads::Threads;
use crate::arguments::OnJob;
use crate::sys;

pub(super) fn run(on: &OnJob) -> Result<(), Box<dyn Error>> {
    if let Some(elsewhere) = Elsewhere::of(on) {
        return status_by(&elsewhere)?.print(form(on));
    }
    let threads = Threads::find(&on.segments)?;
    Told { text: text(&threads), json: document(&threads), profile: None }.print(form(on))
}

/// Returns what hosts tell.
///
/// # Errors
/// If there is no such job on any.
pub(in crate::live) fn status_by(hosts: &Elsewhere<'_>) -> Result<Told, Box<dyn Error>> {
    Ok(by_host(&hosts.run(&["ctl", "status"], |_, _| Ok(()))?))
}

fn text(threads: &Threads) -> String {
    let obeys = match threads.accepts() {
        Accepts::Nothing => "obeys no commands: it was started without TINYPROF_STEER=on",
        Accepts::Recording => "obeys commands that keep events (TINYPROF_STEER=on)",
        Accepts::Holding => "obeys all commands (TINYPROF_STEER=hold)",
    };
    let mut lines = vec![escaped(&format!("{}: {obeys}", threads.who()))];
    let now_ns = sys::now().monotonic_ns;
    lines.extend(threads.ranks().0.iter().map(|rank| {
        let what = match rank.held_ns(now_ns) {
            Some(held_ns) => format!("is held, for {} s so far", held_ns / 1_000_000_000),
            None if rank.is_off => "runs, and is not measured: tinyprof ctl on".to_owned(),
            None if rank.keeps_events => "keeps events".to_owned(),
            None => "runs".to_owned(),
        };
        format!("{}: {what}", rank.name())
    }));
    lines.join("\n") + "\n"
}

fn document(threads: &Threads) -> serde_json::Value {
    let now_ns = sys::now().monotonic_ns;
    let rank = |rank: &Rank| {
        json!({
            "rank": rank.rank,
            "process": rank.process,
            "threads": rank.threads,
            "keeps_events": rank.keeps_events,
            "off": rank.is_off,
            "held_ns": rank.held_ns(now_ns),
        })
    };
    let accepts = match threads.accepts() {
        Accepts::Nothing => "off",
        Accepts::Recording => "on",
        Accepts::Holding => "hold",
    };
    json!({
        "job": threads.who(),
        "steer": accepts,
        "ranks": threads.ranks().0.iter().map(rank).collect::<Vec<_>>(),
    })
}
