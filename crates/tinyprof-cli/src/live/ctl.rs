//! `tinyprof ctl`: commands to a job that runs, on this host.

mod conditions;
mod held;
mod recording;
mod threads;

use std::error::Error;

use serde_json::json;
use tinyprof_report::escaped;
use tinyprof_segment::control::Accepts;
use tinyprof_views::json_text;

use crate::arguments::{CtlArguments, CtlCommand};
use crate::{render, sys};
use threads::{Rank, Threads};

/// Gives the command.
///
/// # Errors
/// If there is no such job, it accepts no commands, or nobody obeys.
pub(crate) fn run(arguments: &CtlArguments) -> Result<(), Box<dyn Error>> {
    match &arguments.command {
        CtlCommand::Status(on) => {
            let threads = Threads::find(&on.segments)?;
            let text = if on.output.is_json() { document(&threads) } else { text(&threads) };
            render::output(&text)
        }
        CtlCommand::Record { time, name, on } => {
            let recorded = recording::record(&on.segments, time.0, name.as_deref())?;
            render::output(&recorded.said(on.output.is_json()))
        }
        CtlCommand::Hold { time, on } => held::hold(&on.segments, time.0, on.output.is_json()),
        CtlCommand::Release(on) => held::release(&on.segments, on.output.is_json()),
        CtlCommand::On(arguments) => conditions::run(arguments),
    }
}

/// Returns the state of each rank, for people.
fn text(threads: &Threads) -> String {
    let obeys = match threads.accepts() {
        Accepts::Nothing => "obeys no commands: it was started without TINYPROF_STEER=on",
        Accepts::Recording => "obeys commands that keep events (TINYPROF_STEER=on)",
        Accepts::Holding => "obeys all commands (TINYPROF_STEER=hold)",
    };
    let mut lines = vec![escaped(&format!("{}: {obeys}", threads.who()))];
    lines.extend(threads.ranks().iter().map(|rank| {
        let what = match rank.held_ns(sys::now().monotonic_ns) {
            Some(held_ns) => format!("is held, for {} s so far", held_ns / 1_000_000_000),
            None if rank.keeps_events => "keeps events".to_owned(),
            None => "runs".to_owned(),
        };
        format!("{}: {what}", rank.name())
    }));
    lines.join("\n") + "\n"
}

fn document(threads: &Threads) -> String {
    let now_ns = sys::now().monotonic_ns;
    let rank = |rank: &Rank| {
        json!({
            "rank": rank.rank,
            "process": rank.process,
            "threads": rank.threads,
            "keeps_events": rank.keeps_events,
            "held_ns": rank.held_ns(now_ns),
        })
    };
    let accepts = match threads.accepts() {
        Accepts::Nothing => "off",
        Accepts::Recording => "on",
        Accepts::Holding => "hold",
    };
    json_text(&json!({
        "job": threads.who(),
        "steer": accepts,
        "ranks": threads.ranks().iter().map(rank).collect::<Vec<_>>(),
    }))
}
