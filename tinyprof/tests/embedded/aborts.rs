//! A program that aborts inside regions.

use std::os::unix::process::ExitStatusExt;

use tinyprof_format::model::Losses;

use crate::program::{Scratch, names, text};
use crate::recover::{recovered, visits};

#[test]
fn what_was_recorded_before_an_abort_inside_of_regions_is_recovered() {
    let place = Scratch::new();
    let mut command = place.command("test_aborts");
    let output = command.env("TINYPROF_SEGMENT_DIR", "segments").output().unwrap();
    assert_eq!((output.status.signal(), text(&output.stderr)), (Some(libc::SIGABRT), ""));
    assert_eq!(place.names(), ["segments"], "no profile was written");
    let segments = place.path().join("segments");
    assert_eq!(names(&segments).len(), 2, "one for each thread");

    let map = recovered(&segments);
    let steps = 100 * 10 + 7;
    let expected = [
        ("outer", 101),
        ("outer<middle", 101),
        ("outer<middle<step", steps),
        ("outer<middle<step<inner", steps),
        ("outer<middle<step<innermost", 1),
        ("waits", 1),
        ("waits<inner", 1),
    ];
    for (path, times) in expected {
        assert_eq!(visits(&map, path), times, "{path}");
    }
    assert_eq!(map.callpaths.len(), expected.len());
    // Four on the main thread, and one on the waiting thread.
    assert_eq!(map.facts.losses, Losses { visits_open: 5, ..Losses::default() });
    let in_series =
        map.values.iter().flat_map(|values| &values.series).map(|bucket| u64::from(bucket.visits));
    assert_eq!(in_series.sum::<u64>(), steps - 1, "the step that was open is in no series");
}
