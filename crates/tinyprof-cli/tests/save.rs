//! `tinyprof save` of running programs: the profile, and that the programs are not disturbed.

#[path = "support/profiles.rs"]
mod profiles;
#[path = "support/watched.rs"]
mod watched;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use profiles::{profile, visits_by_rank};
use tinyprof_format::file::read_profile;
use tinyprof_format::model::{Profile, ThreadEvents};
use watched::Watched;

const RING: (&str, &str) = ("TINYPROF_EVENTS", "ring");

fn save(arguments: &[&str], directory: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    command.args(["save", "segments"]).args(arguments).current_dir(directory);
    command.env_remove("TINYPROF_SEGMENT_DIR").output().expect("tinyprof starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the visits of all callpaths of a region, by its name.
fn visits(profile: &Profile, name: &str) -> u64 {
    visits_by_rank(profile, name).iter().sum()
}

fn events(profile: &Profile) -> ThreadEvents {
    let events = profile.ranks[0].events.as_ref().expect("it keeps events");
    events.threads.first().expect("a thread").clone()
}

#[test]
fn a_running_program_is_saved_with_its_events_and_open_regions() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut program = Watched::start(place.path(), &[RING]);
    let before: Vec<_> = fs::read_dir(place.path().join("segments"))
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (fs::read(&path).expect("a file"), path))
        .collect();
    let first = save(&[], place.path());
    assert_eq!(first.status.code(), Some(0), "{}", said(&first));
    let text = String::from_utf8_lossy(&first.stdout).into_owned();
    assert_eq!(
        text,
        format!("process {}: saved as job-saved.tprof\n", program.child.id()),
        "its own name stays free for its own profile"
    );
    for (bytes, path) in before {
        assert!(fs::read(path).expect("it is still there") == bytes, "it took no notice");
    }
    program.step();
    program.step();
    let second = save(&["-o", "later"], place.path());
    assert_eq!(second.status.code(), Some(0), "{}", said(&second));
    for (name, steps) in [("job-saved.tprof", 1), ("later.tprof", 3)] {
        let profile = profile(place.path(), name);
        assert_eq!((visits(&profile, "run"), visits(&profile, "step")), (1, steps), "{name}");
        let because = profile.manifest.incomplete_because.clone().unwrap_or_default();
        assert!(because.starts_with("the run had not ended when tinyprof save "), "{because}");
        // A step and the region in it, each; and `run`, which is open.
        let events = events(&profile);
        assert_eq!((events.visits.len() as u64, events.lost(), events.cut), (2 * steps + 1, 0, 1));
        let (run, inner) = events.visits.split_first().expect("events");
        let run_end = run.begin_ns + run.duration_ns;
        assert_eq!(run.depth, 1);
        assert!(inner.iter().all(|visit| visit.begin_ns + visit.duration_ns <= run_end));
    }
    program.end();
    let own = profile(place.path(), "job.tprof");
    assert_eq!((visits(&own, "run"), visits(&own, "step")), (1, 3));
}

#[test]
fn one_of_several_programs_is_chosen_and_none_is_an_error() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let none = save(&[], place.path());
    assert_eq!(none.status.code(), Some(1));
    assert!(said(&none).contains("nothing runs in segments: no program records"), "{none:?}");

    let one = Watched::start(place.path(), &[]);
    let other = Watched::start(place.path(), &[]);
    let several = save(&[], place.path());
    let ids = [one.child.id().to_string(), other.child.id().to_string()];
    assert_eq!(several.status.code(), Some(1));
    assert!(said(&several).contains("choose one with --job: "), "{several:?}");
    assert!(ids.iter().all(|id| said(&several).contains(id.as_str())), "{several:?}");

    let chosen = save(&["--job", &ids[1], "--json"], place.path());
    let document: serde_json::Value = serde_json::from_slice(&chosen.stdout).expect("JSON");
    assert_eq!(document["profile"], "job-saved.tprof");
    assert_eq!(document["job"], format!("process {}", ids[1]));
    let unknown = save(&["--job", "nobody"], place.path());
    assert!(said(&unknown).contains("no program called nobody records"), "{unknown:?}");
    one.end();
    other.end();
}

#[test]
fn a_job_is_saved_again_and_again_until_it_ends() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut saving = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    saving.args(["save", "segments", "--every", "100ms", "-o", "again"]).current_dir(&place);
    saving.env_remove("TINYPROF_SEGMENT_DIR").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut saving = saving.spawn().expect("tinyprof starts");
    // It waits for the program.
    let mut errors = BufReader::new(saving.stderr.take().expect("a pipe")).lines();
    let mut error = || errors.next().expect("it says so").expect("text");
    assert!(error().contains("nothing is saved yet: "));
    let mut program = Watched::start(place.path(), &[]);
    let mut said = BufReader::new(saving.stdout.take().expect("a pipe")).lines();
    let mut saved = || said.next().expect("it goes on").expect("text");
    let name = |number: u32| format!("again-interim-{number:04}.tprof");
    for number in 1..4 {
        program.step();
        let line = saved();
        assert!(line.ends_with(&format!("saved as {}", name(number))), "{line}");
    }
    // One that begins after the last step has it, unless it was removed meanwhile.
    let has_all = |number: u32| {
        let found = read_profile(&place.path().join(name(number)));
        found.is_ok_and(|profile| visits(&profile, "step") == 4)
    };
    let mut number = 3;
    while !has_all(number) {
        saved();
        number += 1;
    }
    program.end();
    assert!(error().contains(" profiles were saved; now there is none: "));
    assert!(saving.wait().expect("it ends").success());
    let kept = fs::read_dir(&place).expect("a directory").map(|entry| entry.expect("one"));
    let interim = kept.filter(|one| one.file_name().to_string_lossy().contains("-interim-"));
    assert_eq!(interim.count(), 2, "the newest two");
}
