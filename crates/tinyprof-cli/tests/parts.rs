//! `tinyprof ctl reset`: parts of a run, which are the run together.

#[path = "support/profiles.rs"]
mod profiles;
#[path = "support/steered.rs"]
mod steered;
#[path = "support/watched.rs"]
mod watched;

use profiles::profile;
use steered::{ON, Stepping, run, said, visits};
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

#[test]
fn who_counts_no_flush_points_has_no_parts() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let stepping = Stepping::begin(Watched::start(place.path(), &[ON]));
    let output = run(&["reset"], place.path());
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
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
