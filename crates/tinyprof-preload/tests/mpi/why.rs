//! Programs with one planted fault each, whose rank and place the first finding names; and healthy
//! ones, in which nothing is found.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tinyprof_format::model::Profile;
use tinyprof_report::Report;
use tinyprof_why::Why;

use crate::messages::Way;
use crate::support::{
    compile, compile_fortran, compile_rust, profiled_with, python, rayon, source_path,
};

mod planted;

use planted::{ADVICE, FAULTS, FURTHER, Fault, HEALTHY, MOVED};

/// Of this many faults ...
const OF_FAULTS: usize = 30;
/// ... this many may be told wrongly.
const WRONG_MAX: usize = 3;

/// The attempts at a program, as long as its ranks lost their processors to other work.
pub(crate) const ATTEMPTS: usize = 5;

/// The part of the time in which ranks could run, but have no processor, from which on they are
/// late by that: the work of these programs is sleeping.
pub(crate) const CROWDED_PART: f64 = 0.01;

/// The part of the time without a processor from which on nothing is said for certain of data.
const NO_PROCESSOR_PART: f64 = 0.4;

/// The programs, compiled, and what starts them.
struct Programs {
    directory: tempfile::TempDir,
    c: PathBuf,
    further: PathBuf,
    moved: PathBuf,
    fortran: Result<PathBuf, String>,
    python: Result<PathBuf, String>,
    rust: Result<PathBuf, String>,
}

impl Programs {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let to = directory.path();
        let [c, further, moved] = ["why.c", "faults.c", "moved.c"].map(|name| compile(name, to));
        let fortran = compile_fortran("why.F90", "use mpi", to);
        let (python, rust) = (python(to), compile_rust("why.rs", to));
        Self { c, further, moved, fortran, python, rust, directory }
    }

    /// Runs the program that has this fault at a level.
    ///
    /// # Errors
    /// The reason, if there is nothing that runs it.
    fn run(
        &self,
        name: &str,
        (size, steps): (usize, &str),
        level: &str,
    ) -> Result<Profile, String> {
        let (program, script) = match source_of(name) {
            "why.F90" => (self.fortran.clone()?, None),
            "why.py" => (self.python.clone()?, Some(source_path("why.py"))),
            "why.rs" => (self.rust.clone()?, None),
            "faults.c" => (self.further.clone(), None),
            "moved.c" => (self.moved.clone(), None),
            _ => (self.c.clone(), None),
        };
        let mut arguments: Vec<&Path> = script.iter().map(PathBuf::as_path).collect();
        arguments.extend([name, steps].map(Path::new));
        if name == "rust_rayon" {
            rayon().ok_or("there is no library of rayon beside the tests")?;
        }
        let way = if name.ends_with("_host") || name.ends_with("_hosts") {
            Way::Hosts
        } else {
            Way::Lanes
        };
        let mut variables = vec![("LD_PRELOAD", way.preload(&self.directory).into())];
        if matches!(way, Way::Hosts) {
            variables.push(("TINYPROF_WORLD", "all".into()));
        }
        let to = self.directory.path();
        Ok(profiled_with(&variables, &program, &arguments, size, to, level))
    }
}

/// Returns the file that has this fault.
fn source_of(name: &str) -> &'static str {
    match name.split('_').next() {
        _ if FURTHER.contains(&name) => "faults.c",
        _ if MOVED.contains(&name) => "moved.c",
        Some("fortran") => "why.F90",
        Some("python") => "why.py",
        Some("rust") => "why.rs",
        _ => "why.c",
    }
}

/// Returns the part of the time that ranks were ready to run, but had no processor.
pub(crate) fn crowding(profile: &Profile) -> f64 {
    Report::of_profile(profile).statistics.times().delay_share().unwrap_or(0.0)
}

/// Returns the line that a fault has to name.
pub(crate) fn line_of(name: &str) -> Option<u64> {
    let source = fs::read_to_string(source_path(source_of(name))).expect("it is there");
    let mark = format!(" place: {name}");
    let mut lines = (1..).zip(source.lines());
    lines.find(|(_, line)| line.trim_end().ends_with(&mark)).map(|(number, _)| number)
}

/// Returns the advice of any finding that contradicts the cause.
fn contradiction(fault: &Fault, said: &Value) -> Option<String> {
    let findings = said["findings"].as_array().expect("findings");
    let advice = findings.iter().filter_map(|one| one["advice"].as_str());
    let is_wrong = |advice: &&str| {
        ADVICE.iter().any(|(words, kinds)| {
            advice.contains(words) && !kinds.iter().any(|kind| fault.kinds.contains(kind))
        })
    };
    advice.into_iter().find(is_wrong).map(str::to_owned)
}

/// Returns what is wrong with what is said of a fault; none if nothing is.
fn wrong(fault: &Fault, said: &Value, level: &str) -> Option<String> {
    let first = &said["findings"][0];
    let is_messages = level == "messages";
    let ranks = if is_messages { Some(fault.ranks) } else { fault.ranks_of_calls };
    let ranks = ranks?;
    if first.is_null() {
        return Some("nothing is found".to_owned());
    }
    if ranks != "*" && first["ranks"] != ranks {
        return Some(format!("ranks {} and not {ranks}", first["ranks"]));
    }
    if !is_messages {
        return None;
    }
    if !fault.kinds.iter().any(|kind| first["kind"] == *kind) {
        return Some(format!("kind {} and not {}", first["kind"], fault.kinds.join(" or ")));
    }
    // Who has no processor is chance, and has no place.
    if first["kind"] == "oversubscription" {
        return None;
    }
    // All of its activities are slow.
    if first["kind"] == "slow_rank" {
        let function = &first["place"]["function"];
        return (function != fault.name).then(|| format!("function {function}"));
    }
    let place = &first["place"];
    // It has no line of its own.
    if fault.name == "spread" {
        let function = &place["function"];
        return (function != "swap").then(|| format!("function {function}"));
    }
    let line = line_of(fault.name).expect("each other fault has a place");
    (place["line"] != line).then(|| format!("line {} and not {line}", place["line"]))
}

/// Checks the faults at a level, and prints what is found of each.
#[expect(clippy::print_stderr, reason = "the table of verdicts is what a reader wants to see")]
fn check(level: &str) {
    let programs = Programs::new();
    let (mut failed, mut contradicting, mut tried) = (Vec::new(), Vec::new(), 0);
    let wanted = std::env::var("FAULT").ok();
    for fault in FAULTS.iter().filter(|one| wanted.as_ref().is_none_or(|name| name == one.name)) {
        for attempt in 1.. {
            let profile = match programs.run(fault.name, (fault.size, fault.steps), level) {
                Ok(profile) => profile,
                Err(reason) => {
                    eprintln!("{level}, {}: left out: {reason}", fault.name);
                    break;
                }
            };
            let (said, crowding) = (Why::of_profile(&profile).to_json(), crowding(&profile));
            let verdict = said["verdict"].as_str().expect("text");
            let found = wrong(fault, &said, level);
            let advice = contradiction(fault, &said);
            let is_right = found.is_none() && advice.is_none();
            let word = if is_right { "right" } else { "WRONG" };
            eprintln!("{level}, {}: {word}: {verdict}", fault.name);
            let why = found.as_ref().or(advice.as_ref()).cloned().unwrap_or_default();
            if !is_right && crowding >= CROWDED_PART && attempt < ATTEMPTS {
                // Where processors are shared with other work, a rank is late that is not at fault.
                eprintln!("  again ({why}): ranks had no processor {:.1}%", 100.0 * crowding);
                continue;
            }
            // Where ranks had no processor for most of the time, data is not what takes long.
            if !is_right && fault.moves_data && crowding >= NO_PROCESSOR_PART {
                eprintln!("  not counted ({why}): ranks had no processor {:.1}%", 100.0 * crowding);
                break;
            }
            tried += 1;
            if let Some(advice) = advice {
                contradicting.push(format!("{}: {advice}", fault.name));
            }
            if let Some(found) = found {
                let of_time = 100.0 * crowding;
                let name = fault.name;
                failed.push(format!("{name}: {found}; no processor {of_time:.1}%\n{said:#}"));
            }
            break;
        }
    }
    let names: Vec<_> = failed.iter().filter_map(|text| text.lines().next()).collect();
    eprintln!("{level}: {} of {tried} right; wrong: {names:?}", tried - failed.len());
    assert!(contradicting.is_empty(), "advice contradicts the cause: {contradicting:#?}");
    let most = if wanted.is_some() { 0 } else { WRONG_MAX * tried / OF_FAULTS };
    assert!(failed.len() <= most, "{} of {tried} wrong:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn the_first_finding_names_rank_and_place_of_a_planted_fault() {
    check("messages");
}

#[test]
fn without_messages_the_first_finding_names_the_rank() {
    check("calls");
}

/// Returns the findings that blame the program. Where other work takes the processors, to say so is
/// right.
fn blaming(said: &Value) -> usize {
    let findings = said["findings"].as_array().into_iter().flatten();
    findings.filter(|finding| finding["kind"] != "oversubscription").count()
}

#[test]
fn nothing_is_found_in_healthy_programs() {
    let programs = Programs::new();
    let mut failed = Vec::new();
    let wanted = std::env::var("FAULT").ok();
    let is_wanted = |name: &&&str| wanted.as_ref().is_none_or(|wanted| wanted == *name);
    for (name, level) in
        HEALTHY.iter().filter(is_wanted).flat_map(|name| ["messages", "calls"].map(|l| (*name, l)))
    {
        for attempt in 1.. {
            let profile = match programs.run(name, (4, "10"), level) {
                Ok(profile) => profile,
                Err(reason) => {
                    eprintln!("{level}, {name}: left out: {reason}");
                    break;
                }
            };
            let (said, crowding) = (Why::of_profile(&profile).to_json(), crowding(&profile));
            let verdict = said["verdict"].as_str().expect("text").to_owned();
            eprintln!("{level}, {name} (no processor {:.1}%): {verdict}", 100.0 * crowding);
            if blaming(&said) == 0 {
                break;
            }
            if crowding < CROWDED_PART || attempt == ATTEMPTS {
                failed.push(format!("{name}, {level}: {verdict}\n{said:#}"));
                break;
            }
        }
    }
    assert!(failed.is_empty(), "{} found:\n{}", failed.len(), failed.join("\n"));
}
