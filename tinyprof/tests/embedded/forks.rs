//! Children created by `fork` that keep recording: their measurements are not their parent's.

use tinyprof_format::model::Losses;

use crate::program::visits as visits_in_profile;
use crate::program::{Scratch, names, text};
use crate::recover::{recovered, visits};

const PARENT: [(&str, u64); 4] =
    [("around", 1), ("around<before", 1), ("around<forks", 1), ("in_parent", 1)];

fn said(child_ends: &str, parent_ends: &str) -> (Scratch, String) {
    let place = Scratch::new();
    let mut command = place.command("test_forks");
    command.args([child_ends, parent_ends]).env("TINYPROF_OUT", "profile");
    let output = command
        .env("TINYPROF_SEGMENT_DIR", "segments")
        .env("TINYPROF_REPORT", "off")
        .output()
        .unwrap();
    assert_eq!(text(&output.stderr), "", "{child_ends}");
    (place, text(&output.stdout).to_owned())
}

#[test]
fn however_a_child_ends_the_profile_is_that_of_its_parent() {
    for child_ends in ["return", "exit", "_exit"] {
        let (place, said) = said(child_ends, "return");
        assert_eq!(said, "1 file as it was: true\nthe child ended with 0\n", "{child_ends}");
        assert_eq!(place.names(), ["profile.tprof", "segments"], "{child_ends}");
        let profile = place.read("profile.tprof");
        let expected = PARENT.map(|(path, visits)| (path.to_owned(), visits));
        assert_eq!(visits_in_profile(&profile), expected, "{child_ends}");
        assert_eq!(profile.manifest.losses, Losses::default(), "{child_ends}");
        assert!(names(&place.path().join("segments")).is_empty(), "{child_ends}");
    }
}

#[test]
fn however_a_child_ends_the_files_of_its_parent_stay_as_they_were() {
    for child_ends in ["return", "exit", "_exit"] {
        let (place, said) = said(child_ends, "abort");
        assert_eq!(said, "1 file as it was: true\nthe child ended with 0\n", "{child_ends}");
        let segments = place.path().join("segments");
        assert_eq!(names(&segments).len(), 1, "{child_ends}");
        let map = recovered(&segments);
        assert_eq!(map.callpaths.len(), PARENT.len(), "{child_ends}");
        PARENT.iter().for_each(|(path, times)| {
            assert_eq!(visits(&map, path), *times, "{child_ends} {path}");
        });
        assert_eq!(map.facts.losses, Losses::default(), "{child_ends}");
    }
}
