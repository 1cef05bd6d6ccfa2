//! Deep recursion, and more callpaths than a thread can hold.

use std::process::Output;

use tinyprof_format::model::{Losses, Profile};

use crate::program::{Scratch, check_visits, profile_of, text, values, visits};

#[test]
fn direct_recursion_is_one_callpath_however_deep() {
    let (output, profile) = profile_of("test_many", "direct");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    check_visits(&profile, &[("direct", 10_000)]);
    assert_eq!(profile.manifest.losses, Losses::default());
}

#[test]
fn mutual_recursion_is_a_few_callpaths_however_deep() {
    let (output, profile) = profile_of("test_many", "mutual");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let path = ["even", "odd"].repeat(4);
    let paths: Vec<String> = (1..=8).map(|depth| path[..depth].join("<")).collect();
    // The innermost callpath of each has the visits of all deeper ones.
    let visits = |depth: usize| if depth < 7 { 1 } else { 5_000 - 3 };
    let expected: Vec<(&str, u64)> =
        paths.iter().enumerate().map(|(at, path)| (path.as_str(), visits(at + 1))).collect();
    check_visits(&profile, &expected);
    assert_eq!(profile.manifest.losses, Losses::default());
    let times = values(&profile);
    let inclusive: Vec<u64> = paths.iter().map(|path| times[path].inclusive_ns()).collect();
    assert!(
        inclusive.is_sorted_by(|outer, inner| outer >= inner),
        "no time counts twice: {inclusive:?}"
    );
}

#[test]
fn three_regions_in_circles_with_others_between_lose_no_visit() {
    let (output, profile) = profile_of("test_many", "circles");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let found = visits(&profile);
    let of = |name: &str| {
        let last = |path: &str| path.rsplit('<').next() == Some(name);
        found.iter().filter(|(path, _)| last(path)).map(|(_, visits)| visits).sum::<u64>()
    };
    assert_eq!(["expression", "term", "factor", "leaf"].map(of), [3_280, 3_280, 3_280, 2_187]);
    let deepest = found.iter().map(|(path, _)| path.split('<').count()).max().unwrap();
    assert!(deepest <= 4 * 3 + 1, "{deepest}");
    assert_eq!(profile.manifest.losses, Losses::default());
}

#[test]
fn regions_beyond_the_deepest_callpath_are_other() {
    let (output, profile) = profile_of("test_many", "deep");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let found = visits(&profile);
    let (other, own): (Vec<_>, Vec<_>) =
        found.iter().partition(|(path, _)| path.ends_with("[other]"));
    assert_eq!((own.len(), other.len()), (1_024, 1));
    assert!(own.iter().all(|(_, visits)| *visits == 1));
    let visits_too_deep = 1_500 - 1_024;
    assert_eq!(other[0].1, visits_too_deep);
    assert_eq!(profile.manifest.losses, Losses { visits_too_deep, ..Losses::default() });
}

/// The number of callpaths that the test program asks for; a thread holds 2^20.
const CALLPATHS: u64 = 1_111_111;

#[test]
fn a_million_callpaths_are_kept_and_the_visits_of_the_rest_are_other() {
    let place = Scratch::new();
    let output = place.command("test_many").arg("count").output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(7), ""));
    let said: Vec<u64> =
        text(&output.stdout).split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [callpaths, own, in_other, told_in_other] = said[..] else { panic!("{output:?}") };
    assert_eq!(own, 1 << 20, "each callpath but [other] has one visit");
    assert!(callpaths > own, "there are some for what does not fit");
    assert_eq!((own + in_other, told_in_other), (CALLPATHS, in_other), "every visit is somewhere");
}

/// Runs a test program in this much address space, in KiB. Returns its output and its profile.
fn profile_within(kibibytes: u32, argument: &str) -> (Output, Profile) {
    let place = Scratch::new();
    let script = format!("ulimit -v {kibibytes} && exec \"$0\" {argument}");
    let output = place.shell(&script, "test_many").output().unwrap();
    (output, place.profile())
}

#[test]
fn a_hundred_thousand_callpaths_are_written_and_reported_in_little_memory() {
    let (output, profile) = profile_within(256 << 10, "fewer");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let table = text(&output.stderr);
    assert!(
        table.contains("smaller callpaths") && table.contains("\nprofile: test_many-"),
        "{table}"
    );
    let found = visits(&profile);
    assert_eq!((found.len(), found.iter().all(|(_, visits)| *visits == 1)), (111_111, true));
    assert_eq!(profile.manifest.losses, Losses::default());
}

#[test]
#[ignore = "takes a minute"]
fn a_million_callpaths_are_written_and_read() {
    // Of this, the recorder's own memory is 190 MiB.
    let (output, profile) = profile_within(750_000, "callpaths");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let found = visits(&profile);
    let (other, own): (Vec<_>, Vec<_>) =
        found.iter().partition(|(path, _)| path.ends_with("[other]"));
    assert!(own.iter().all(|(_, visits)| *visits == 1));
    let visits_in_other: u64 = other.iter().map(|(_, visits)| visits).sum();
    assert_eq!((own.len(), visits_in_other), (1 << 20, CALLPATHS - (1 << 20)));
    assert_eq!(profile.manifest.losses, Losses { visits_in_other, ..Losses::default() });
}
