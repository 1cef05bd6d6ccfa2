//! Interim profiles of a program without MPI.

use std::process::Command;

use tinyprof_format::model::Profile;

use crate::program::{Scratch, text, values};

fn command(place: &Scratch, how: &str, interval: &str) -> Command {
    let mut command = place.command("test_interim_profiles");
    command.arg(how).env("TINYPROF_OUT", "p").env("TINYPROF_REPORT", "off");
    command.env("TINYPROF_SEGMENT_DIR", place.path().join("segments"));
    command.env("TINYPROF_INTERVAL", interval);
    command
}

#[track_caller]
fn ends_well(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{output:?}");
    text(&output.stdout).to_owned()
}

fn profiles(place: &Scratch) -> Vec<String> {
    place.names().into_iter().filter(|name| name != "segments").collect()
}

#[track_caller]
fn check_is_interim(profile: &Profile) {
    let because = profile.manifest.incomplete_because.as_deref().unwrap();
    assert!(
        because.starts_with("it is interim profile ") && !profile.manifest.complete,
        "{because}"
    );
}

#[test]
fn they_are_written_at_flush_points_and_go_when_the_profile_is_there() {
    for how in ["roots", "loop"] {
        let place = Scratch::new();
        ends_well(&mut command(&place, how, "5ms"));
        assert_eq!(profiles(&place), ["p.tprof"], "{how}");
        let profile = place.read("p.tprof");
        assert!(
            profile.manifest.complete && profile.manifest.interim_profiles.written >= 3,
            "{how}"
        );
        assert!(profile.manifest.interim_profiles.total_ns > 0, "{how}");
    }
}

#[test]
fn all_stay_where_all_are_wanted_and_each_has_more_than_the_one_before() {
    let place = Scratch::new();
    ends_well(command(&place, "loop", "5ms").env("TINYPROF_KEEP", "all"));
    let names = profiles(&place);
    assert!(names.len() >= 4 && names[0] == "p-interim-0001.tprof", "{names:?}");
    let mut before = 0;
    for name in &names {
        let profile = place.read(name);
        let visits = values(&profile)["steps<step"].visits();
        // The last iteration has begun when the last interim profile is written.
        assert!(visits > before || name == "p.tprof" && visits == before, "{name}");
        before = visits;
        if name != "p.tprof" {
            check_is_interim(&profile);
            assert_eq!(
                profile.manifest.losses.visits_open, 2,
                "the loop and the function around it"
            );
        }
    }
}

#[test]
fn a_killed_program_leaves_its_last_interim_profile_and_its_segments() {
    let place = Scratch::new();
    let mut child = command(&place, "forever", "5ms").spawn().unwrap();
    while !place.path().join("p-interim-0003.tprof").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it must not end by itself");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let whole = |name: &String| place.path().join(name).join("manifest.json").exists();
    let complete: Vec<_> = profiles(&place)
        .into_iter()
        .filter(|name| name.ends_with(".tprof") && whole(name))
        .collect();
    assert!((1..=3).contains(&complete.len()), "{complete:?}");
    complete.iter().for_each(|name| check_is_interim(&place.read(name)));
    assert!(!crate::program::names(&place.path().join("segments")).is_empty());
}

#[test]
fn one_by_hand_needs_no_interval() {
    let place = Scratch::new();
    let printed = ends_well(&mut command(&place, "hand", "off"));
    assert_eq!(printed, "p-interim-0001.tprof\ntrue\n");
    assert_eq!(profiles(&place), ["p.tprof"]);
    assert_eq!(place.read("p.tprof").manifest.interim_profiles.written, 1);
}

#[test]
fn none_are_written_before_the_interval_is_over_or_where_recording_is_off() {
    let place = Scratch::new();
    ends_well(&mut command(&place, "exit", "10m"));
    assert_eq!(profiles(&place), ["p.tprof"]);
    assert_eq!(place.read("p.tprof").manifest.interim_profiles, Default::default());
    let place = Scratch::new();
    ends_well(command(&place, "exit", "1ms").env("TINYPROF", "off"));
    assert!(profiles(&place).is_empty());
}

#[test]
fn a_failure_is_said_once_and_counted() {
    let place = Scratch::new();
    // No directory can be created below a file.
    std::fs::write(place.path().join("file"), "").unwrap();
    let mut child = command(&place, "forever", "1ms");
    child.env("TINYPROF_OUT", "file/p").stderr(std::process::Stdio::piped());
    let mut child = child.spawn().unwrap();
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    std::io::Read::read_to_string(&mut said, &mut line).unwrap();
    assert_eq!(line.matches("an interim profile was not written").count(), 1, "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
}
