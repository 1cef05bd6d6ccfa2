//! Files that hold the memory of threads: private to the user, never through a link, never with
//! holes. The first reason why there was none is kept for the user.
//!
//! A thread makes its file in its first region, where it must not use the heap, so nothing here
//! does.

use std::ffi::CStr;
use std::fmt::{self, Write};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::OnceLock;

use tinyprof_format::segment::Refusal;

use super::host::effective_user_id;
use super::sandbox;
use super::segment_room;
use super::signals::without_write_signals;

/// The first reason for which a segment was refused, or could not grow.
static REFUSAL: OnceLock<Refusal> = OnceLock::new();

/// Returns the first reason for which a thread of this process has no segment, or one that could
/// not grow.
pub(crate) fn segment_refusal() -> Option<Refusal> {
    REFUSAL.get().copied()
}

/// Keeps the reason, if it is the first, and returns it.
pub(crate) fn refuse_segment(refusal: Refusal) -> Refusal {
    REFUSAL.get_or_init(|| refusal);
    refusal
}

/// The number of other names that are tried if one is taken, by a program that has replaced itself
/// by `exec`, or by another copy of this library in the same process.
const NAMES_MAX: u32 = 1000;

/// The name of a file, with its terminating zero.
#[derive(Clone, Copy, Debug)]
struct Name {
    bytes: [u8; 96],
    length: usize,
}

impl Name {
    /// Returns `STEM.segment`, or `STEM-NUMBER.segment` for numbers above 0; `None` if that is too
    /// long.
    fn new(stem: fmt::Arguments<'_>, number: u32) -> Option<Self> {
        let mut name = Self { bytes: [0; 96], length: 0 };
        let written = match number {
            0 => write!(name, "{stem}.segment"),
            number => write!(name, "{stem}-{number}.segment"),
        };
        written.ok().map(|()| name)
    }

    fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }
}

impl Write for Name {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        // The last byte stays zero.
        if end >= self.bytes.len() {
            return Err(fmt::Error);
        }
        self.bytes[self.length..end].copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// A file that this process has made. It is reopened whenever it grows: if a program closes all
/// files, as daemons do, we must not write to one of its own.
#[derive(Debug)]
pub(crate) struct SegmentFile {
    directory: &'static CStr,
    name: Name,
    device: u64,
    inode: u64,
}

impl SegmentFile {
    /// Creates the file `STEM.segment` in `directory`, which is created if it is missing. If that
    /// name is taken, the file gets the first free name of `STEM-1.segment`, `STEM-2.segment`, ...
    ///
    /// # Errors
    /// If the file cannot be created, or if there is no such directory that this user owns and that
    /// no other user may write to. The reason is kept, too.
    pub(crate) fn create(
        directory: &'static CStr,
        stem: fmt::Arguments<'_>,
    ) -> Result<Self, Refusal> {
        Self::create_in(directory, stem).map_err(refuse_segment)
    }

    fn create_in(directory: &'static CStr, stem: fmt::Arguments<'_>) -> Result<Self, Refusal> {
        if sandbox::is_entered() {
            return Err(Refusal::Sandbox);
        }
        // SAFETY: a C string.
        let made = unsafe { libc::mkdir(directory.as_ptr(), 0o700) };
        if made != 0 && io::Error::last_os_error().kind() != io::ErrorKind::AlreadyExists {
            return Err(last_error());
        }
        let opened = open_directory(directory)?;
        let found = status(&opened)?;
        if let Some(refusal) = Refusal::of(found.st_uid, found.st_mode, effective_user_id()) {
            return Err(refusal);
        }
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
        for number in 0..NAMES_MAX {
            let name = Name::new(stem, number).ok_or(Refusal::System(libc::ENAMETOOLONG))?;
            match open_at(&opened, name.as_c_str(), flags) {
                Err(Refusal::System(libc::EEXIST)) => {}
                created => {
                    let status = status(&created?)?;
                    return Ok(Self {
                        directory,
                        name,
                        device: status.st_dev,
                        inode: status.st_ino,
                    });
                }
            }
        }
        Err(Refusal::System(libc::EEXIST))
    }

    /// Allocates blocks for the bytes from `from` to `to`, and returns the open file.
    ///
    /// # Errors
    /// If there is no room for them, or the file no longer exists. The reason is kept, too.
    pub(crate) fn grow(&self, from: usize, to: usize) -> Result<File, Refusal> {
        self.grow_file(from, to).map_err(refuse_segment)
    }

    fn grow_file(&self, from: usize, to: usize) -> Result<File, Refusal> {
        if sandbox::is_entered() {
            return Err(Refusal::Sandbox);
        }
        let flags = libc::O_RDWR | libc::O_NOFOLLOW;
        let file = open_at(&open_directory(self.directory)?, self.name.as_c_str(), flags)?;
        let status = status(&file)?;
        if (status.st_dev, status.st_ino) != (self.device, self.inode) {
            return Err(Refusal::System(libc::ENOENT));
        }
        let bound =
            |bytes: usize| libc::off_t::try_from(bytes).map_err(|_| Refusal::System(libc::EFBIG));
        let (offset, length) = (bound(from)?, bound(to - from)?);
        let allocate = || {
            // Merely extending a file leaves holes, and touching a hole on a full disk raises
            // SIGBUS.
            let refused = without_write_signals(|| {
                // SAFETY: the file is open, and ours.
                unsafe { libc::posix_fallocate(file.as_raw_fd(), offset, length) }
            });
            if refused == 0 { Ok(()) } else { Err(Refusal::System(refused)) }
        };
        let give_back = || {
            // If it fails, the blocks stay until the file is removed.
            // SAFETY: the file is open, and ours; nothing is mapped beyond `from`.
            unsafe { libc::ftruncate(file.as_raw_fd(), offset) };
        };
        segment_room::take(&file, (to - from) as u64, allocate, give_back)?;
        Ok(file)
    }

    /// Removes the file.
    pub(crate) fn remove(&self) {
        if sandbox::is_entered() {
            return;
        }
        // If the file or its directory is already gone, there is nothing left to do.
        let Ok(directory) = open_directory(self.directory) else { return };
        // SAFETY: the name is a C string, and the directory is open.
        unsafe { libc::unlinkat(directory.as_raw_fd(), self.name.as_c_str().as_ptr(), 0) };
    }
}

fn last_error() -> Refusal {
    (&io::Error::last_os_error()).into()
}

fn open_directory(path: &CStr) -> Result<File, Refusal> {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: a C string.
    opened(unsafe { libc::open(path.as_ptr(), flags) }).map_err(|refusal| match refusal {
        // Kernels differ in which they say of a link.
        Refusal::System(libc::ENOTDIR | libc::ELOOP) => Refusal::NotADirectory,
        refusal => refusal,
    })
}

fn open_at(directory: &File, name: &CStr, flags: libc::c_int) -> Result<File, Refusal> {
    // SAFETY: the name is a C string, and the directory is open.
    opened(unsafe {
        libc::openat(directory.as_raw_fd(), name.as_ptr(), flags | libc::O_CLOEXEC, 0o600)
    })
}

fn opened(descriptor: libc::c_int) -> Result<File, Refusal> {
    if descriptor < 0 {
        return Err(last_error());
    }
    // SAFETY: the system has just returned it, and nothing else uses it.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

/// Replaces the standard library's call, which needs more of a stack that may be small.
fn status(file: &File) -> Result<libc::stat, Refusal> {
    let mut status = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the file is open, and the place is valid.
    if unsafe { libc::fstat(file.as_raw_fd(), status.as_mut_ptr()) } != 0 {
        return Err(last_error());
    }
    // SAFETY: the call has filled it in.
    Ok(unsafe { status.assume_init() })
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::path::Path;

    use super::*;

    fn create(directory: &Path, stem: &str) -> Result<SegmentFile, Refusal> {
        let directory = CString::new(directory.as_os_str().as_bytes()).unwrap();
        SegmentFile::create(Box::leak(directory.into_boxed_c_str()), format_args!("{stem}"))
    }

    #[test]
    fn a_file_is_private_new_and_whole() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("new");
        let file = create(&directory, "a").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&directory), mode(&directory.join("a.segment"))), (0o700, 0o600));
        create(&directory, "a").unwrap();
        assert!(directory.join("a-1.segment").exists(), "the name is taken, another is not");
        assert!(create(&directory, &"a".repeat(200)).is_err(), "too long");
        // Like the mapping, the open file keeps the number of its inode from being reused.
        let _open = file.grow(0, 1 << 18).unwrap();
        let metadata = fs::metadata(directory.join("a.segment")).unwrap();
        assert_eq!(metadata.len(), 1 << 18);
        assert!(metadata.blocks() * 512 >= 1 << 18, "no holes");
        file.remove();
        assert!(file.grow(1 << 18, 1 << 19).is_err());
        fs::write(directory.join("a.segment"), "another").unwrap();
        assert!(file.grow(1 << 18, 1 << 19).is_err(), "a stranger of the same name is not touched");
        assert_eq!(fs::read(directory.join("a.segment")).unwrap(), b"another");
    }

    #[test]
    fn a_directory_that_others_may_write_to_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("open");
        fs::create_dir(&directory).unwrap();
        let set_mode =
            |mode| fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).unwrap();
        for mode in [0o775, 0o720, 0o702, 0o777] {
            set_mode(mode);
            let refusal = create(&directory, "a").unwrap_err();
            assert!(matches!(refusal, Refusal::WritableByOthers(_)), "{mode:o}: {refusal}");
        }
        for (mode, stem) in [(0o700, "b"), (0o750, "c"), (0o755, "d")] {
            set_mode(mode);
            create(&directory, stem).unwrap();
            let file = fs::metadata(directory.join(format!("{stem}.segment"))).unwrap();
            assert_eq!(file.permissions().mode() & 0o777, 0o600);
        }
        symlink(&directory, scratch.path().join("link")).unwrap();
        let refusal = create(&scratch.path().join("link"), "a").unwrap_err();
        assert_eq!(refusal, Refusal::NotADirectory);
        symlink("/etc/passwd", directory.join("a.segment")).unwrap();
        create(&directory, "a").unwrap();
        assert!(directory.join("a-1.segment").exists(), "a link is not followed");
        assert!(segment_refusal().is_some(), "the first reason is kept");
    }
}
