//! The on-demand report: what a running program has measured so far, printed on a signal.

use std::io::Write;
use std::sync::Once;

use tinyprof_report::Report;
use tinyprof_settings::ReportSignal;

use super::choices::deadline;
use super::finish::text_options;
use super::interim_files::since_start;
use super::isolated::isolated;
use super::launcher;
use super::message::warn;
use super::metadata::metadata;
use super::segments;
use super::session::session;
use super::snapshot::snapshot;
use crate::record::thread;
use crate::sys::{LeftAlone, on_signal};

/// Installs the signal that the environment asks for, when recording begins.
pub(super) fn arrange() {
    if let Some(signal) = session().config.report_on_signal {
        install(signal);
    }
}

/// Installs the signal; the first call decides.
pub(super) fn install(signal: ReportSignal) {
    static ASKED: Once = Once::new();
    let (number, name) = match signal {
        ReportSignal::Off => return,
        ReportSignal::Usr1 => (libc::SIGUSR1, "SIGUSR1"),
        ReportSignal::Usr2 => (libc::SIGUSR2, "SIGUSR2"),
    };
    let ask = || {
        let why = match on_signal(number, print) {
            Ok(()) => return,
            Err(LeftAlone::Taken) => {
                "the program, or a library such as MPICH, handles or ignores it itself, and keeps it; \
                 TINYPROF_SIGNAL may name usr1 or usr2"
            }
            Err(LeftAlone::Refused) => "the system gave no thread to wait for it",
        };
        if launcher::speaks_for_all() {
            warn(format_args!("there will be no table on {name}: {why}"));
        }
    };
    // Allocations for the new thread are not the program's.
    thread::while_away(|| ASKED.call_once(ask));
}

/// Prints the report, on the thread that waits for the signal.
fn print() {
    match isolated(deadline(), text) {
        // Written in one piece, so that ranks on one terminal do not mix their lines. If standard
        // error does not take it, there is nowhere to report that. The write's own signals are
        // blocked in this thread, as all are.
        Ok(text) => drop(std::io::stderr().write_all(text.as_bytes())),
        Err(reason) => warn(format_args!("there is no table this time: {reason}")),
    }
}

fn text() -> String {
    let map = snapshot();
    let rank = segments::rank().filter(|&(_, size)| size > 1);
    let who = rank.map_or_else(String::new, |(rank, size)| format!("rank {rank} of {size} "));
    let head = format!("{who}so far: {} after the start of the run", since_start());
    if map.callpaths.is_empty() {
        return format!("{head}, nothing was measured\n");
    }
    let report = Report::of_event_map(&map, &metadata().executable);
    format!("{head}\n{}", report.to_text(&text_options()))
}
