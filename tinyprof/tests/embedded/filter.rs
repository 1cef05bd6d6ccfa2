//! Regions excluded from a run by `TINYPROF_FILTER`.

use std::process::Output;

use tinyprof_format::model::{Losses, Profile};

use crate::program::{Scratch, check_visits, text};

fn filtered(argument: &str, filter: &str) -> (Output, Profile) {
    let place = Scratch::new();
    let output =
        place.command("test_blocks").arg(argument).env("TINYPROF_FILTER", filter).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    (output, place.profile())
}

#[test]
fn a_region_that_is_taken_out_has_no_visit_and_its_children_stand_under_its_parent() {
    let (output, profile) = filtered("lists", "-*::advance");
    check_visits(&profile, &[("Field::deposit", 1), ("loud", 1)]);
    assert_eq!(profile.manifest.losses, Losses::default());
    assert_eq!(profile.manifest.metadata.filter.as_deref(), Some("-*::advance"));
    let regions = profile.manifest.metadata.regions_filtered.clone().unwrap();
    assert_eq!(regions, ["test_blocks::Field::advance"]);
    let said = text(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    let note = "note: 1 region was filtered out by TINYPROF_FILTER=-*::advance: test_blocks::Field::advance";
    assert!(said.contains(note), "{said}");
}

#[test]
fn inner_regions_loops_and_values_of_a_key_are_taken_out() {
    let (_, profile) = filtered("split", "-part*, -kinds*, -norm[f32]");
    check_visits(
        &profile,
        &[
            ("Solver::each[core::option::Option(f64)]", 1),
            ("Solver::step[f32]", 1),
            ("cow[owned]", 1),
            ("norm[f64]", 3),
        ],
    );
    assert_eq!(profile.manifest.metadata.regions_filtered.clone().unwrap().len(), 4);
}

#[test]
fn a_filter_may_say_what_is_recorded_by_name_and_module() {
    let (_, profile) = filtered("lists", "-test_blocks::*,+*::inner::*");
    check_visits(&profile, &[("loud", 1)]);
    let (_, profile) = filtered("async", "later[b]");
    check_visits(&profile, &[("later[b]", 1)]);
    // Our own regions, by which the cost of a visit is measured, are no program's.
    let metadata = &profile.manifest.metadata;
    let regions = metadata.regions_filtered.clone().unwrap();
    assert!(regions.iter().all(|name| !name.contains("[calibration]")), "{regions:?}");
    assert!(metadata.root_visit_cost_ps > 0 && metadata.visit_cost_error_ps > 0, "{metadata:?}");
}

#[test]
fn a_filter_that_cannot_be_read_is_ignored_with_a_word() {
    let (output, profile) = filtered("lists", "-a,,b");
    assert!(
        text(&output.stderr)
            .starts_with("tinyprof: TINYPROF_FILTER=-a,,b is ignored: expected patterns")
    );
    assert_eq!(profile.manifest.metadata.filter, None);
    assert_eq!(profile.callpaths.len(), 3);
}

#[test]
fn a_filter_that_takes_out_nothing_says_so() {
    let (output, profile) = filtered("lists", "-advance");
    assert!(text(&output.stderr).contains("the filter took out no region"), "{output:?}");
    assert_eq!(profile.manifest.metadata.regions_filtered, Some(Vec::new()));
}
