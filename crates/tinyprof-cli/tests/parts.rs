//! `tinyprof ctl reset` and `filter`: parts of a run, which are the run together, and of which each
//! has its filter.

#[path = "support/profiles.rs"]
mod profiles;
#[path = "support/steered.rs"]
mod steered;
#[path = "support/watched.rs"]
mod watched;

use std::process::Command;

use profiles::profile;
use steered::{ON, Stepping, run, said, visits};
use tinyprof_format::model::Profile;
use watched::Watched;

#[test]
fn hundreds_of_parts_are_the_run_together() {
    const PARTS: u64 = 200;
    let place = tempfile::tempdir().expect("a temporary directory");
    let variables = [ON, ("WATCHED_ROOTS", "1"), ("TINYPROF_INTERVAL", "1000h")];
    let stepping = Stepping::begin(Watched::start(place.path(), &variables));
    for _ in 0..PARTS {
        let output = run(&["reset"], place.path());
        assert!(said(&output).ends_with(": 1 of 1 began another part\n"), "{}", said(&output));
    }
    let (program, steps) = stepping.end();
    program.end();
    let whole = profile(place.path(), "job.tprof");
    assert_eq!(visits(&whole, "step"), steps);
    assert!(!place.path().join("job-interim-0001.tprof").exists());
    let mut sums = (0, 0);
    for number in 1..=PARTS + 1 {
        let part = profile(place.path(), &format!("job-part-{number:04}.tprof"));
        sums.0 += visits(&part, "step");
        sums.1 += visits(&part, "a \u{1b}[31mname");
    }
    assert_eq!(sums, (steps, steps));
    let commands = &whole.ranks[0].commands;
    assert_eq!(commands.commands.len() as u64 + commands.without_room, PARTS);
    assert!(commands.commands.iter().all(|one| one.is_done() && one.verb_name() == "reset"));
}

/// The region within `step`.
const INNER: &str = "a \u{1b}[31mname";

/// Returns the visits of `step`, and of the region within, in each of the first parts.
fn visits_in_parts(place: &std::path::Path, parts: u32) -> Vec<(u64, u64)> {
    let part = |number: u32| profile(place, &format!("job-part-{number:04}.tprof"));
    let visits = |part: &Profile| (visits(part, "step"), visits(part, INNER));
    (1..=parts).map(|number| visits(&part(number))).collect()
}

#[test]
fn a_filter_is_that_of_the_part_that_it_begins() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let variables = [ON, ("WATCHED_ROOTS", "1"), ("TINYPROF_INTERVAL", "1000h")];
    let stepping = Stepping::begin(Watched::start(place.path(), &variables));
    // What is outside of all regions stays: its end is a flush point.
    for patterns in ["-*", "+*", "-*name"] {
        let output = run(&["filter", patterns], place.path());
        let expected = format!(": 1 of 1 began another part, filtered by {patterns}\n");
        assert!(said(&output).ends_with(&expected), "{}", said(&output));
    }
    let (program, steps) = stepping.end();
    program.end();
    let parts = visits_in_parts(place.path(), 4);
    assert_eq!(parts.iter().map(|(steps, _)| steps).sum::<u64>(), steps);
    assert!(parts.iter().all(|(steps, _)| *steps > 0), "{parts:?}");
    let is_whole: Vec<bool> = parts.iter().map(|(steps, inner)| inner == steps).collect();
    assert_eq!(is_whole, [true, false, true, false], "{parts:?}");
    assert_eq!((parts[1].1, parts[3].1), (0, 0), "{parts:?}");
    let whole = profile(place.path(), "job.tprof");
    let commands = &whole.ranks[0].commands.commands;
    let arguments: Vec<&str> = commands.iter().map(|one| one.argument.as_str()).collect();
    assert_eq!(arguments, ["-*", "+*", "-*name"]);
    let filtered = whole.manifest.metadata.regions_filtered.as_deref();
    assert_eq!(filtered, Some(&[format!("watched::{INNER}")][..]));
    let mut report = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    let output = report.args(["report", "job.tprof"]).current_dir(place.path()).output();
    let report = said(&output.expect("tinyprof starts")).replace("\n  ", " ");
    assert!(report.contains("command: filter -*name began after "), "{report}");
    assert!(report.contains("1 region was filtered out by tinyprof ctl filter: "), "{report}");
}

#[test]
fn a_filter_takes_the_place_of_the_one_before() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let variables =
        [ON, ("WATCHED_ROOTS", "1"), ("TINYPROF_INTERVAL", "1000h"), ("TINYPROF_FILTER", "-*name")];
    let stepping = Stepping::begin(Watched::start(place.path(), &variables));
    let output = run(&["filter", "-nothing"], place.path());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    stepping.end().0.end();
    let parts = visits_in_parts(place.path(), 2);
    assert!(parts[0].1 == 0 && parts[1].1 == parts[1].0, "{parts:?}");

    let output = run(&["filter", &"x".repeat(257)], place.path());
    assert!(said(&output).contains("expected at most 256 bytes, found 257"), "{}", said(&output));
    let output = run(&["filter", "a,,b"], place.path());
    assert!(said(&output).contains("expected patterns with commas"), "{}", said(&output));
}

/// Returns the values of a metric of `step`.
fn values_of(profile: &Profile, key: &str) -> u64 {
    let metrics = profile.values.iter().flatten().filter_map(|values| values.metrics.get(key));
    metrics.flat_map(|metric| &metric.executions).map(|one| one.values).sum()
}

#[test]
fn metrics_are_switched_off_and_on_with_parts_and_nothing_is_lost() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let variables =
        [ON, ("WATCHED_ROOTS", "1"), ("WATCHED_METRICS", "1"), ("TINYPROF_INTERVAL", "1000h")];
    let stepping = Stepping::begin(Watched::start(place.path(), &variables));
    for patterns in ["-cells", "faces,cells", "-*"] {
        let output = run(&["metrics", patterns], place.path());
        let expected = format!(": 1 of 1 began another part, with metrics {patterns}\n");
        assert!(said(&output).ends_with(&expected), "{}", said(&output));
    }
    let (program, steps) = stepping.end();
    program.end();
    let counts = |name: &str| {
        let profile = profile(place.path(), name);
        assert_eq!(profile.manifest.losses.values_not_recorded, 0);
        let metrics = ["cells", "faces"].map(|key| values_of(&profile, key));
        (visits(&profile, "step"), metrics)
    };
    let parts = [1, 2, 3, 4].map(|number| counts(&format!("job-part-{number:04}.tprof")));
    let are_all = parts.map(|(steps, metrics)| metrics.map(|values| values == steps));
    assert_eq!(are_all, [[true, true], [false, true], [true, true], [false, false]], "{parts:?}");
    assert_eq!((parts[1].1[0], parts[3].1), (0, [0, 0]), "{parts:?}");
    let (all_steps, metrics) = counts("job.tprof");
    assert_eq!((all_steps, metrics[0]), (steps, parts[0].0 + parts[2].0));
    let verbs = profile(place.path(), "job.tprof").ranks[0].commands.commands.clone();
    assert!(verbs.iter().all(|one| one.verb_name() == "metrics" && one.is_done()), "{verbs:?}");
}

#[test]
fn who_counts_no_flush_points_has_no_parts() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let stepping = Stepping::begin(Watched::start(place.path(), &[ON]));
    let output = run(&["reset"], place.path());
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("start it with -o steer=on -o interval="), "{}", said(&output));
    let output = run(&["filter", "-*"], place.path());
    assert!(said(&output).contains("start it with -o steer=on -o interval="), "{}", said(&output));
    stepping.end().0.end();
    assert!(!place.path().join("job-part-0001.tprof").exists());

    // One that has come to no flush point is named, and comes later.
    let variables = [ON, ("TINYPROF_INTERVAL", "1000h"), ("TINYPROF_OUT", "other")];
    let stepping = Stepping::begin(Watched::start(place.path(), &variables));
    let output = run(&["reset"], place.path());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let late = " has not come to the flush point on which all agree yet";
    assert!(
        said(&output).contains("0 of 1 began") && said(&output).contains(late),
        "{}",
        said(&output)
    );
    let (program, steps) = stepping.end();
    program.end();
    assert_eq!(visits(&profile(place.path(), "other.tprof"), "step"), steps);
    assert_eq!(visits(&profile(place.path(), "other-part-0001.tprof"), "step"), steps);
}
