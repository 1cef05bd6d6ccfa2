//! The clocks that a user can choose, and the accuracy of their times.

use std::process::Output;

use tinyprof_format::model::Profile;

use crate::program::{Scratch, profile_of, text, values, visits};

fn run(program: &str, argument: &str, clock: &str) -> (Output, Profile) {
    let place = Scratch::new();
    let mut command = place.command(program);
    command.arg(argument).env("TINYPROF_CLOCK", clock).env("TINYPROF_REPORT", "off");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    (output, place.profile())
}

#[test]
fn the_profile_names_the_clock_that_was_chosen() {
    let (_, by_default) = profile_of("test_calls", "");
    let counter = by_default.manifest.metadata.clock.clone();
    // If the counter is not steady, only the other clock is available.
    let steady = counter != "clock_monotonic";
    let fenced = if steady { format!("{counter}_fenced") } else { counter.clone() };
    for (clock, name) in
        [("auto", counter.as_str()), ("monotonic", "clock_monotonic"), ("fenced", &fenced)]
    {
        let (output, profile) = run("test_calls", "", clock);
        assert_eq!(profile.manifest.metadata.clock, name);
        assert_eq!(visits(&profile), visits(&by_default), "{clock}");
        assert_eq!(text(&output.stderr).is_empty(), steady || clock != "fenced", "{output:?}");
    }
}

#[test]
fn a_clock_that_does_not_exist_is_one_warning() {
    let (output, profile) = run("test_calls", "", "sundial");
    let expected =
        "tinyprof: TINYPROF_CLOCK=sundial is ignored: expected auto, monotonic or fenced\n";
    assert_eq!(text(&output.stderr), expected);
    let (_, by_default) = profile_of("test_calls", "");
    assert_eq!(profile.manifest.metadata.clock, by_default.manifest.metadata.clock);
}

/// Compares a region of this many milliseconds with `CLOCK_MONOTONIC`, inside the region and around
/// it. However long the thread had to wait for the processor, the region's time is between the two.
#[expect(
    clippy::print_stdout,
    reason = "how close it was is worth knowing, not only that it was close enough"
)]
fn check_spin(spin_ms: u64, clock: &str) {
    let (output, profile) = run("test_times", &spin_ms.to_string(), clock);
    let said: Vec<u64> =
        text(&output.stdout).split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [inside_ns, around_ns] = said[..] else { panic!("{output:?}") };
    let measured_ns =
        values(&profile)["spin"].executions.iter().map(|spin| spin.sum_ns).max().unwrap();
    println!("{clock}: {inside_ns} <= {measured_ns} <= {around_ns} ns");
    let tolerance_ns = spin_ms * 100;
    let range = inside_ns - tolerance_ns..=around_ns + tolerance_ns;
    assert!(range.contains(&measured_ns), "{clock}: {measured_ns} is not in {range:?}");
}

#[test]
fn times_agree_with_the_system_s_clock_to_a_hundredth_of_a_percent() {
    ["auto", "monotonic", "fenced"].iter().for_each(|clock| check_spin(700, clock));
}

#[test]
#[ignore = "takes half a minute"]
fn times_agree_with_the_system_s_clock_over_ten_seconds() {
    ["auto", "monotonic", "fenced"].iter().for_each(|clock| check_spin(10_000, clock));
}
