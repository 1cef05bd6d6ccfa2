//! Lists of functions on a block, dropped guards, and regions split by a key.

use tinyprof_format::model::Losses;

use crate::program::{check_visits, profile_of, visits};

#[test]
fn a_list_says_which_functions_of_a_block_are_regions() {
    let (output, profile) = profile_of("test_blocks", "lists");
    assert!(output.status.success(), "{output:?}");
    check_visits(
        &profile,
        &[("Field::advance", 1), ("Field::advance<Field::deposit", 1), ("loud", 1)],
    );
}

#[test]
fn a_region_ends_where_its_guard_is_dropped() {
    let (output, profile) = profile_of("test_blocks", "guards");
    assert!(output.status.success(), "{output:?}");
    check_visits(
        &profile,
        &[
            ("outer", 1),
            ("outer<gather", 1),
            ("outer<push", 0),
            ("outer<push<forgotten", 0),
            ("outer<push<inside", 1),
        ],
    );
    let gather = profile.find("outer<gather").unwrap();
    assert_eq!(profile.values(gather, 0).metrics["items"].values(), 1);
    assert_eq!(profile.manifest.losses, Losses { visits_unbalanced: 2, ..Losses::default() });
}

#[test]
fn each_value_of_a_key_is_a_callpath() {
    let (output, profile) = profile_of("test_blocks", "split");
    assert!(output.status.success(), "{output:?}");
    check_visits(
        &profile,
        &[
            ("Solver::each[core::option::Option(f64)]", 1),
            ("Solver::step[f32]", 1),
            ("cow[owned]", 1),
            ("kinds[owned]", 5),
            ("norm[f32]", 1),
            ("norm[f32]<part[small]", 2),
            ("norm[f64]", 3),
            ("norm[f64]<part[large]", 9),
        ],
    );
    assert_eq!(profile.manifest.losses, Losses::default());
    let (norm, each) = (profile.find("norm[f64]").unwrap(), profile.find("norm[f32]").unwrap());
    let [f64_region, f32_region] = [norm, each].map(|index| &profile.callpaths.get(index).region);
    assert_eq!((f64_region.line, &f64_region.module), (f32_region.line, &f32_region.module));
}

#[test]
fn a_key_with_too_many_values_is_counted_and_no_visit_is_lost() {
    let (output, profile) = profile_of("test_blocks", "many");
    assert!(output.status.success(), "{output:?}");
    let found = visits(&profile);
    assert_eq!(found.len(), 129);
    assert_eq!(found.iter().map(|(_, visits)| visits).sum::<u64>(), 200);
    assert_eq!(found.iter().find(|(path, _)| path == "many").unwrap().1, 72);
    assert_eq!(profile.manifest.losses, Losses { visits_without_key: 72, ..Losses::default() });
}

#[test]
fn an_async_function_is_split_as_any() {
    let (output, profile) = profile_of("test_blocks", "async");
    assert!(output.status.success(), "{output:?}");
    check_visits(&profile, &[("later[a]", 2), ("later[b]", 1)]);
}
