//! The undamaged parts of a profile are read, whatever the damage, and losses are counted.

use std::fs;
use std::path::{Path, PathBuf};

use tinyprof_format::error::ReadError;
use tinyprof_format::file::{Permissions, ReadOptions, read_profile, save_profile};
use tinyprof_format::model::{CallpathValues, Profile, Salvage};

/// A copy of a frozen profile: five callpaths and two with exclusive sums, three ranks in two
/// parts.
struct Copy {
    scratch: tempfile::TempDir,
}

impl Copy {
    fn of(version: &str) -> Self {
        let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles").join(version);
        let scratch = tempfile::tempdir().expect("a temporary directory");
        for file in ["manifest.json", "callpaths", "part-00000", "part-00001"] {
            fs::copy(frozen.join(file), scratch.path().join(file)).expect("the file is copied");
        }
        Self { scratch }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn whole(&self) -> Profile {
        read_profile(self.scratch.path()).expect("it is read")
    }

    fn salvaged(&self) -> (Profile, Salvage) {
        let profile =
            ReadOptions::default().salvage(self.scratch.path()).expect("something is read");
        let salvage = profile.manifest.salvage.expect("it says what was lost");
        assert_eq!(salvage == Salvage::default(), profile.manifest.incomplete_because.is_none());
        (profile, salvage)
    }
}

/// Checks that values are either those of the original profile, times and metrics apart, or lost.
/// Returns true if none of them are lost.
fn is_whole(found: &CallpathValues, whole: &CallpathValues) -> bool {
    let times = found.executions == whole.executions && found.series == whole.series;
    let no_times = found.executions.is_empty() && found.series.is_empty();
    assert!(times || no_times, "{found:?} is not {whole:?}");
    assert!(
        found.metrics == whole.metrics || found.metrics.is_empty(),
        "{found:?} is not {whole:?}"
    );
    assert!(
        found.messages == whole.messages || found.messages.is_empty(),
        "{found:?} is not {whole:?}"
    );
    assert!(found.edges == whole.edges || found.edges.is_empty(), "{found:?} is not {whole:?}");
    times
        && found.metrics == whole.metrics
        && found.messages == whole.messages
        && found.edges == whole.edges
}

fn compare(found: &Profile, whole: &Profile, salvage: &Salvage) {
    assert_eq!((&found.callpaths, found.ranks.len()), (&whole.callpaths, whole.ranks.len()));
    let mut lost = 0;
    for (found, whole) in found.values.iter().flatten().zip(whole.values.iter().flatten()) {
        lost += u64::from(!is_whole(found, whole));
    }
    let counted = sections_of_values(salvage) + salvage.bytes_lost;
    assert!(counted > 0 || lost == 0, "{lost} values are lost, but {salvage:?}");
    let facts =
        found.ranks.iter().zip(&whole.ranks).filter(|(found, whole)| found != whole).count();
    let without = salvage.ranks_without_facts;
    assert_eq!(u32::try_from(facts), Ok(without + salvage.ranks_lost), "{salvage:?}");
}

/// Returns the number of lost sections of callpaths.
fn sections_of_values(salvage: &Salvage) -> u64 {
    let Salvage { times_lost, metrics_lost, communication_lost, .. } = salvage;
    times_lost + metrics_lost + communication_lost
}

#[test]
fn a_whole_profile_comes_back_as_it_is() {
    for version in [
        "format-0.2",
        "format-0.3",
        "format-1.0",
        "format-1.0-8bit",
        "format-1.1",
        "format-1.1-edges",
        "format-1.1-events",
        "format-1.1-messages",
    ] {
        let copy = Copy::of(version);
        let (mut found, salvage) = copy.salvaged();
        assert_eq!(salvage, Salvage::default());
        found.manifest.salvage = None;
        assert!(found == copy.whole(), "{version}");
    }
}

#[test]
fn a_flipped_byte_costs_one_section_and_what_depends_on_it() {
    let copy = Copy::of("format-1.1-edges");
    let whole = copy.whole();
    let path = copy.file("part-00000");
    let bytes = fs::read(&path).expect("the part");
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        fs::write(&path, &damaged).expect("it is written");
        if at == 9 || at == 11 {
            // The high bytes of the version: the file seems to have a later version.
            continue;
        }
        let Ok(found) = ReadOptions::default().salvage(copy.scratch.path()) else {
            assert!((8..12).contains(&at), "byte {at}");
            continue;
        };
        let salvage = found.manifest.salvage.expect("it says what was lost");
        compare(&found, &whole, &salvage);
        let of_ranks = salvage.ranks_without_facts / 2;
        let sections = sections_of_values(&salvage) + u64::from(of_ranks);
        // A callpath whose sums are stored as exclusive times is lost if its child is lost.
        assert!(sections <= 2 && salvage.ranks_lost == 0, "byte {at}: {salvage:?}");
    }
}

#[test]
fn a_part_that_was_cut_off_gives_the_sections_before_the_cut() {
    let copy = Copy::of("format-1.0");
    let whole = copy.whole();
    let path = copy.file("part-00000");
    let bytes = fs::read(&path).expect("the part");
    let mut read_before = 0;
    for cut in 0..bytes.len() {
        fs::write(&path, &bytes[..cut]).expect("it is cut");
        let (found, salvage) = copy.salvaged();
        compare(&found, &whole, &salvage);
        assert_ne!(salvage, Salvage::default(), "cut at {cut}");
        let read =
            found.values.iter().map(|ranks| &ranks[0]).filter(|values| !values.is_absent()).count();
        assert!(read >= read_before, "cut at {cut}");
        read_before = read;
    }
    assert_eq!(
        read_before, 6,
        "all callpaths of rank 0, once the end of the last section is there"
    );
}

#[test]
fn a_missing_part_costs_its_ranks_and_no_others() {
    let copy = Copy::of("format-1.0");
    let whole = copy.whole();
    fs::remove_file(copy.file("part-00001")).expect("it is removed");
    let (found, salvage) = copy.salvaged();
    compare(&found, &whole, &salvage);
    let lost = Salvage { parts_lost: 1, ranks_lost: 1, bytes_lost: 686, ..Salvage::default() };
    assert_eq!(salvage, lost);
    assert!(found.values.iter().all(|ranks| ranks[2].is_absent()));
    let because = found.manifest.incomplete_because.expect("a reason");
    assert_eq!(
        because,
        "it was salvaged from a damaged profile, without 1 rank, 686 bytes that cannot be read"
    );
}

#[test]
fn without_a_manifest_the_files_tell() {
    let copy = Copy::of("format-1.0");
    let whole = copy.whole();
    let manifest = copy.file("manifest.json");
    for content in [None, Some("{\"format\": \"tinyprof\", \"ver")] {
        fs::remove_file(&manifest).expect("it is removed");
        if let Some(content) = content {
            fs::write(&manifest, content).expect("it is written");
        }
        let (found, salvage) = copy.salvaged();
        assert_eq!(salvage, Salvage { manifest_lost: true, ..Salvage::default() });
        assert_eq!((&found.values, &found.ranks), (&whole.values, &whole.ranks));
        let (found, whole) = (&found.manifest, &whole.manifest);
        assert_eq!((found.executions, found.ranks), (8, whole.ranks));
        assert_eq!(
            (found.losses.visits_open, found.peak_memory),
            (whole.losses.visits_open, whole.peak_memory)
        );
        assert_eq!(found.metadata.hostlist, whole.metadata.hostlist);
        fs::write(&manifest, "").expect("it is written");
    }
    fs::remove_file(copy.file("part-00000")).expect("it is removed");
    let (found, salvage) = copy.salvaged();
    assert_eq!(salvage, Salvage { manifest_lost: true, ranks_lost: 2, ..Salvage::default() });
    assert_eq!((found.ranks.len(), found.values[0][0].is_absent()), (3, true));
}

#[test]
fn without_a_dictionary_callpaths_have_numbers() {
    let copy = Copy::of("format-1.0");
    let whole = copy.whole();
    let path = copy.file("callpaths");
    let bytes = fs::read(&path).expect("the dictionary");
    fs::remove_file(&path).expect("it is removed");
    let (found, salvage) = copy.salvaged();
    assert_eq!(salvage.callpaths_unnamed, 7);
    // The sums of `outer` are stored without those of `inner`, and without the dictionary nothing
    // shows that `inner` is its child.
    assert_eq!(salvage.times_lost, 2, "one in each part");
    for (row, (found, whole)) in found.values.iter().zip(&whole.values).enumerate() {
        let is_outer = whole[0].executions.len() == 8 && row < 2;
        assert!(is_outer || found == whole, "row {row}");
    }
    assert_eq!(found.callpaths.rows()[3].region.name, "[callpath 3]");
    // Data that only some regions have is in a section of its own.
    let constants = bytes.windows(3).rposition(|bytes| bytes == b"tag").expect("a constant");
    let mut damaged = bytes.clone();
    damaged[constants] = b'T';
    fs::write(&path, &damaged).expect("it is written");
    let (found, salvage) = copy.salvaged();
    assert_eq!(salvage, Salvage { constants_lost: true, ..Salvage::default() });
    assert_eq!(found.values, whole.values);
    fs::write(&path, &bytes[..bytes.len() - 30]).expect("it is cut");
    let (found, salvage) = copy.salvaged();
    assert_eq!((salvage, found.callpaths), (Salvage::default(), whole.callpaths));
}

#[test]
fn a_part_of_another_profile_is_not_taken() {
    let copy = Copy::of("format-1.0");
    fs::copy(copy.file("part-00001"), copy.file("part-00000")).expect("it is copied");
    let (found, salvage) = copy.salvaged();
    assert_eq!((salvage.ranks_lost, salvage.parts_lost), (2, 1));
    assert!(found.values[0][0].is_absent() && !found.values[0][2].is_absent());
}

#[test]
fn what_was_salvaged_is_a_profile_that_says_so() {
    let copy = Copy::of("format-1.0");
    fs::remove_file(copy.file("part-00001")).expect("it is removed");
    let (found, salvage) = copy.salvaged();
    let written =
        save_profile(Permissions::Private, &copy.file("saved"), &found).expect("it is written");
    let read = read_profile(&written).expect("it is read");
    assert_eq!((&read.values, read.manifest.salvage), (&found.values, Some(salvage)));
}

#[test]
fn nothing_is_made_of_nothing() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let error = ReadOptions::default().salvage(scratch.path()).expect_err("there is nothing");
    assert!(matches!(error, ReadError::NoManifest { unfinished: false, .. }), "{error}");
    let copy = Copy::of("format-1.0");
    let manifest = fs::read_to_string(copy.file("manifest.json")).expect("the manifest");
    fs::write(copy.file("manifest.json"), manifest.replace("\"major\": 1", "\"major\": 2"))
        .expect("written");
    let error = ReadOptions::default().salvage(copy.scratch.path()).expect_err("a newer version");
    assert!(matches!(error, ReadError::NewerVersion { .. }), "{error}");
}
