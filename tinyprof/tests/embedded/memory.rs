//! Threads that get no memory for recording.

use tinyprof_format::model::Losses;

use crate::endings::check_untouched;
use crate::program::{Scratch, check_visits, names, text};

const THREADS: u64 = 3;

#[test]
fn where_no_thread_gets_memory_the_program_ends_well_and_its_user_is_told_once() {
    let place = Scratch::new();
    let output = place
        .command("test_memory")
        .arg("all")
        .env("TINYPROF_SEGMENT_DIR", "segments")
        .output()
        .unwrap();
    check_untouched(&output);
    let told = "tinyprof: nothing is recorded: the beginning failed: the system gave no memory or no thread for it\n";
    assert_eq!(text(&output.stderr), told);
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn where_some_threads_get_no_memory_the_profile_says_what_they_lost() {
    let place = Scratch::new();
    let mut command = place.command("test_memory");
    command.arg("some").env("TINYPROF_SEGMENT_DIR", "segments").env("TINYPROF_OUT", "profile");
    let output = command.output().unwrap();
    check_untouched(&output);
    let lost = THREADS * 100 * 2;
    assert_eq!(text(&output.stderr).matches(&lost.to_string()).count(), 1, "{output:?}");
    let profile = place.read("profile.tprof");
    check_visits(&profile, &[("work", 101), ("work<leaf", 101)]);
    let losses = Losses { visits_not_recorded: lost, ..Losses::default() };
    assert_eq!(profile.manifest.losses, losses);
    assert!(names(&place.path().join("segments")).is_empty(), "no file is left behind");
}
