//! Samples of a program whose functions take known processor times.

use std::process::Output;

use tinyprof_format::model::{CallpathTable, EventMap, Profile};

use crate::program::{Scratch, text};
use crate::recover::recovered;

const PERIOD_NS: f64 = 1e6;

/// Runs the program with samples.
fn run(place: &Scratch, what: &str) -> Output {
    let mut command = place.command("test_sampled");
    command.env("TINYPROF_REPORT", "off").env("TINYPROF_SAMPLE", "1000");
    command.arg(what).output().unwrap()
}

/// The visits of a callpath below `parent`.
#[derive(Debug)]
struct Found {
    name: String,
    parent: String,
    visits: u64,
}

impl Found {
    /// Returns the address in the executable's file.
    fn address(&self) -> Option<usize> {
        usize::from_str_radix(self.name.rsplit_once("+0x")?.1, 16).ok()
    }
}

/// Returns the callpaths that samples have made, by a function that knows their visits.
fn found(callpaths: &CallpathTable, visits: impl Fn(usize) -> u64) -> Vec<Found> {
    let of_samples = callpaths.iter().filter(|(_, row)| row.region.module == "sample");
    let found = of_samples.map(|(index, row)| Found {
        name: row.region.name.clone(),
        parent: row.parent.map_or_else(String::new, |parent| callpaths.path(parent)),
        visits: visits(index.row()),
    });
    found.collect()
}

fn in_profile(profile: &Profile) -> Vec<Found> {
    found(&profile.callpaths, |row| profile.values[row].iter().map(|of| of.visits()).sum())
}

fn in_map(map: &EventMap) -> Vec<Found> {
    found(&map.callpaths, |row| map.values[row].visits())
}

/// Returns the number of threads that are said not to be sampled.
fn not_sampled(found: &[Found]) -> u64 {
    let of_threads = found.iter().filter(|found| found.name == "[threads not sampled]");
    of_threads.map(|found| found.visits).sum()
}

/// Checks that functions have the samples of their processor times in `work`, within three standard
/// errors. `part` is the part that was sampled.
fn check(output: &Output, samples: &[Found], part: f64) {
    if let Err(difference) = compare(output, samples, part) {
        panic!("{difference}");
    }
}

/// As [`check`]; returns the difference if it is larger.
fn compare(output: &Output, samples: &[Found], part: f64) -> Result<(), String> {
    let said = text(&output.stdout);
    let functions: Vec<(usize, f64)> = said
        .lines()
        .map(|line| {
            let (start, cpu_ns) = line.split_once(' ').unwrap();
            (usize::from_str_radix(start, 16).unwrap(), cpu_ns.parse().unwrap())
        })
        .collect();
    assert_eq!(functions.len(), 2, "{output:?}");
    for (start, cpu_ns) in &functions {
        // The functions are shorter than this; one may follow the other.
        let is_own = |address: usize| {
            let nearest = functions.iter().map(|(start, _)| *start).filter(|at| *at <= address);
            nearest.max() == Some(*start) && address - start < 1024
        };
        let own = samples.iter().filter(|found| found.parent.starts_with("work"));
        let own = own.filter(|found| found.address().is_some_and(is_own));
        let found: u64 = own.map(|found| found.visits).sum();
        let found = f64::from(u32::try_from(found).unwrap());
        let expected = cpu_ns / PERIOD_NS * part;
        if (found - expected).abs() > 3.0 * expected.sqrt() {
            return Err(format!("{found} of {expected}"));
        }
    }
    Ok(())
}

/// How often a program is tried: a host that takes the processor away from its guest for more than
/// a period takes the samples that were due then, and leaves the processor time.
const TRIES: usize = 3;

/// Returns whether the system allows samples here.
fn is_allowed() -> bool {
    let place = Scratch::new();
    let output = run(&place, "");
    let said = text(&output.stderr);
    if said.is_empty() {
        return true;
    }
    assert!(said.starts_with("tinyprof: TINYPROF_SAMPLE is ignored: "), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let found = in_profile(&place.profile());
    assert!(found.len() == 1 && not_sampled(&found) == 2, "{found:?}");
    false
}

#[test]
fn functions_have_the_samples_of_their_processor_time() {
    if !is_allowed() {
        return;
    }
    for what in ["", "forks", "threads", "found"] {
        let mut differences = Vec::new();
        let mut tried = (0..TRIES).map(|_| {
            let place = Scratch::new();
            let output = run(&place, what);
            assert!(output.status.success() && output.stderr.is_empty(), "{what}: {output:?}");
            let profile = place.profile();
            let samples = in_profile(&profile);
            compare(&output, &samples, 1.0).map(|()| (profile, samples))
        });
        let found = tried.find_map(|tried| tried.map_err(|of| differences.push(of)).ok());
        let (profile, samples) = found.unwrap_or_else(|| panic!("{what}: {differences:?}"));
        let of_others = samples.iter().any(|found| found.parent == "work_shortly");
        assert_eq!(of_others, what == "threads", "none of a child");
        assert_eq!(not_sampled(&samples), 0, "{what}");
        for (index, row) in profile.callpaths.iter().filter(|(_, row)| row.region.is_sampled()) {
            let values = profile.values(index, 0);
            assert_eq!(values.inclusive_ns(), values.visits() * 1_000_000, "{row:?}");
        }
    }
}

#[test]
fn samples_that_a_thread_does_not_take_any_more_are_counted() {
    if !is_allowed() {
        return;
    }
    let place = Scratch::new();
    let output = run(&place, "waits");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let samples = in_profile(&place.profile());
    let waiting = samples.iter().filter(|found| found.parent == "work_on");
    let waiting = waiting.filter(|found| found.name == "[unknown place]");
    assert!(waiting.map(|found| found.visits).sum::<u64>() >= 15, "{samples:?}");
}

#[test]
fn samples_survive_a_killed_program() {
    if !is_allowed() {
        return;
    }
    let place = Scratch::new();
    let mut command = place.command("test_sampled");
    command.env("TINYPROF_SEGMENT_DIR", "segments").env("TINYPROF_SAMPLE", "1000");
    let output = command.arg("killed").output().unwrap();
    let map = recovered(&place.path().join("segments"));
    let samples = in_map(&map);
    check(&output, &samples, 1.0);
    for (index, row) in map.callpaths.iter().filter(|(_, row)| row.region.is_sampled()) {
        let values = &map.values[index.row()];
        assert_eq!(values.inclusive_ns(), values.visits() * 1_000_000, "{row:?}");
    }
}

#[test]
fn threads_that_the_system_does_not_sample_are_counted() {
    if !is_allowed() {
        return;
    }
    let place = Scratch::new();
    let output = run(&place, "refused");
    assert!(output.status.success(), "{output:?}");
    let said = text(&output.stderr);
    let lines = said.lines().filter(|line| line.contains("TINYPROF_SAMPLE"));
    let expected = "tinyprof: TINYPROF_SAMPLE is ignored: the system makes no event (error 24)";
    assert_eq!(lines.collect::<Vec<_>>(), [expected], "{said}");
    let found = in_profile(&place.profile());
    assert!(found.len() == 1 && not_sampled(&found) == 2, "{found:?}");

    let place = Scratch::new();
    let output = run(&place, "refused-later");
    assert!(output.status.success(), "{output:?}");
    let found = in_profile(&place.profile());
    assert_eq!(not_sampled(&found), 1, "{found:?}");
    check(&output, &found, 0.5);
}

#[test]
fn without_the_setting_nothing_is_sampled() {
    let place = Scratch::new();
    let output = place.command("test_sampled").env("TINYPROF_REPORT", "off").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert_eq!(place.profile().callpaths.len(), 1);
}
