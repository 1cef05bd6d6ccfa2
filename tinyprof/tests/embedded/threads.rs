//! Regions on other threads.

use tinyprof_format::model::Losses;

use crate::program::{profile_of, values, visits};

#[test]
fn threads_have_roots_of_their_own_and_are_merged_by_callpath() {
    let (output, profile) = profile_of("test_threads", "");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let work = 4 * 250 + 4;
    let mut expected: Vec<(String, u64)> = Vec::new();
    for (path, times) in [("work", work), ("detached<work", 1), ("waits<work", 1)] {
        expected.push((path.to_owned(), times));
        expected.push((format!("{path}<iteration"), 3 * times));
        expected.push((format!("{path}<iteration<inner"), 3 * times));
    }
    expected.extend(["main", "detached", "waits"].map(|root| (root.to_owned(), 1)));
    expected.sort();
    let mut found = visits(&profile);
    // A region in the last moments of a thread is recorded or counted, whichever destructor runs
    // first.
    let late: u64 =
        found.extract_if(.., |(path, _)| path == "in_destructor").map(|(_, visits)| visits).sum();
    assert_eq!(found, expected);

    let losses = profile.manifest.losses;
    assert_eq!(late + losses.visits_kept_out, 4, "{losses:?}");
    let rest =
        Losses { visits_kept_out: losses.visits_kept_out, visits_open: 1, ..Losses::default() };
    assert_eq!(losses, rest, "the thread that waits has one open region");

    let values = values(&profile);
    for (path, values) in values.iter().filter(|(path, _)| path.ends_with("iteration")) {
        assert_eq!(
            values.series.iter().map(|b| u64::from(b.visits)).sum::<u64>(),
            values.visits(),
            "{path}"
        );
    }
}

#[test]
fn workers_that_were_told_where_they_belong_stand_under_the_region_that_started_them() {
    let (output, profile) = profile_of("workers", "");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert_eq!(profile.manifest.losses, Losses::default());
    let parts = 100 + 4;
    for (path, a_run) in [("solve", 1), ("solve<part", parts), ("solve<part<sum", parts)] {
        let (_, values) =
            values(&profile).into_iter().find(|(found, _)| found == path).expect(path);
        let runs: Vec<_> =
            values.executions.iter().map(|e| (e.execution, e.executions, e.visits)).collect();
        assert_eq!(runs, [(0, 1, a_run), (1, 1, a_run), (2, 1, a_run)], "{path}");
    }
    assert_eq!(profile.callpaths.len(), 3, "no part has a root of its own");
}
