//! Directories of profiles: their permissions, their location, and the remains of a removal.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tinyprof_format::file::{
    OutputFiles, OutputFormat, Permissions, ProfileWriter, read_profile, remove_profile,
    save_profile,
};
use tinyprof_format::model::EventMap;

/// The variable with the directory for the half of a test that runs as a user without privileges.
const DIRECTORY: &str = "TINYPROF_TEST_DIRECTORY";

/// A user who is neither root nor the owner of anything.
const NOBODY: u32 = 65_534;

fn write(target: &Path, files: OutputFiles) -> PathBuf {
    let ranks = [EventMap::default(), EventMap::default()];
    ProfileWriter::new().with_files(files).write(target, &ranks).expect("it is written")
}

fn modes(profile: &Path) -> Vec<u32> {
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    let entries =
        fs::read_dir(profile).expect("a directory").map(|entry| entry.expect("an entry").path());
    let mut modes: Vec<u32> = entries.map(|path| mode(&path)).collect();
    modes.dedup();
    modes.insert(0, mode(profile));
    modes
}

#[test]
fn a_profile_is_private_unless_the_umask_is_asked_for() {
    let scratch = tempfile::tempdir().expect("a directory");
    let path = |name: &str| scratch.path().join(name);
    // The umask of the process, as seen on any new file.
    fs::write(path("file"), "").expect("a file");
    fs::create_dir(path("directory")).expect("a directory");
    let mode =
        |name: &str| fs::metadata(path(name)).expect("it is there").permissions().mode() & 0o777;
    let umask = [mode("directory"), mode("file")];
    for format in [OutputFormat::Tprof, OutputFormat::Csv] {
        let private = write(&path("private"), OutputFiles::from(format));
        assert_eq!(modes(&private), [0o700, 0o600], "{format:?}");
        let open = write(&path("open"), OutputFiles { format, permissions: Permissions::Umask });
        assert_eq!(modes(&open), umask, "{format:?}");
    }
    let profile = read_profile(&path("private.tprof")).expect("a profile");
    for (permissions, expected) in
        [(Permissions::Private, [0o700, 0o600]), (Permissions::Umask, umask)]
    {
        let copy = save_profile(permissions, &path("copy"), &profile).expect("it is written");
        assert_eq!(modes(&copy), expected, "{permissions:?}");
    }
}

#[test]
fn a_directory_that_may_be_written_to_need_not_be_readable() {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        return in_unreadable(Path::new(&directory));
    }
    let scratch = tempfile::tempdir().expect("a directory");
    // Root may read everything, and another user may not start a program in root's home.
    let program = scratch.path().join("test");
    fs::copy(std::env::current_exe().expect("its path"), &program).expect("a copy");
    let directory = scratch.path().join("unreadable");
    fs::create_dir(&directory).expect("a directory");
    let open_to = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
    };
    open_to(scratch.path(), 0o711);
    open_to(&program, 0o755);
    open_to(&directory, 0o300);
    let mut command = Command::new(&program);
    let name = "a_directory_that_may_be_written_to_need_not_be_readable";
    command.args(["--exact", name]).env(DIRECTORY, &directory).current_dir("/");
    if fs::metadata("/proc/self").expect("Linux has it").uid() == 0 {
        std::os::unix::fs::chown(&directory, Some(NOBODY), Some(NOBODY)).expect("root may");
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().expect("it starts");
    open_to(&directory, 0o700);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let profile = read_profile(&directory.join("run-1.tprof")).expect("a profile");
    assert_eq!(profile.ranks.len(), 2);
    assert_eq!(fs::read_dir(&directory).expect("readable now").count(), 1);
}

fn in_unreadable(directory: &Path) {
    assert!(fs::read_dir(directory).is_err(), "{directory:?}");
    let first = write(&directory.join("run"), OutputFiles::default());
    let second = write(&directory.join("run"), OutputFiles::default());
    assert_eq!([&first, &second], [&directory.join("run.tprof"), &directory.join("run-1.tprof")]);
    remove_profile(&first).expect("its name can be taken away");
}

#[test]
fn a_removal_gives_up_the_name_first() {
    let scratch = tempfile::tempdir().expect("a directory");
    let ranks = [EventMap::default()];
    let target = scratch.path().join("run");
    let write = || ProfileWriter::new().write(&target, &ranks).expect("it is written");
    let path = write();
    // The remains of an interrupted removal.
    let rest = scratch.path().join(format!("run.tprof.removing-{}", std::process::id()));
    fs::create_dir(&rest).expect("a directory");
    remove_profile(&path).expect("it is removed");
    assert!(!path.exists() && rest.exists());
    assert_eq!(fs::read_dir(scratch.path()).expect("readable").count(), 1);
    // A profile that cannot be removed, because the manifest is a directory, still loses its final
    // name.
    let path = write();
    fs::remove_file(path.join("manifest.json")).expect("a file");
    fs::create_dir(path.join("manifest.json")).expect("a directory");
    let error = remove_profile(&path).expect_err("it is no file").to_string();
    assert!(error.contains(".removing-") && !path.exists(), "{error}");
    assert_eq!(write(), path, "the name is free");
}
