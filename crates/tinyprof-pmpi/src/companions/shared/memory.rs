//! Memory that several processes of a host map.
//!
//! It has no name, so that nothing is left behind however the processes end: the others find it
//! among the open files of the process that has made it, while that keeps it open.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr;
use std::sync::atomic::AtomicU64;

/// Where a process keeps memory open, as words that can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    process: u64,
    file: u64,
}

impl Place {
    pub(super) const WORDS: usize = 2;

    pub(super) fn to_words(self) -> [u64; Self::WORDS] {
        [self.process, self.file]
    }

    pub(super) fn from_words([process, file]: [u64; Self::WORDS]) -> Self {
        Self { process, file }
    }
}

/// Memory of this process, which others can map while this value lives. Its words are 0.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) words: &'static [AtomicU64],
    file: File,
}

impl Made {
    /// Makes memory of this many words, which it takes from the system when they are written.
    pub(super) fn new(words: usize) -> io::Result<Self> {
        let name = c"tinyprof";
        // By number, as older C libraries have no function for it.
        // SAFETY: the name ends in a zero.
        let file = unsafe { libc::syscall(libc::SYS_memfd_create, name.as_ptr(), MEMFD_FLAGS) };
        let Some(file) = i32::try_from(file).ok().filter(|file| *file >= 0) else {
            return Err(io::Error::last_os_error());
        };
        // SAFETY: just opened, and nobody else has it.
        let file = unsafe { File::from_raw_fd(file) };
        if file_bytes_max() < bytes(words) {
            // The system would end the process.
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        file.set_len(bytes(words))?;
        // SAFETY: the file is open; takes no pointer.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, SEALS) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { words: map(&file, words)?, file })
    }

    /// Returns where other processes find it.
    pub(super) fn place(&self) -> Place {
        let file = u64::from(self.file.as_raw_fd().unsigned_abs());
        Place { process: u64::from(std::process::id()), file }
    }
}

/// Closed by `exec`, and sealable.
const MEMFD_FLAGS: libc::c_uint = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;

/// Nobody can change its length, which would end processes that have mapped it, nor add seals.
const SEALS: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// Maps the memory of this many words that another process has made.
pub(super) fn open(place: Place, words: usize) -> io::Result<&'static [AtomicU64]> {
    let path = format!("/proc/{}/fd/{}", place.process, place.file);
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    if file.metadata()?.len() != bytes(words) {
        // Where processes have numbers of their own, as in containers, it is some other file.
        return Err(io::ErrorKind::InvalidData.into());
    }
    // SAFETY: the file is open; takes no pointer. Files that cannot have seals give an error.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    if seals < 0 || seals & SEALS != SEALS {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    map(&file, words)
}

/// Returns the size that files of this process may have.
fn file_bytes_max() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the place is valid.
    let code = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    if code == 0 { limit.rlim_cur } else { 0 }
}

fn bytes(words: usize) -> u64 {
    (words * size_of::<AtomicU64>()) as u64
}

/// Maps a file of this many words, for as long as the process lives.
fn map(file: &File, words: usize) -> io::Result<&'static [AtomicU64]> {
    let length = words * size_of::<AtomicU64>();
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping, which overlaps nothing.
    let place = unsafe {
        libc::mmap(ptr::null_mut(), length, rights, libc::MAP_SHARED, file.as_raw_fd(), 0)
    };
    if place == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping is as long as that, at the begin of a page, of zeros, and is never taken
    // away. Its seals keep the file from getting shorter.
    Ok(unsafe { std::slice::from_raw_parts(place.cast(), words) })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn two_mappings_are_one_memory_until_it_is_closed() {
        let made = Made::new(1024).unwrap();
        let place = Place::from_words(made.place().to_words());
        let other = open(place, 1024).unwrap();
        made.words[1023].store(17, Relaxed);
        assert_eq!(other[1023].load(Relaxed), 17);
        assert!(!ptr::eq(made.words, other));
        assert!(open(place, 1025).is_err(), "of another length");
        assert!(made.file.set_len(0).is_err(), "nobody can take it away");
        drop(made);
        assert!(open(place, 1024).is_err());
        assert_eq!(other[1023].load(Relaxed), 17, "what is mapped stays");
    }
}
