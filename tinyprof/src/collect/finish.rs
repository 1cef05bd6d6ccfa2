//! The end of a run: the profile of a program without MPI, and the table on standard error.

use std::env;
use std::io::Write;
use std::path::Path;

use tinyprof_format::file::{OutputFormat, write_profile_in_state};
use tinyprof_format::model::{PhaseTimes, RunState};
use tinyprof_format::report::{Report, TextOptions};

use super::checkpoints;
use super::config::warn;
use super::launcher;
use super::metadata::metadata;
use super::name::profile_name;
use super::precision::precision;
use super::session::session;
use super::snapshot::{monotonic_ns, snapshot};

/// Prints the report to standard error, and where the profile lies.
pub fn print_report(report: &Report, profile: Option<&Path>) {
    let mut text = report.to_text(&text_options());
    if let Some(path) = profile {
        text.push_str(&format!("profile: {}\n", path.display()));
    }
    // There is nowhere to complain to when standard error does not take the table.
    drop(std::io::stderr().write_all(text.as_bytes()));
}

/// How tables on standard error are made: as wide as `COLUMNS` says.
pub(super) fn text_options() -> TextOptions {
    let columns = env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    columns.map_or_else(TextOptions::default, |c| TextOptions::default().with_width(c))
}

/// Writes the profile of this process alone under this name, if it has measured anything, and prints the table
/// unless that is switched off. A failure is one line on standard error.
pub fn write_alone(name: &Path) {
    write_alone_as(OutputFormat::Tprof, name);
}

fn write_alone_as(format: OutputFormat, name: &Path) {
    let begin_ns = monotonic_ns();
    let map = snapshot();
    if map.callpaths.is_empty() {
        let lost = map.facts.losses.visits_not_recorded;
        if lost > 0 {
            warn(&format!("no profile was written: there was no memory to record any of {lost} visits"));
        }
        return;
    }
    let state = RunState { checkpoints: checkpoints::times(), precision: precision(), ..RunState::default() };
    let flush = PhaseTimes { snapshot_ns: monotonic_ns() - begin_ns, ..PhaseTimes::default() };
    let metadata = metadata();
    let report = Report::of_event_map(&map, &metadata.executable);
    let written = write_profile_in_state(format, name, &map, metadata, flush, state);
    if written.is_ok() {
        checkpoints::remove_all();
    }
    if session().config.report.unwrap_or(true) {
        print_report(&report, written.as_deref().ok());
    }
    if let Err(error) = written {
        warn(&format!("the profile {} was not written: {error}", format.path(name).display()));
    }
}

/// The end of a program without MPI.
pub(super) fn write_at_exit() {
    if launcher::place().is_some_and(|place| place.is_first_of_several()) {
        warn(
            "this program runs under mpiexec, but tinyprof_mpi is not linked, so every rank writes a profile of \
             its own; `use tinyprof_mpi as _;` in the program makes them one",
        );
    }
    write_alone_as(session().config.format.unwrap_or_default(), &profile_name());
}
