//! A check lists every damaged section, and does not report an undamaged profile.

use std::fs;
use std::path::{Path, PathBuf};

use tinyprof_format::error::ReadError;
use tinyprof_format::file::{
    Check, Damage, Permissions, ReadOptions, read_manifest, read_profile, save_profile,
};
use tinyprof_format::text::read_text;

const TEXT: &str = "id,parent,tag,is_loop,times\n\
    main,null,null,0,0.5|0.25|0.125\n\
    main<a,main,IO,0,0.1|0.2|0.1\n\
    main<b,main,null,1,0.1+0.2|0.01+0.02+0.03|\n";

fn written(scratch: &Path) -> PathBuf {
    let profile = read_text(TEXT.as_bytes()).expect("it is read").profile;
    save_profile(Permissions::Private, &scratch.join("run"), &profile).expect("it is written")
}

fn flip(file: &Path, at: usize) {
    let mut bytes = fs::read(file).expect("the file is there");
    bytes[at] ^= 0x10;
    fs::write(file, bytes).expect("the file is written");
}

fn all_damage(profile: &Path) -> Vec<(String, Damage)> {
    let check = ReadOptions::default().check(profile).expect("the manifest is whole");
    let damage: Vec<_> = check
        .files
        .iter()
        .flat_map(|f| f.damage.iter().map(|d| (f.file.clone(), d.clone())))
        .collect();
    assert_eq!(check.is_whole(), damage.is_empty() && check.contradiction.is_none());
    damage
}

#[test]
fn a_whole_profile_is_whole() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let profile = written(scratch.path());
    let check = ReadOptions::default().check(&profile).expect("it is checked");
    assert!(check.is_whole(), "{check:?}");
    let sections: Vec<_> = check.files.iter().map(|f| (f.file.as_str(), f.sections)).collect();
    assert_eq!(sections, [("callpaths", 2), ("part-00000", 4)]);
    for version in ["0.1", "0.2", "0.3", "1.0", "1.0-8bit"] {
        let frozen = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/profiles")
            .join(format!("format-{version}"));
        assert!(
            ReadOptions::default().check(&frozen).expect("it is checked").is_whole(),
            "{version}"
        );
    }
}

#[test]
fn every_damaged_section_is_listed_and_named() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let profile = written(scratch.path());
    let part = profile.join("part-00000");
    let length = fs::metadata(&part).expect("the part").len();
    // The last section ends where the index begins; the index has an entry of 24 bytes for each of
    // 4 sections, and the footer.
    flip(&part, usize::try_from(length).expect("a small file") - 5 * 24 - 1);
    // The first section begins after the header, of 28 and 16 bytes, and its frame.
    flip(&part, 48);
    flip(&profile.join("callpaths"), 36);
    let damage = all_damage(&profile);
    let sections: Vec<_> =
        damage.iter().map(|(file, d)| (file.as_str(), d.section.as_deref())).collect();
    // The names of callpaths are unknown without their table.
    assert_eq!(
        sections,
        [
            ("callpaths", Some("the callpath table")),
            ("part-00000", Some("what the ranks say of themselves")),
            ("part-00000", Some("the times of callpath 2")),
        ]
    );
    assert_eq!(damage[1].1.offset, Some(48));
    flip(&profile.join("callpaths"), 36);
    let damage = all_damage(&profile);
    let named = damage[1].1.section.as_deref().expect("a section");
    assert!(["the times of main<a", "the times of main<b"].contains(&named), "{named}");
}

#[test]
fn what_a_reader_refuses_a_check_finds() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let profile = written(scratch.path());
    for name in ["callpaths", "part-00000"] {
        let file = profile.join(name);
        let bytes = fs::read(&file).expect("the file");
        for at in 0..bytes.len() {
            flip(&file, at);
            assert!(read_profile(&profile).is_err(), "{name}, byte {at}");
            assert!(!all_damage(&profile).is_empty(), "{name}, byte {at}");
            flip(&file, at);
        }
        for cut in 0..bytes.len() {
            fs::write(&file, &bytes[..cut]).expect("the file is cut");
            let damage = all_damage(&profile);
            assert!(damage[0].1.reason.contains("cut off"), "{name}, cut at {cut}: {damage:?}");
        }
        fs::remove_file(&file).expect("the file is removed");
        assert!(all_damage(&profile)[0].1.reason.contains("cannot be read"));
        fs::write(&file, &bytes).expect("the file is there again");
    }
    assert_eq!(all_damage(&profile), []);
}

#[test]
fn files_that_are_whole_may_still_contradict_each_other() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let profile = written(scratch.path());
    let manifest = profile.join("manifest.json");
    let json = fs::read_to_string(&manifest).expect("the manifest");
    fs::write(&manifest, json.replace("\"ranks\": 3", "\"ranks\": 4")).expect("it is written");
    let check = ReadOptions::default().check(&profile).expect("it is checked");
    assert_eq!(all_damage(&profile), []);
    let contradiction = check.contradiction.expect("a contradiction");
    assert!(contradiction.contains("3 ranks"), "{contradiction}");
    fs::write(&manifest, json.replace("\"part-00000\"", "\"../part-00000\""))
        .expect("it is written");
    assert!(all_damage(&profile)[0].1.reason.contains("not the name of a file inside"));
}

#[test]
fn a_part_of_another_profile_is_told_by_its_checksum() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let profile = written(scratch.path());
    let path = profile.join("manifest.json");
    let mut manifest = read_manifest(&profile).expect("the manifest");
    manifest.parts[0].crc32 ^= 1;
    fs::write(&path, serde_json::to_vec(&manifest).expect("JSON")).expect("it is written");
    let damage = all_damage(&profile);
    assert_eq!(damage.len(), 1);
    assert!(damage[0].1.reason.contains("belongs to another profile"), "{damage:?}");
}

#[test]
fn without_a_manifest_there_is_nothing_to_check() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let profile = written(scratch.path());
    fs::remove_file(profile.join("manifest.json")).expect("it is removed");
    let error =
        ReadOptions::default().check(&profile).expect_err("nothing says what there should be");
    assert!(matches!(error, ReadError::NoManifest { unfinished: true, .. }), "{error}");
}

#[test]
fn a_profile_that_is_too_large_for_the_reader_is_not_damaged() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let profile = written(scratch.path());
    let mut limit = 1;
    let mut refused = 0;
    // The limit may be too small for the manifest, a file, the callpaths or the values.
    while let Err(error) = ReadOptions::new().with_memory_bytes(limit).check(&profile) {
        assert!(matches!(error, ReadError::OverLimit { .. }), "{limit} bytes: {error}");
        assert!(error.to_string().contains("--memory"), "{limit} bytes: {error}");
        refused += 1;
        limit += limit / 8 + 1;
    }
    assert!(refused > 10, "{refused} limits were too small");
    // Damage is reported, and also that not everything was checked.
    flip(&profile.join("part-00000"), 60);
    let damaged = |limit| ReadOptions::new().with_memory_bytes(limit).check(&profile).ok();
    let partly = (1..limit).filter_map(damaged).filter(|check| check.over_limit.is_some());
    let partly: Vec<Check> = partly.collect();
    assert!(!partly.is_empty());
    assert!(partly.iter().all(|check| check.damage_count() > 0 && !check.is_whole()), "{partly:?}");
}
