//! A program with an overhead budget.

use tinyprof_format::model::Profile;

use crate::program::{Scratch, check_visits, text, values};

const VISITS: [(&str, u64); 4] = [
    ("all", 1),
    ("all<step", 300_000),
    ("all<step<pair", 300_000),
    ("all<step<pair<small", 600_000),
];

fn check(profile: &Profile) {
    check_visits(profile, &VISITS);
    let losses = profile.manifest.losses;
    assert!(losses.visits_not_timed > 600_000, "{losses:?}");
    let values = values(profile);
    assert!(values["all<step<pair<small"].sum_standard_error_ns() > 0.0);
    assert_eq!(values["all"].sum_standard_error_ns(), 0.0, "it is visited once");
    // The series covers all iterations except those that wait for the next timed one.
    let in_series: u64 =
        values["all<step"].series.iter().map(|bucket| u64::from(bucket.visits)).sum();
    assert!(in_series <= 300_000 && in_series + (2 << 16) >= 300_000, "{in_series}");
}

#[test]
fn counts_are_exact_and_the_report_says_what_is_an_estimate() {
    let place = Scratch::new();
    let output = place.command("test_budget").env("TINYPROF_BUDGET", "1%").output().unwrap();
    check(&place.profile());
    let said = text(&output.stderr);
    assert!(said.contains("visits were counted but not timed"), "{said}");
    // The mean visit is as short as the overhead of a visit, so there may be a bound instead of an
    // estimate.
    assert!(said.lines().any(|line| line.contains("small") && line.contains(['~', '<'])), "{said}");
}

#[test]
fn a_program_can_set_its_budget_and_the_environment_wins() {
    let place = Scratch::new();
    place.command("test_budget").arg("0.01").env("TINYPROF_REPORT", "off").status().unwrap();
    check(&place.profile());
    let place = Scratch::new();
    let mut command = place.command("test_budget");
    command
        .arg("0.01")
        .env("TINYPROF_REPORT", "off")
        .env("TINYPROF_BUDGET", "off")
        .status()
        .unwrap();
    assert_eq!(place.profile().manifest.losses.visits_not_timed, 0);
}

#[test]
fn without_a_budget_every_visit_is_timed() {
    let place = Scratch::new();
    let output = place.command("test_budget").output().unwrap();
    let profile = place.profile();
    check_visits(&profile, &VISITS);
    assert_eq!(profile.manifest.losses.visits_not_timed, 0);
    assert!(!text(&output.stderr).contains('~'));
}
