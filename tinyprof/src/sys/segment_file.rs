//! Files that hold the memory of threads: private to the user, never through a link, never with holes.

use std::ffi::CString;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::host::effective_user_id;
use super::signals::without_write_signals;

/// A file that this process has made. It is opened anew whenever it grows: a program that closes all files, as
/// daemons do, must not make us write to one of its own.
#[derive(Debug)]
pub(crate) struct SegmentFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl SegmentFile {
    /// Creates the file `name` in `directory`, which is created where it is missing.
    ///
    /// # Errors
    /// If there is no such directory to be had of which this user is the owner and nobody else may read or write
    /// it, or no such file.
    pub(crate) fn create(directory: &Path, name: &str) -> io::Result<Self> {
        match DirBuilder::new().mode(0o700).create(directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC)
            .open(directory)?;
        if !is_private(&opened.metadata()?) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let c_name = CString::new(name)?;
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        // SAFETY: the name is a C string, and the directory is open.
        let descriptor = unsafe { libc::openat(opened.as_raw_fd(), c_name.as_ptr(), flags, 0o600) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the system has just given it to us, and nobody else has it.
        let metadata = unsafe { File::from_raw_fd(descriptor) }.metadata()?;
        Ok(Self { path: directory.join(name), device: metadata.dev(), inode: metadata.ino() })
    }

    /// Gives the bytes from `from` to `to` blocks of their own, and the open file.
    ///
    /// # Errors
    /// If there is no room for them, or the file is not there any more.
    pub(crate) fn grow(&self, from: usize, to: usize) -> io::Result<File> {
        let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&self.path)?;
        let metadata = file.metadata()?;
        if (metadata.dev(), metadata.ino()) != (self.device, self.inode) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let bound = |bytes: usize| libc::off_t::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge);
        let (offset, length) = (bound(from)?, bound(to - from)?);
        // A file that is only made longer has holes, and touching one where the disk is full is a SIGBUS.
        let refused = without_write_signals(|| {
            // SAFETY: the file is open, and ours.
            unsafe { libc::posix_fallocate(file.as_raw_fd(), offset, length) }
        });
        if refused == 0 { Ok(file) } else { Err(io::Error::from_raw_os_error(refused)) }
    }

    /// Removes the file.
    pub(crate) fn remove(&self) {
        // If it is gone already, or its directory is, there is nothing left to do.
        fs::remove_file(&self.path).ok();
    }
}

/// Whether only this user has access.
fn is_private(metadata: &Metadata) -> bool {
    metadata.uid() == effective_user_id() && metadata.mode() & 0o077 == 0
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_file_is_private_new_and_whole() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("new");
        let file = SegmentFile::create(&directory, "a").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&directory), mode(&directory.join("a"))), (0o700, 0o600));
        assert!(SegmentFile::create(&directory, "a").is_err(), "the name is taken");
        // As the mapping does, the open file keeps the number of its inode from being given to another.
        let _open = file.grow(0, 1 << 18).unwrap();
        let metadata = fs::metadata(directory.join("a")).unwrap();
        assert_eq!(metadata.len(), 1 << 18);
        assert!(metadata.blocks() * 512 >= 1 << 18, "no holes");
        file.remove();
        assert!(file.grow(1 << 18, 1 << 19).is_err());
        fs::write(directory.join("a"), "another").unwrap();
        assert!(file.grow(1 << 18, 1 << 19).is_err(), "a stranger of the same name is not touched");
        assert_eq!(fs::read(directory.join("a")).unwrap(), b"another");
    }

    #[test]
    fn a_directory_that_others_may_use_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("open");
        fs::create_dir(&directory).unwrap();
        for mode in [0o755, 0o710, 0o702, 0o777] {
            fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).unwrap();
            assert!(SegmentFile::create(&directory, "a").is_err(), "{mode:o}");
        }
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
        symlink(&directory, scratch.path().join("link")).unwrap();
        assert!(SegmentFile::create(&scratch.path().join("link"), "a").is_err());
        symlink("/etc/passwd", directory.join("a")).unwrap();
        assert!(SegmentFile::create(&directory, "a").is_err());
        SegmentFile::create(&directory, "b").unwrap();
    }
}
