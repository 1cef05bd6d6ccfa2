//! Files of future versions: a reader skips unknown parts that it can do without, and reports those
//! that it cannot read.

use tinyprof_format::error::ReadError;
use tinyprof_format::file::{ProfileReader, ReadOptions};

use crate::files::{Files, constant, dictionary, facts, sections_of, whole};

/// Returns a profile of one rank and one callpath, with this section of times and one that no
/// version knows.
fn of_version(version: (u16, u16), times: &[u8]) -> Files {
    let unknown = (9, b"of a later version".to_vec());
    // No facts of clocks nor of processors, then what is not known.
    let facts = [facts(1), b"\0\0more facts".to_vec()].concat();
    let part = [(u32::MAX, facts), (0, times.to_vec()), unknown];
    let part = sections_of(version, b"TPRFPART", &[0, 1, 1], &part);
    let mut files = whole(1, 1, dictionary(1, "r"), part);
    let manifest = String::from_utf8(files["manifest.json"].clone()).expect("JSON is UTF-8");
    let (major, minor) = version;
    let newer =
        format!("\"version\":{{\"major\":{major},\"minor\":{minor}}},\"of_a_later_version\":[1]");
    let manifest = manifest.replace("\"version\":{\"major\":1,\"minor\":0}", &newer);
    assert!(manifest.contains(&newer), "{manifest}");
    files.insert("manifest.json", manifest.into_bytes());
    files
}

fn times(sums: &[u8]) -> Vec<u8> {
    [&[16][..], &constant(1), &constant(0), sums, &[0]].concat()
}

#[test]
fn a_newer_minor_version_is_read_without_what_is_not_known() {
    let files = of_version((1, 9), &times(&constant(5)));
    let profile = ReadOptions::default().read_of(&files).expect("it is read");
    assert_eq!(profile.values[0][0].inclusive_ns(), 5);
    let reader = ProfileReader::of_source(files, ReadOptions::default()).expect("it is opened");
    let (index, _) = reader.callpaths().iter().next().expect("a callpath");
    assert_eq!(reader.callpath(index).expect("it is read")[0].inclusive_ns(), 5);
    for known in [(1, 0), (1, 1)] {
        let same = of_version(known, &times(&constant(5)));
        assert!(ReadOptions::default().read_of(&same).is_err(), "of a known version, it is damage");
    }
}

#[test]
fn an_encoding_of_a_newer_minor_version_says_what_to_do() {
    let files = of_version((1, 9), &times(&[99, 1, 2, 3]));
    let error = ReadOptions::default().read_of(&files).expect_err("it is not known").to_string();
    for expected in
        ["part-00000", "tag 99", "format version 1.9", "this reader knows 1.2", "update tinyprof"]
    {
        assert!(error.contains(expected), "{expected:?} in {error}");
    }
    let salvage = ReadOptions::default().salvage_of(&files).expect("the rest is read");
    assert_eq!(salvage.manifest.salvage.map(|salvage| salvage.times_lost), Some(1));
}

#[test]
fn a_newer_major_version_is_refused_whichever_file_says_so() {
    let refused = |files: &Files| {
        let error = ReadOptions::default().read_of(files).expect_err("it is newer");
        assert!(matches!(error, ReadError::NewerVersion { found: (2, 0), .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("knows up to 1.2") && text.contains("update tinyprof"), "{text}");
        assert!(ReadOptions::default().salvage_of(files).is_err());
    };
    let newer = of_version((2, 0), &times(&constant(5)));
    refused(&newer);
    let mut part_alone = of_version((1, 0), &times(&constant(5)));
    part_alone.insert("part-00000", newer["part-00000"].clone());
    let crc32 = |files: &Files| crc32fast::hash(&files["part-00000"]).to_string();
    let manifest = String::from_utf8(part_alone["manifest.json"].clone()).expect("JSON is UTF-8");
    let old = crc32(&of_version((1, 0), &times(&constant(5))));
    part_alone.insert("manifest.json", manifest.replace(&old, &crc32(&newer)).into_bytes());
    refused(&part_alone);
}
