//! The directories of segments: their names, and who may use them.

use std::fmt;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The environment variable that sets another directory for segments.
pub const DIRECTORY_VARIABLE: &str = "TINYPROF_SEGMENT_DIR";

/// The directory that contains the default directories of all users.
const PARENT: &str = "/dev/shm";
/// The number of other names that are tried if the first one is taken by somebody else.
const OTHER_NAMES_MAX: u32 = 999;

/// The reason why a directory, or its file system, takes no segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It is something else, perhaps a link to a directory.
    NotADirectory,
    /// It belongs to this user.
    OwnedBy(u32),
    /// Others may write to it, by this mode.
    WritableByOthers(u32),
    /// The file system of `total_bytes` would have less than `kept_bytes` free.
    Room {
        /// The size of the file system.
        total_bytes: u64,
        /// The bytes that stay free.
        kept_bytes: u64,
    },
    /// The program may not open files any more.
    Sandbox,
    /// The system's error number.
    System(i32),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NotADirectory => f.write_str("it is not a directory (links are not followed)"),
            Self::OwnedBy(user) => write!(f, "it belongs to user {user}"),
            Self::WritableByOthers(mode) => {
                write!(f, "others may write to it (mode {:04o})", mode & 0o7777)
            }
            Self::Room { total_bytes, kept_bytes } => write!(
                f,
                "of the {} KiB of its file system, {} stay free for MPI and other programs",
                total_bytes >> 10,
                kept_bytes >> 10
            ),
            Self::Sandbox => f.write_str("the program runs in a seccomp sandbox"),
            Self::System(number) => io::Error::from_raw_os_error(number).fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<&io::Error> for Refusal {
    fn from(error: &io::Error) -> Self {
        // Every error here comes from a system call.
        Self::System(error.raw_os_error().unwrap_or_default())
    }
}

impl Refusal {
    /// Returns the reason why `user_id` may not keep segments in a directory of this owner and
    /// mode, if there is one. Others may look at its names, as their files are private anyway.
    #[must_use]
    pub fn of(owner: u32, mode: u32, user_id: u32) -> Option<Self> {
        if owner != user_id {
            return Some(Self::OwnedBy(owner));
        }
        (mode & 0o022 != 0).then_some(Self::WritableByOthers(mode))
    }
}

/// Returns the first name of the directory of a user's segments if [`DIRECTORY_VARIABLE`] is not
/// set.
#[must_use]
pub fn default_directory(user_id: u32) -> PathBuf {
    default_in(Path::new(PARENT), user_id)
}

fn default_in(parent: &Path, user_id: u32) -> PathBuf {
    parent.join(format!("tinyprof-{user_id}"))
}

/// Returns the directory for the segments of this user's processes, and creates it if it is
/// missing.
///
/// It is [`default_directory`], or, if that is not this user's alone, the first name of
/// `tinyprof-UID-1`, `tinyprof-UID-2`, ... that is: the same one in all processes of the user, as
/// nobody else can remove or replace it.
///
/// # Errors
/// The reason against the first of them if there is none.
pub fn usable_directory(user_id: u32) -> Result<PathBuf, Refusal> {
    usable_in(Path::new(PARENT), user_id)
}

fn usable_in(parent: &Path, user_id: u32) -> Result<PathBuf, Refusal> {
    let first = default_in(parent, user_id);
    let refusal = match create_directory(&first, user_id) {
        Ok(()) => return Ok(first),
        // Another name would not help.
        Err(refusal @ Refusal::System(_)) => return Err(refusal),
        Err(refusal) => refusal,
    };
    let others = (1..=OTHER_NAMES_MAX).map(|number| parent.join(numbered(user_id, number)));
    for other in others {
        match create_directory(&other, user_id) {
            Ok(()) => return Ok(other),
            Err(Refusal::System(_)) => break,
            Err(_) => {}
        }
    }
    Err(refusal)
}

fn numbered(user_id: u32, number: u32) -> String {
    format!("tinyprof-{user_id}-{number}")
}

/// Creates a directory for segments, with access for its user alone, unless it exists. Only its
/// user may be able to write to it.
///
/// # Errors
/// The reason why it cannot be used.
pub fn create_directory(directory: &Path, user_id: u32) -> Result<(), Refusal> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err((&error).into()),
        _ => {}
    }
    let found = fs::symlink_metadata(directory).map_err(|error| Refusal::from(&error))?;
    if !found.is_dir() {
        return Err(Refusal::NotADirectory);
    }
    Refusal::of(found.uid(), found.mode(), user_id).map_or(Ok(()), Err)
}

/// Returns all directories where this user's processes may have segments if [`DIRECTORY_VARIABLE`]
/// is not set.
///
/// They are those names of [`usable_directory`] that exist and belong to the user, or, if there is
/// none, [`default_directory`].
#[must_use]
pub fn directories(user_id: u32) -> Vec<PathBuf> {
    directories_in(Path::new(PARENT), user_id)
}

fn directories_in(parent: &Path, user_id: u32) -> Vec<PathBuf> {
    let first = default_in(parent, user_id);
    let prefix = format!("tinyprof-{user_id}-");
    let number_of = |name: &str| {
        let number = name.strip_prefix(&prefix)?.parse().ok()?;
        (name == numbered(user_id, number)).then_some(number)
    };
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let mut numbers: Vec<u32> =
        entries.filter_map(|entry| number_of(entry.file_name().to_str()?)).collect();
    numbers.sort_unstable();
    let names = numbers.into_iter().map(|number| parent.join(numbered(user_id, number)));
    let is_own = |directory: &PathBuf| {
        fs::symlink_metadata(directory).is_ok_and(|found| found.is_dir() && found.uid() == user_id)
    };
    let mut all: Vec<PathBuf> =
        std::iter::once(first.clone()).chain(names).filter(is_own).collect();
    if all.is_empty() {
        all.push(first);
    }
    all
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn own_id() -> u32 {
        fs::metadata("/proc/self").unwrap().uid()
    }

    #[test]
    fn only_its_owner_may_write_to_a_directory() {
        for mode in [0o700, 0o750, 0o755, 0o711, 0o1700] {
            assert_eq!(Refusal::of(7, mode, 7), None, "{mode:o}");
        }
        for mode in [0o770, 0o702, 0o777, 0o1777] {
            assert_eq!(Refusal::of(7, mode, 7), Some(Refusal::WritableByOthers(mode)), "{mode:o}");
        }
        assert_eq!(Refusal::of(7, 0o700, 8), Some(Refusal::OwnedBy(7)));
        assert_eq!(
            Refusal::WritableByOthers(0o40770).to_string(),
            "others may write to it (mode 0770)"
        );
    }

    #[test]
    fn a_name_that_somebody_else_has_taken_is_passed_over_and_all_are_found() {
        let scratch = tempfile::tempdir().unwrap();
        let (parent, user) = (scratch.path(), own_id());
        let at = |end: &str| parent.join(format!("tinyprof-{user}{end}"));
        assert_eq!(directories_in(parent, user), [at("")], "none is there");
        assert_eq!(usable_in(parent, user), Ok(at("")));
        fs::set_permissions(at(""), fs::Permissions::from_mode(0o777)).unwrap();
        symlink(parent, at("-1")).unwrap();
        fs::write(at("-2"), "").unwrap();
        for _ in 0..2 {
            assert_eq!(usable_in(parent, user), Ok(at("-3")), "in every process");
        }
        assert_eq!(fs::metadata(at("-3")).unwrap().mode() & 0o777, 0o700);
        fs::create_dir(at("-03")).unwrap();
        fs::create_dir(at("-x")).unwrap();
        assert_eq!(directories_in(parent, user), [at(""), at("-3")], "links and files are not");
        fs::set_permissions(at(""), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(usable_in(parent, user), Ok(at("")));
        let missing = usable_in(&parent.join("missing"), user).unwrap_err();
        assert_eq!(missing, Refusal::System(2), "{missing}");
    }
}
