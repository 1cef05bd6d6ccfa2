//! Regions inside the program's own allocator.

use tinyprof_format::model::{Losses, Profile};

use crate::program::{Scratch, text, visits};

/// The most allocations by the recorder itself, after the program has printed its number and before
/// the losses are counted.
const AFTER_MAIN_MAX: u64 = 1_000;

/// Returns the visits of all callpaths that end in one of these regions.
fn visits_of(profile: &Profile, regions: &[&str]) -> u64 {
    let all = visits(profile).into_iter();
    let ends = |path: &str| regions.contains(&path.rsplit('<').next().unwrap_or_default());
    all.filter(|(path, _)| ends(path)).map(|(_, visits)| visits).sum()
}

fn check(late: bool) {
    let place = Scratch::new();
    let mut command = place.command("test_allocates");
    if late {
        command.env("LATE", "1");
    }
    let output = command.env("TINYPROF_REPORT", "off").output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{output:?}");
    let entered: u64 = text(&output.stdout).trim().parse().unwrap();
    assert!(entered > 4 * 5_000 * 6, "{entered}");

    let profile = place.profile();
    assert_eq!(visits_of(&profile, &["work"]), 4 * 5_000);
    let losses = profile.manifest.losses;
    let visits_kept_out = losses.visits_kept_out;
    assert!(visits_kept_out > 0, "the start allocates, on a thread of its own");
    // Outside all regions, each allocation is an execution. These are folded, which loses nothing.
    let executions_folded = losses.executions_folded;
    assert_eq!(losses, Losses { visits_kept_out, executions_folded, ..Losses::default() });
    let told = visits_of(&profile, &["alloc", "dealloc"]) + visits_kept_out;
    assert!(
        (entered..entered + AFTER_MAIN_MAX).contains(&told),
        "{told} of {entered} are in the profile"
    );
}

#[test]
fn every_allocation_is_recorded_or_counted() {
    check(false);
}

#[test]
fn an_allocator_may_enter_regions_while_the_recording_is_begun_by_hand() {
    check(true);
}
