//! Regions that are entered when the program has almost ended.

use tinyprof_format::model::Losses;

use crate::program::{Scratch, names, text, visits};

#[test]
fn regions_in_destructors_and_exit_handlers_are_recorded_or_counted_and_stop_nothing() {
    let place = Scratch::new();
    let mut command = place.command("test_late");
    command
        .env("TINYPROF_REPORT", "off")
        .env("TINYPROF_OUT", "profile")
        .env("TINYPROF_SEGMENT_DIR", "segments");
    let output = command.output().unwrap();
    let said = (output.status.code(), text(&output.stdout), text(&output.stderr));
    assert_eq!(said, (Some(7), "all has ended\n", ""));
    assert_eq!(
        names(&place.path().join("segments")),
        [""; 0],
        "also of threads that began after the flush"
    );

    let profile = place.read("profile.tprof");
    let mut found = visits(&profile);
    // The main thread's two destructors and one handler run before the flush. Which of them still
    // find the thread's arena depends on the system.
    let is_late = |path: &str| ["in_destructor", "before_the_flush"].contains(&path);
    let late: u64 = found.extract_if(.., |(path, _)| is_late(path)).map(|(_, visits)| visits).sum();
    assert_eq!(found, [("stays".to_owned(), 1), ("work".to_owned(), 1)]);
    let losses = profile.manifest.losses;
    assert_eq!(late + losses.visits_kept_out, 3, "{losses:?}");
    let visits_kept_out = losses.visits_kept_out;
    assert_eq!(losses, Losses { visits_kept_out, visits_open: 1, ..Losses::default() });
}
