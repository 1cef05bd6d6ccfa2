//! The phases of a program that is not rebuilt, and the classes of its ranks.

use std::path::Path;

use serde_json::Value;
use tinyprof_format::file::{Permissions, read_manifest, save_profile};
use tinyprof_format::model::{Activity, Cause, DelayCost, Profile};
use tinyprof_structure::Structure;

use crate::support::{compile, profiled};

fn phases(ranks: usize, arguments: &[&str], with_times: bool) -> Value {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("wave.c", directory.path());
    let arguments: Vec<&Path> = arguments.iter().map(Path::new).collect();
    let profile = profiled(&program, &arguments, ranks, directory.path(), "messages");
    let structure = Structure::of_profile(&profile, with_times);
    structure.to_json("wave")["phases"].clone()
}

/// Returns the ranks of the classes of a phase.
fn classes(phase: &Value) -> Vec<&str> {
    let classes = phase["classes"].as_array().expect("a phase has classes");
    classes.iter().map(|class| class["ranks"].as_str().expect("text")).collect()
}

#[test]
fn a_wave_has_three_phases_and_borders() {
    for ranks in [4, 8] {
        let phases = phases(ranks, &["50"], false);
        let found: Vec<Vec<&str>> =
            phases.as_array().expect("a list").iter().map(classes).collect();
        let last = ranks - 1;
        let (inner, border) = (format!("1-{}", last - 1), format!("{last}"));
        let others = format!("1-{last}");
        let expected: [&[&str]; 3] = [&["0", &others], &["0", &inner, &border], &["0", &others]];
        assert_eq!(found, expected, "{ranks} ranks: {phases:#}");
        let peers: Vec<String> = phases[1]["classes"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|class| class["peers"].to_string())
            .collect();
        assert_eq!(peers, ["[1]", "[-1,1]", "[-1]"]);
    }
}

#[test]
fn a_slow_rank_is_a_class_of_its_own() {
    let phases = phases(6, &["50", "2"], true);
    let found = classes(&phases[1]);
    assert!(found.contains(&"2"), "{phases:#}");
}

#[test]
fn a_loop_of_four_calls_takes_few_bytes_however_often_it_runs() {
    let found = ["200", "20000"].map(|iterations| {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let program = compile("loop.c", directory.path());
        let mut profile =
            profiled(&program, &[Path::new(iterations)], 2, directory.path(), "messages");
        // How often ranks have no processor depends on what else runs.
        let is_lasting = |cost: &DelayCost| {
            !matches!(cost.cause, Cause::Activity { number: Activity::NO_PROCESSOR, .. })
        };
        let causes = profile.ranks.iter_mut().filter_map(|rank| rank.causes.as_mut());
        causes.for_each(|causes| causes.costs.retain(is_lasting));
        let bytes = |profile: &Profile, name: &str| -> u64 {
            let target = directory.path().join(name);
            let saved =
                save_profile(Permissions::Private, &target, profile).expect("it is written");
            read_manifest(&saved).expect("it is read").parts.iter().map(|part| part.bytes).sum()
        };
        let all = bytes(&profile, "with-causes");
        profile.ranks.iter_mut().for_each(|rank| rank.causes = None);
        let of_events = bytes(&profile, "without-causes");
        let edges: usize = profile.values.iter().flatten().map(|values| values.edges.len()).sum();
        (edges, of_events / 2, (all - of_events) / 2)
    });
    let [few, many] = found;
    // The same edges, whose numbers have more digits.
    assert_eq!(few.0, many.0, "{found:?}");
    assert!(few.1 <= 768 && many.1 <= 768, "{found:?} a rank");
    // Why the ranks have waited: as many entries as there are causes.
    assert!(few.2 <= 512 && many.2 <= 512, "{found:?} a rank");
}

#[test]
fn a_wave_takes_at_most_8_kb_a_rank() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("wave.c", directory.path());
    let profile = profiled(&program, &[Path::new("50")], 4, directory.path(), "messages");
    let parts: u64 = profile.manifest.parts.iter().map(|part| part.bytes).sum();
    let bytes = parts + profile.manifest.callpaths.bytes;
    assert!(bytes <= 4 * 8_192, "{bytes} bytes of 4 ranks");
    println!("{bytes} bytes of 4 ranks, with {} of names", profile.manifest.callpaths.bytes);
}
