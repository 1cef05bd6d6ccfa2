//! Directories and file systems that take no segment: the program records in private memory, and
//! its profile says why.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use tinyprof_format::model::{Losses, Profile};
use tinyprof_report::{Report, TextOptions};

use crate::endings::check_untouched;
use crate::failures::in_mount_namespace;
use crate::program::{Scratch, check_visits, names, text, visits};

/// Returns the note about private memory in the table of a profile, on one line.
fn note(profile: &Profile) -> String {
    let table = Report::of_profile(profile).to_text(&TextOptions::default());
    let from = table.find("recorded in private memory").expect("there is a note");
    table[from..].split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Checks that the program records even if it cannot have a file, and that its user and its profile
/// are told the reason.
fn check_refused(directory: &str, reason: &str, prepare: impl FnOnce(&Path)) {
    let place = Scratch::new();
    prepare(place.path());
    let mut command = place.command("test_endings");
    command.env("TINYPROF_SEGMENT_DIR", directory).env("TINYPROF_OUT", "profile");
    let output = command.env("TINYPROF_REPORT", "off").output().unwrap();
    check_untouched(&output);
    let said = text(&output.stderr);
    let is_one_line = said.lines().count() == 1 && said.starts_with("tinyprof: ");
    assert!(is_one_line && said.contains("TINYPROF_SEGMENT_DIR="), "{said}");
    assert!(said.contains(reason), "{said}");
    let profile = place.read("profile.tprof");
    check_visits(&profile, &[("work", 1), ("work<inner", 1), ("work<inner<leaf", 1)]);
    assert_eq!(profile.manifest.losses, Losses { segments_not_mapped: 1, ..Losses::default() });
    let note = note(&profile);
    assert!(note.contains(reason) && note.contains("would be lost"), "{note}");
}

#[test]
fn without_a_directory_of_ones_own_memory_is_private_and_the_reason_is_told() {
    check_refused("missing/segments", "No such file or directory", |_| ());
    check_refused("/proc/segments", "No such file or directory", |_| ());
    check_refused("file", "it is not a directory", |place| {
        fs::write(place.join("file"), "kept").unwrap();
    });
    check_refused("link", "it is not a directory", |place| {
        fs::create_dir(place.join("there")).unwrap();
        fs::set_permissions(place.join("there"), Permissions::from_mode(0o700)).unwrap();
        symlink("there", place.join("link")).unwrap();
    });
    for mode in [0o775, 0o770, 0o702] {
        check_refused("open", "others may write to it", |place| {
            fs::create_dir(place.join("open")).unwrap();
            fs::set_permissions(place.join("open"), Permissions::from_mode(mode)).unwrap();
        });
    }
}

#[test]
fn others_may_look_into_a_directory_of_ones_own() {
    for mode in [0o755, 0o750, 0o711, 0o700] {
        let place = Scratch::new();
        let directory = place.path().join("own");
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, Permissions::from_mode(mode)).unwrap();
        let mut command = place.command("test_killed");
        File::create(place.path().join("counters")).unwrap().set_len(32).unwrap();
        command.args(["counters", "1", "5", "abort"]).env("TINYPROF_SEGMENT_DIR", "own");
        assert_eq!(text(&command.output().unwrap().stderr), "", "{mode:o}");
        let file = directory.join(&names(&directory)[0]);
        let mode_of_file = fs::metadata(file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode_of_file, 0o600, "{mode:o}");
    }
}

/// Returns the most KiB that a script sees in use in the directory `full`, of the given size, while
/// the program runs there.
fn run_in(size: &str) -> (Scratch, u64) {
    let place = Scratch::new();
    fs::create_dir(place.path().join("full")).unwrap();
    File::create(place.path().join("counters")).unwrap().set_len(32).unwrap();
    let script = format!(
        r#"mount -t tmpfs -o size={size},mode=700 tinyprof-test full || exit 99
        export TINYPROF_SEGMENT_DIR=full TINYPROF_OUT=profile TINYPROF_REPORT=off
        "$0" counters 1 6000 abort
        df -k --output=used full | tail -n 1 > used
        rm -f full/*
        "$0" counters 1 6000
        code=$?
        ls -A full > listing
        exit $code"#
    );
    let output = in_mount_namespace(&place, &script, "test_killed");
    assert_eq!(output.status.code(), Some(0), "{size}: {output:?}");
    assert!(!text(&output.stderr).contains("tinyprof:"), "{size}: {output:?}");
    let listing = fs::read_to_string(place.path().join("listing")).unwrap();
    assert_eq!(listing, "", "nothing is left behind");
    let used = fs::read_to_string(place.path().join("used")).unwrap();
    (place, used.trim().parse().unwrap())
}

#[test]
fn half_of_a_small_file_system_stays_free_and_the_rest_of_the_data_is_in_private_memory() {
    // The first size is too small for any file, the others for all of it.
    for (size, total, least) in [("64k", 64, 0), ("500k", 500, 0), ("600k", 600, 256)] {
        let (place, used) = run_in(size);
        assert!((least..=total / 2).contains(&used), "{used} of {total} KiB are in use");
        let profile = place.read("profile.tprof");
        let losses = profile.manifest.losses;
        assert_eq!((losses.segments_not_mapped, losses.visits_not_recorded), (1, 0), "{size}");
        let visits = visits(&profile);
        assert!(visits.contains(&("execution<step".to_owned(), 24_000)), "{visits:?}");
        let note = note(&profile);
        assert!(note.contains(&format!("of the {total} KiB of its file system")), "{note}");
    }
}
