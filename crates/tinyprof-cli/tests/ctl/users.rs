//! Other users.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use crate::profiles::profile;
use crate::steered::said;
use crate::watched::Watched;
use crate::{HOLD, status};

/// The user `nobody`, and the group of that name.
const NOBODY: u32 = 65_534;

#[test]
fn other_users_neither_read_nor_command() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let shared = tempfile::tempdir().expect("a temporary directory");
    let readable = |path: &Path| {
        std::fs::set_permissions(path, Permissions::from_mode(0o755)).expect("it is ours");
    };
    readable(place.path());
    readable(shared.path());
    let command = shared.path().join("tinyprof");
    std::fs::copy(env!("CARGO_BIN_EXE_tinyprof"), &command).expect("a copy that others can start");
    let as_nobody = |arguments: &[&str]| {
        let mut command = Command::new(&command);
        command.args(arguments).arg(place.path().join("segments")).current_dir(&shared);
        command.env_remove("TINYPROF_SEGMENT_DIR").uid(NOBODY).gid(NOBODY).output()
    };
    if let Err(error) = as_nobody(&["--version"]) {
        eprintln!("skipped: only root becomes another user: {error}");
        return;
    }
    let mut program = Watched::start(place.path(), &[HOLD]);
    for arguments in [&["off"][..], &["on"], &["record"], &["hold"], &["release"], &["status"]] {
        let output = as_nobody(&[&["ctl"], arguments].concat()).expect("it starts");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains("ermission denied"), "{arguments:?}: {}", said(&output));
    }
    for arguments in [&["top", "--once"][..], &["save"]] {
        let output = as_nobody(arguments).expect("it starts");
        assert!(said(&output).contains("ermission denied"), "{arguments:?}: {}", said(&output));
        assert!(!said(&output).contains("step"), "{arguments:?}: {}", said(&output));
    }
    // Nor by any other program.
    let mut find = Command::new("find");
    find.arg(place.path().join("segments")).args(["-readable", "-o", "-writable"]);
    let found = find.uid(NOBODY).gid(NOBODY).output().expect("findutils");
    assert_eq!(String::from_utf8_lossy(&found.stdout), "", "nothing is theirs to read");
    program.step();
    let rank = &status(place.path())["ranks"][0];
    assert_eq!((&rank["off"], &rank["keeps_events"]), (&false.into(), &false.into()));
    program.end();
    let own = profile(place.path(), "job.tprof");
    assert!(own.ranks[0].commands.is_empty(), "none has come: {:?}", own.ranks[0].commands);
}
