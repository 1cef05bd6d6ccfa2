//! The end of a run: the profile of a program without MPI, and the table on standard error.

use std::borrow::Cow;
use std::env;
use std::io::Write;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_format::file::{OutputFormat, ProfileWriter, ReadOptions, read_manifest};
use tinyprof_format::model::{EventMap, Losses, Manifest, PhaseTimes, Profile, RunState};
use tinyprof_report::{Report, TextOptions, Totals, escaped};

use super::choices::{chosen, deadline, precision};
use super::config::output_files;
use super::interim_profiles;
use super::isolated::isolated;
use super::launcher;
use super::message::warn;
use super::metadata::metadata;
use super::name::profile_name;
use super::segments::{discard_segments, new_profile_id, surviving};
use super::session::session;
use super::snapshot::{ending_here, monotonic_ns, snapshot};
use super::writer::{Ending, Writer};
use crate::record::thread::current;
use crate::sys::{NotDone, without_write_signals};

/// The limit on values in a profile of which the complete report is printed; a larger one would
/// take too long at the end of a run. The count is of the summaries of executions ...
const READ_BACK_VALUES_MAX: u64 = 2_000_000;
/// ... of which this many are kept per callpath ...
const EXECUTIONS_KEPT: u32 = 4_096;
/// ... and, because the number of values in series is not known, of the bytes of all parts.
const READ_BACK_BYTES_MAX: u64 = 16 << 20;
/// The memory limit for the values; reading stops beyond it.
const READ_BACK_MEMORY_BYTES: u64 = 256 << 20;

/// Prints the report, and the path of the profile, to standard error.
///
/// `report` has statistics over ranks. If the profile is not too large, it is read back and the
/// report is made from all of its values, and `text` writes it: the table is then the one that
/// `tinyprof report` prints.
///
/// # Cost
/// At most the time to read 16 MiB and to look at two million values: about a second.
pub fn print_report(report: &Report, profile: Option<&Path>, text: &ReportText<'_>) {
    let options = text_options();
    let complete = profile.and_then(|path| {
        let (profile, report) = read_back(path, READ_BACK_BYTES_MAX)?;
        Some(text(&profile, &report, &options))
    });
    print(&text_of(complete, || Cow::Borrowed(report), profile, &options));
}

/// The text of a report and the profile of which it was made.
pub type ReportText<'a> = dyn Fn(&Profile, &Report, &TextOptions) -> String + 'a;

/// Returns the layout of tables on standard error: as wide as `COLUMNS` says.
pub(super) fn text_options() -> TextOptions {
    let columns = env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    columns.map_or_else(TextOptions::default, |c| TextOptions::default().with_width(c))
}

/// Returns the table of the complete report, or that of `report`, which is only computed if there
/// is no complete one.
fn text_of<'a>(
    complete: Option<String>,
    report: impl FnOnce() -> Cow<'a, Report>,
    profile: Option<&Path>,
    options: &TextOptions,
) -> String {
    let is_complete = complete.is_some();
    let mut text = complete.unwrap_or_else(|| report().to_text(options));
    if let Some(path) = profile {
        let is_readable = path.extension().is_some_and(|extension| extension == "tprof");
        if !is_complete && is_readable {
            text.push_str(&format!("more hints: tinyprof report {}\n", path.display()));
        }
        text.push_str(&format!("profile: {}\n", path.display()));
    }
    text
}

/// Returns the report of the profile that was just written, or `None` if it is too large or in
/// another format.
fn read_back(path: &Path, bytes_max: u64) -> Option<(Profile, Report)> {
    let manifest = read_manifest(path).ok()?;
    if is_too_large(&manifest, bytes_max) {
        return None;
    }
    let profile = ReadOptions::new().with_memory_bytes(READ_BACK_MEMORY_BYTES).read(path).ok()?;
    let report = Report::of_profile(&profile).named(name_of(path));
    Some((profile, report))
}

/// Returns the report of the profile that was just written of this map, or `None` if it is too
/// large or in another format. The file is not read, unless callpaths were renamed to be written.
fn complete_report(
    map: &EventMap,
    (path, manifest): (&Path, &Manifest),
    bytes_max: u64,
) -> Option<Report> {
    let is_readable = path.extension().is_some_and(|extension| extension == "tprof");
    if !is_readable || is_too_large(manifest, bytes_max) {
        return None;
    }
    if !map.callpaths.has_distinct_ids() {
        return read_back(path, bytes_max).map(|(_, report)| report);
    }
    let map = map.in_precision(manifest.precision);
    Some(Report::of_totals(&Totals::of_event_map(manifest, &map)).named(name_of(path)))
}

/// Returns whether the complete report of a profile would take too long at the end of a run.
fn is_too_large(manifest: &Manifest, bytes_max: u64) -> bool {
    let bytes = manifest.parts.iter().fold(0_u64, |sum, part| sum.saturating_add(part.bytes));
    let executions = manifest.executions.min(EXECUTIONS_KEPT);
    let values = [manifest.callpaths.callpaths, executions]
        .into_iter()
        .fold(u64::from(manifest.ranks), |values, by| values.saturating_mul(by.into()));
    bytes > bytes_max || values > READ_BACK_VALUES_MAX
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Writes the profile of this process alone under this name, if it has measured anything. Returns
/// what is left to do: to print the table, unless it is switched off, or the reason why there is no
/// profile.
#[must_use]
pub fn write_alone(name: &Path) -> Ending {
    write_alone_as(OutputFormat::Tprof, name)
}

fn write_alone_as(format: OutputFormat, name: &Path) -> Ending {
    let begin_ns = monotonic_ns();
    let map = snapshot();
    interim_profiles::write_last_part(&map);
    if map.callpaths.is_empty() {
        let Losses { visits_not_recorded, visits_kept_out, .. } = map.facts.losses;
        let lost = visits_not_recorded + visits_kept_out;
        let text = match lost {
            0 => String::new(),
            _ => format!("tinyprof: no profile was written: none of {lost} visits was recorded\n"),
        };
        return Ending { keep_segments: false, text };
    }
    let state = RunState {
        interim_profiles: interim_profiles::times(),
        precision: precision(),
        profile_id: Some(new_profile_id(name)),
        ..RunState::default()
    };
    let snapshot_end_ns = monotonic_ns();
    let flush = || PhaseTimes {
        snapshot_ns: snapshot_end_ns.saturating_sub(begin_ns),
        write_ns: monotonic_ns().saturating_sub(snapshot_end_ns),
        ..PhaseTimes::default()
    };
    let metadata = metadata();
    let executable = metadata.executable.clone();
    let files = output_files(&session().config, format);
    let written = ProfileWriter::new()
        .with_files(files)
        .with_metadata(metadata)
        .with_state(state)
        .write_timed(name, std::slice::from_ref(&map), &flush);
    if written.is_ok() {
        // Set at once: later steps may die or hang, and that must not be reported as a failure to
        // write.
        IS_WRITTEN.store(true, Relaxed);
        discard_segments();
        interim_profiles::remove_all();
    }
    let mut text = String::new();
    if chosen(|settings| settings.report).unwrap_or(true) {
        // Made after the writing: it needs as much memory, and the profile matters more.
        let complete = written.as_ref().ok().and_then(|(path, manifest)| {
            complete_report(&map, (path, manifest), READ_BACK_BYTES_MAX)
        });
        let report = move || {
            let report = Report::of_event_map(&map, &executable);
            drop(map);
            Cow::Owned(report)
        };
        let path = written.as_ref().ok().map(|(path, _)| path.as_path());
        let options = text_options();
        let complete = complete.map(|report| report.to_text(&options));
        text = text_of(complete, report, path, &options);
    }
    if let (Ok((path, _)), true) = (&written, text.is_empty()) {
        tell_name(&format.path(name), path);
    }
    if let Err(error) = &written {
        let path = format.path(name);
        let line =
            format!("the profile {} was not written: {error}{}", path.display(), recoverable());
        text.push_str(&format!("tinyprof: {}\n", escaped(&line)));
    }
    Ending { keep_segments: written.is_err(), text }
}

/// Tells the name of the profile that was just written, if another one was asked for. For runs
/// without a table, which ends with the name.
pub fn tell_name(asked_for: &Path, written: &Path) {
    if asked_for != written {
        let (asked_for, written) = (asked_for.display(), written.display());
        warn(format_args!("{asked_for} exists, so the profile of this run is {written}"));
    }
}

/// Returns the end of a message about a missing profile if the measurements survive: how to recover
/// a profile from them.
#[must_use]
pub fn recoverable() -> String {
    surviving().map_or_else(String::new, |place| format!("; {place}"))
}

/// Returns whether what was recorded survives the process. Allocates nothing.
#[must_use]
pub fn is_recoverable() -> bool {
    surviving().is_some()
}

/// Prints a line, with how to recover a profile if the measurements survive. Allocates nothing.
pub fn warn_recoverable(line: &str) {
    match surviving() {
        Some(place) => warn(format_args!("{line}; {place}")),
        None => warn(line),
    }
}

/// Ends a program without MPI.
pub(super) fn write_at_exit() -> Ending {
    if launcher::place().is_some_and(|place| place.is_first_of_several()) {
        warn(
            "this program runs under mpiexec, but tinyprof_mpi is not linked, so every rank writes a profile of \
             its own; `use tinyprof_mpi as _;` in the program makes them one",
        );
    }
    write_alone_as(chosen(|settings| settings.format).unwrap_or_default(), &profile_name())
}

/// Set once nothing of this process needs to survive any more.
static IS_WRITTEN: AtomicBool = AtomicBool::new(false);

/// Runs `write` on a thread of its own, removes the segments if nothing needs them any more, and
/// prints the resulting text. All of this ends within the deadline, whatever fails. Allocates
/// nothing on the caller's thread.
pub(super) fn end(write: Writer) {
    // The thread that ends the run does not open or close a region any more.
    if let Some(arena) = current().arena() {
        arena.take_all_samples();
    }
    let work = move || {
        let ending = write();
        if !ending.keep_segments {
            IS_WRITTEN.store(true, Relaxed);
            discard_segments();
        }
        if !ending.text.is_empty() {
            print(&ending.text);
        }
    };
    let Err(reason) = ending_here(|| isolated(deadline(), work)) else { return };
    if reason == NotDone::Sandboxed && !launcher::speaks_for_all() {
        return;
    }
    match (IS_WRITTEN.load(Relaxed), surviving()) {
        (true, _) => warn(format_args!(
            "the profile is complete, but what follows it, such as the table, was not done: {reason}"
        )),
        (false, Some(place)) => {
            warn(format_args!("the profile was not written: {reason}; {place}"));
        }
        // Nothing would survive: using the program's own thread is better than losing everything.
        (false, None) if reason == NotDone::NoThread => {
            drop(catch_unwind(|| ending_here(|| without_write_signals(work))));
        }
        (false, None) => {
            warn(format_args!("the profile was not written: {reason}; what was recorded is lost"));
        }
    }
}

fn print(text: &str) {
    // If standard error does not take the text, there is nowhere to report that.
    drop(std::io::stderr().write_all(text.as_bytes()));
}

#[cfg(test)]
mod tests {
    use tinyprof_format::file::ProfileWriter;
    use tinyprof_format::model::{
        CallpathId, CallpathValues, ExecutionSummary, RankFacts, Region, SeriesBucket, SiteId,
    };

    use super::*;

    /// Returns a map whose first iteration is longer, which only the values show, and whose visits
    /// are short, which the statistics show.
    fn map() -> EventMap {
        let site = SiteId::from_bits(1);
        let buckets = [900, 90, 91, 92].map(|ns| SeriesBucket::of_one_visit(0, ns));
        let visits = buckets.map(|bucket| ExecutionSummary::of_one_visit(0, bucket.sum_ns));
        let executions = visits.into_iter().reduce(|mut sum, one| {
            sum.absorb(&one);
            sum
        });
        let values = CallpathValues {
            executions: executions.into_iter().collect(),
            series: buckets.to_vec(),
            ..CallpathValues::default()
        };
        let record = (CallpathId::root(site), None, Region::named(site, "main"), values);
        EventMap::from_records([record], RankFacts::default())
    }

    #[test]
    fn the_report_is_complete_unless_the_profile_is_too_large_or_of_another_format() {
        let scratch = tempfile::tempdir().unwrap();
        let check = |format: OutputFormat, bytes_max: u64, expected: [bool; 3]| {
            let name = scratch.path().join(format!("{format:?}-{bytes_max}"));
            let (path, manifest) = ProfileWriter::new()
                .with_files(format)
                .write_timed(&name, std::slice::from_ref(&map()), &PhaseTimes::default)
                .unwrap();
            let text = |complete: Option<Report>| {
                let options = TextOptions::default();
                let complete = complete.map(|report| report.to_text(&options));
                let report = || Cow::Owned(Report::of_event_map(&map(), "p"));
                text_of(complete, report, Some(&path), &options)
            };
            let is_read_back = text(read_back(&path, bytes_max).map(|(_, report)| report));
            let text = text(complete_report(&map(), (&path, &manifest), bytes_max));
            assert_eq!(text, is_read_back, "what is in memory is what was written");
            let found = ["took much longer", "too small", "more hints: tinyprof report /"];
            assert_eq!(found.map(|words| text.contains(words)), expected, "{text}");
            assert!(text.ends_with(&format!("\nprofile: {}\n", path.display())), "{text}");
        };
        check(OutputFormat::Tprof, READ_BACK_BYTES_MAX, [true, true, false]);
        check(OutputFormat::Tprof, 1, [false, true, true]);
        check(OutputFormat::Csv, READ_BACK_BYTES_MAX, [false, true, false]);
    }
}
