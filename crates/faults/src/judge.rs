//! The judgement of a run: whether it has kept every promise.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tinyprof_faults::numbering;
use tinyprof_faults::phase::Phase;
use tinyprof_faults::sys::{Ended, Watch};
use tinyprof_faults::truth::Truth;
use tinyprof_faults::work::STEPS;
use tinyprof_format::file::{ReadOptions, read_profile};
use tinyprof_format::model::{Losses, Profile};

use crate::place::{Scratch, clean, executable};

/// The longest time that `tinyprof recover` may take.
const RECOVER_LIMIT: Duration = Duration::from_secs(60);

/// Texts that no run may ever print.
const FORBIDDEN: [&str; 4] =
    ["panicked at", "fatal runtime error", "stack overflow", "an internal error"];

/// Messages of the standard library itself, printed when an allocation of isolated work fails,
/// before anything can prevent it.
const OF_STANDARD_LIBRARY: [&str; 3] =
    ["memory allocation of ", "note: run with `RUST_BACKTRACE=", "skipping backtrace printing"];

/// The place of a run's measurements after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// A complete profile.
    Profile,
    /// A profile that `tinyprof recover` made from the files of the run's threads.
    Segment,
    /// No place: nothing could be recovered, which was reported, or there was nothing to record
    /// yet.
    Nothing,
}

/// The expected properties of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    /// The exit code.
    pub(crate) code: i32,
    /// True if the run was killed, and need not have ended normally.
    pub(crate) killed: bool,
    /// True if the table may be on standard error.
    pub(crate) report: bool,
    /// True if something that the recording needs failed before the final write, so that there may
    /// be nothing to recover.
    pub(crate) start_failed: bool,
    /// True if writing to standard error failed, so that nothing could be printed.
    pub(crate) speechless: bool,
}

impl Expected {
    /// The expectation for an undisturbed run.
    pub(crate) const UNTOUCHED: Self =
        Self { code: 7, killed: false, report: false, start_failed: false, speechless: false };
}

/// Judges the run that took place in `place`.
///
/// # Errors
/// With the first promise that it broke.
pub(crate) fn judge(place: &Scratch, ended: Ended, expected: Expected) -> Result<Kept, String> {
    let said = place.stderr();
    let ended_well = check_end(place, ended, expected, &said)?;
    check_lines(&said, expected.report)?;
    let truths = place.truths();
    let own = profiles(&place.path("out"), truths)?;
    let recovered = recover(place, truths)?;
    let complete = own.iter().filter(|profile| profile.complete).count();
    let owed = truths
        .iter()
        .any(|truth| (0..truth.callpaths()).any(|callpath| truth.visits(callpath).1 > 0));
    match (complete, recovered.len()) {
        (1, 0) => {
            if ended_well && says_not_written(&said) {
                return Err(format!(
                    "the profile is complete, and said not to be written:\n{}",
                    told(&said)
                ));
            }
            Ok(Kept::Profile)
        }
        (1, _) => Err(format!(
            "the run is there twice: {} besides the complete profile",
            list(&recovered)
        )),
        (0, 1) => {
            recovered[0].missing.clone().map_or(Ok(()), Err)?;
            if ended_well && !expected.speechless && said.is_empty() {
                return Err("nothing was written, and nothing said".to_owned());
            }
            Ok(Kept::Segment)
        }
        (0, 0) if !owed => Ok(Kept::Nothing),
        (0, 0)
            if expected.start_failed
                && (expected.speechless || expected.killed || !said.is_empty()) =>
        {
            Ok(Kept::Nothing)
        }
        (0, 0) => {
            Err(format!("neither profile nor segment is left; standard error:\n{}", told(&said)))
        }
        (0, _) => Err(format!("several profiles were recovered of one run: {}", list(&recovered))),
        _ => Err(format!("several complete profiles of one run: {}", list(&own))),
    }
    .and_then(|kept| {
        let missing = own
            .iter()
            .filter(|profile| profile.complete)
            .find_map(|profile| profile.missing.clone());
        missing.map_or(Ok(kept), Err)
    })
}

/// Returns whether the program ended by itself. It is an error if it should have, and did not end
/// as it would without us.
fn check_end(
    place: &Scratch,
    ended: Ended,
    expected: Expected,
    said: &str,
) -> Result<bool, String> {
    match ended {
        Ended::Code(code) if code == expected.code => {}
        Ended::Signal(libc::SIGKILL) | Ended::Code(137 | 265) if expected.killed => {
            return Ok(false);
        }
        other if expected.killed && place.truths().len() > 1 => {
            // A launcher has its own exit code for a job that was killed.
            return if other == Ended::TooLong {
                Err("the job was not over in time".to_owned())
            } else {
                Ok(false)
            };
        }
        other => {
            return Err(format!(
                "it ended with {other:?}, not with code {}; standard error:\n{}",
                expected.code,
                told(said)
            ));
        }
    }
    let mut results: Vec<String> = place.stdout().lines().map(str::to_owned).collect();
    results.sort();
    let mut truths: Vec<String> =
        place.truths().iter().map(|truth| format!("the result is {}", truth.ended())).collect();
    truths.sort();
    if results != truths {
        return Err(format!("its standard output is {results:?}, not {truths:?}"));
    }
    Ok(true)
}

/// Checks that all of our output on standard error is the report, or lines that begin with our
/// name.
fn check_lines(said: &str, report: bool) -> Result<(), String> {
    if let Some(forbidden) = FORBIDDEN.iter().find(|&&forbidden| said.contains(forbidden)) {
        return Err(format!("standard error says {forbidden:?}:\n{}", told(said)));
    }
    let is_ours = |line: &str| line.starts_with("tinyprof: ");
    let is_known = |line: &str| OF_STANDARD_LIBRARY.iter().any(|&known| line.starts_with(known));
    match said.lines().find(|line| !report && !is_ours(line) && !is_known(line)) {
        Some(line) => Err(format!("a line on standard error is not marked as ours: {line:?}")),
        None if said.contains(OF_STANDARD_LIBRARY[0]) && !said.lines().any(is_ours) => {
            Err(format!(
                "an allocation has failed, and it is not said what came of it:\n{}",
                told(said)
            ))
        }
        None => Ok(()),
    }
}

/// Returns the last lines of the output, below the table.
fn told(said: &str) -> String {
    let lines: Vec<&str> = said.lines().collect();
    lines[lines.len().saturating_sub(4)..].join("\n")
}

/// Returns whether a line says that the final profile was not written.
fn says_not_written(said: &str) -> bool {
    said.lines()
        .any(|line| line.starts_with("tinyprof: the profile ") && line.contains("not written"))
}

/// A complete profile under its final name.
struct Found {
    name: String,
    complete: bool,
    /// The part of the truth that is missing from it.
    missing: Option<String>,
}

fn list(profiles: &[Found]) -> String {
    profiles.iter().map(|profile| profile.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Reads all profiles in a directory. A profile with a final name must be complete, and must not
/// contain visits that did not happen.
fn profiles(directory: &Path, truths: &[Truth]) -> Result<Vec<Found>, String> {
    let entries =
        fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut names: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "tprof"));
    names.sort();
    names.iter().map(|path| found(path, truths)).collect()
}

fn found(path: &Path, truths: &[Truth]) -> Result<Found, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let check = ReadOptions::default()
        .check(path)
        .map_err(|error| format!("{name} has a final name, and cannot be read: {error}"))?;
    if !check.is_whole() {
        return Err(format!("{name} has a final name, and is damaged: {check:?}"));
    }
    let profile = read_profile(path).map_err(|error| format!("{name} cannot be read: {error}"))?;
    let missing = compare(&profile, truths).map_err(|error| format!("{name}: {error}"))?;
    Ok(Found { name, complete: profile.manifest.complete, missing })
}

/// Compares a profile with the truth, and returns the missing part. Visits that did not happen are
/// an error.
fn compare(profile: &Profile, truths: &[Truth]) -> Result<Option<String>, String> {
    if profile.ranks.len() != truths.len() {
        return Err(format!(
            "it has {} ranks, and the run had {}",
            profile.ranks.len(),
            truths.len()
        ));
    }
    for (rank, &truth) in truths.iter().enumerate() {
        let mut visits = vec![0; truth.callpaths()];
        let mut steps = 0;
        for (index, _) in profile.callpaths.iter() {
            let path = profile.callpaths.path(index);
            let found = profile.values(index, rank).visits();
            match numbering::number(&path) {
                Some(number) if number < visits.len() => visits[number] += found,
                _ if path == "root<step" => steps += found,
                _ if path.ends_with("[other]") => {}
                _ => return Err(format!("rank {rank} has a callpath that never was: {path}")),
            }
        }
        let losses = &profile.ranks[rank].losses;
        let lost = excused(losses);
        let mut missing = 0;
        for (callpath, &found) in visits.iter().enumerate() {
            let (begun, ended) = truth.visits(callpath);
            if found > begun {
                return Err(format!(
                    "rank {rank}, callpath {callpath}: {found} visits, and there were {begun}"
                ));
            }
            missing += ended.saturating_sub(found);
        }
        let (begun, ended) = truth.visits(0);
        if steps > STEPS * begun {
            return Err(format!("rank {rank}: {steps} steps of {begun} visits"));
        }
        missing += (STEPS * ended).saturating_sub(steps);
        // Nothing can be recovered of a thread without a file, not even the number of its visits.
        let told = losses.segments_not_mapped > 0 && !profile.manifest.complete;
        if missing > lost && !told {
            return Ok(Some(format!(
                "rank {rank}: {missing} of {} visits are missing, and {lost} are said to be lost",
                truth.ended()
            )));
        }
    }
    Ok(None)
}

/// Returns the number of visits that may be missing because the profile reports them as lost.
const fn excused(losses: &Losses) -> u64 {
    losses.visits_not_recorded + losses.visits_in_other + losses.records_torn
}

/// Runs `tinyprof recover` on the files that are left.
fn recover(place: &Scratch, truths: &[Truth]) -> Result<Vec<Found>, String> {
    let segments = place.path("segments");
    let left = fs::read_dir(&segments).is_ok_and(|mut entries| entries.next().is_some());
    if !left {
        return Ok(Vec::new());
    }
    let mut command = clean(&executable("tinyprof"));
    command.args(["recover", "--all"]).arg(&segments).current_dir(place.path("recovered"));
    let cannot = |error: std::io::Error| format!("cannot run `tinyprof recover`: {error}");
    let mut child = command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(fs::File::create(place.path("recover-stderr")).map_err(cannot)?)
        .spawn()
        .map_err(cannot)?;
    let watch = Watch::begin(child.id(), RECOVER_LIMIT).map_err(cannot)?;
    let status = child.wait().map_err(cannot)?;
    if watch.end() {
        return Err(format!("`tinyprof recover` took longer than {RECOVER_LIMIT:?}"));
    }
    if !status.success() {
        let said = fs::read_to_string(place.path("recover-stderr")).unwrap_or_default();
        return Err(format!("`tinyprof recover` ended with {status}: {said}"));
    }
    profiles(&place.path("recovered"), truths)
}

/// Returns whether a fault in this phase may leave nothing to recover.
pub(crate) fn is_before_final(phase: Phase) -> bool {
    phase < Phase::Final
}
