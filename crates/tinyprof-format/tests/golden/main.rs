//! Frozen profiles of earlier versions: they must stay readable for ever.
//!
//! Before a new version is released, its profile is added by
//! `cargo test -p tinyprof-format --test golden -- --ignored freeze`.

mod made;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use made::{ranks, wide};
use tinyprof_format::file::{ProfileWriter, read_profile};
use tinyprof_format::model::{
    Edge, EdgeKey, FormatVersion, Precision, RankFacts, RunMetadata, RunState,
};

fn profile_path(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles").join(format!("format-{version}"))
}

#[test]
fn frozen_profiles_are_read() {
    for version in [
        "0.2",
        "0.3",
        "1.0",
        "1.0-8bit",
        "1.1",
        "1.1-8bit",
        "1.1-edges",
        "1.1-causes",
        "1.1-events",
        "1.1-messages",
        "1.1-commands",
    ] {
        let profile = read_profile(&profile_path(version)).expect("a frozen profile is read");
        let FormatVersion { major, minor } = profile.manifest.version;
        let precision = profile.manifest.precision;
        let ending = version.find('-').map_or("", |at| &version[at..]);
        assert_eq!(precision == Precision::EightBit, ending == "-8bit");
        assert_eq!(format!("{major}.{minor}{ending}"), version);
        for (rank, map) in ranks(profile.manifest.version, ending).iter().enumerate() {
            let map = map.in_precision(precision);
            let index = map.callpaths.index_by_id();
            for (at, callpath) in profile.callpaths.iter() {
                let expected = index.get(&callpath.id).map(|i| map.values[i.row()].clone());
                assert_eq!(
                    profile.values(at, rank),
                    &expected.unwrap_or_default(),
                    "{version}, {callpath:?}"
                );
            }
            assert_eq!(
                profile.ranks[rank],
                RankFacts { losses: map.losses(), ..map.facts.clone() }
            );
        }
    }
}

fn wide_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles-wide/format-1.1")
}

#[test]
fn a_wide_frozen_profile_is_read() {
    let profile = read_profile(&wide_path()).expect("a frozen profile is read");
    assert_eq!(profile.ranks.len(), 48);
    for (rank, map) in wide().iter().enumerate() {
        let exact = |edges: &BTreeMap<EdgeKey, Edge>| -> Vec<_> {
            let without = |edge: &Edge| Edge { sum_squares_ns2: 0.0, ..*edge };
            edges.iter().map(|(key, edge)| (*key, without(edge))).collect()
        };
        assert_eq!(exact(&profile.values[0][rank].edges), exact(&map.values[0].edges), "{rank}");
    }
}

#[test]
#[ignore = "adds the profile of the current version to the repository"]
fn freeze() {
    let FormatVersion { major, minor } = FormatVersion::USUAL;
    if !wide_path().exists() {
        let metadata =
            RunMetadata { user: "ada".into(), launchdate: 1_795_270_350, ..RunMetadata::default() };
        let written = ProfileWriter::new().with_metadata(metadata).with_ranks_per_part(48);
        let written = written.write(&wide_path(), &wide()).expect("it is written");
        std::fs::rename(written, wide_path()).expect("it is renamed");
    }
    for (precision, ending) in [
        (Precision::Exact, ""),
        (Precision::EightBit, "-8bit"),
        (Precision::Exact, "-edges"),
        (Precision::Exact, "-causes"),
        (Precision::Exact, "-events"),
        (Precision::Exact, "-messages"),
        (Precision::Exact, "-commands"),
    ] {
        let path = profile_path(&format!("{major}.{minor}{ending}"));
        if path.exists() {
            println!("{} is frozen", path.display());
            continue;
        }
        let metadata =
            RunMetadata { user: "ada".into(), launchdate: 1_795_270_350, ..RunMetadata::default() };
        let state = RunState { precision, ..RunState::default() };
        let written = ProfileWriter::new()
            .with_ranks_per_part(2)
            .with_metadata(metadata)
            .with_state(state)
            .write(&path, &ranks(FormatVersion::CURRENT, ending));
        std::fs::rename(written.expect("it is written"), path).expect("it is renamed");
    }
}
