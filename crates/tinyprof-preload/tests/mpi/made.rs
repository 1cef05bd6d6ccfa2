//! Samples of code that a program makes while it runs: they have the names that the program writes
//! into a file of its own, whoever writes the profile.

use std::collections::BTreeMap;
use std::fs;

use tempfile::TempDir;
use tinyprof_format::file::read_profile;
use tinyprof_format::model::{Profile, SAMPLES_WITHOUT_FILE};

use crate::sampled::allowed;
use crate::support::{compile, library, mpiexec, tinyprof};

/// Samples by function and file, over all ranks: of 1 ms each.
type Found = BTreeMap<(String, String), f64>;

/// Runs the program on two ranks, and returns its profile and what it says that it has worked.
fn run(how: &str, scratch: &TempDir) -> (Profile, BTreeMap<String, f64>) {
    let program = compile("made.c", scratch.path());
    let segments = scratch.path().join("segments");
    let mut command = mpiexec(2);
    command.env("TINYPROF_OUT", scratch.path().join("p")).env("TINYPROF_REPORT", "off");
    command.env("TINYPROF_SEGMENT_DIR", &segments);
    command.env("LD_PRELOAD", library()).env("TINYPROF_SAMPLE", "1000");
    let output = command.arg(program).arg(how).output().expect("mpiexec starts");
    assert_eq!(output.status.success(), how != "killed", "{how}: {output:?}");
    let mut worked_ms = BTreeMap::new();
    let mut processes = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Some((what, number)) = line.split_once(' ') else { continue };
        match (what, number.parse::<f64>()) {
            ("process", _) => processes.push(number.to_owned()),
            (what @ ("solve" | "Grid.step" | "unnamed"), Ok(ns)) => {
                *worked_ms.entry(what.to_owned()).or_default() += ns / 1e6;
            }
            _ => {}
        }
    }
    if how == "killed" {
        let mut recover = tinyprof();
        recover.current_dir(scratch.path()).args(["recover", "--json"]).arg(&segments);
        let output = recover.output().expect("tinyprof starts");
        for process in processes {
            fs::remove_file(format!("/tmp/perf-{process}.map")).expect("the program left it");
        }
        assert!(output.status.success(), "{output:?}");
    }
    let profile = read_profile(&scratch.path().join("p.tprof")).expect("it was written");
    (profile, worked_ms)
}

fn samples_ms(profile: &Profile) -> Found {
    let mut found = Found::new();
    for (at, row) in profile.callpaths.iter() {
        if let Some(function) = row.region.sampled_function() {
            assert!(row.region.made_code().is_none(), "an address: {:?}", row.region);
            let visits: u64 = profile.values[at.row()].iter().map(|of| of.visits()).sum();
            let visits = u32::try_from(visits).expect("it was short");
            let key = (function.to_owned(), row.region.file.clone());
            let before = found.insert(key, f64::from(visits));
            let is_made = row.region.file.is_empty() || row.region.file.ends_with(".py");
            assert!(before.is_none() || !is_made, "one row for both ranks: {:?}", row.region);
        }
    }
    found
}

/// Checks that each function and file has the samples of the processor times of some of the
/// program's functions, within three standard errors.
fn check(how: &str, expected: &[(&str, &str, &[&str])]) {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let (profile, worked_ms) = run(how, &scratch);
    let found = samples_ms(&profile);
    for &(function, file, of) in expected {
        let worked: f64 = of.iter().map(|name| worked_ms[*name]).sum();
        let samples = found.get(&(function.to_owned(), file.to_owned())).copied().unwrap_or(0.0);
        let error = 3.0 * worked.sqrt();
        assert!((samples - worked).abs() <= error, "{how}, {function}: {samples} of {worked}");
    }
    let is_wrong = |key: &&(String, String)| ["[unknown place]", "old"].contains(&key.0.as_str());
    assert_eq!(found.keys().find(is_wrong), None, "{how}: {found:?}");
}

#[test]
fn functions_that_are_made_at_run_time_have_the_names_of_the_file() {
    if let Err(reason) = allowed() {
        return println!("left out: {reason}");
    }
    for how in ["", "killed"] {
        let of = |name| [name];
        let (solve, step, unnamed) = (of("solve"), of("Grid.step"), of("unnamed"));
        check(
            how,
            &[
                ("solve", "", &solve),
                ("Grid.step", "/home/u/app.py", &step),
                (SAMPLES_WITHOUT_FILE, "", &unnamed),
            ],
        );
    }
    // Without a file, and with one that others may have written.
    for how in ["unnamed", "others"] {
        check(how, &[(SAMPLES_WITHOUT_FILE, "", &["solve", "Grid.step", "unnamed"])]);
    }
}
