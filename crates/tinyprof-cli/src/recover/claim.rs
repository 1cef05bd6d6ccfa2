//! A lock that lets one `tinyprof recover` at a time work in a directory of segments.
//!
//! The directory itself is locked. Such a lock ends with its process, however that ends, leaves no
//! file behind, and does not affect recorders. With a lock per segment, one job could end up in two
//! profiles.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use crate::{render, sys};

/// The number of tries before the user is told that somebody else holds the lock.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// The exclusive right to the segments in a directory, until it is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    _directory: Option<File>,
}

/// Waits until no other `recover` works in `directory`.
///
/// # Errors
/// If the directory cannot be opened.
pub(super) fn claim(directory: &Path) -> io::Result<Claim> {
    let flags = libc::O_DIRECTORY | libc::O_CLOEXEC;
    let opened = match OpenOptions::new().read(true).custom_flags(flags).open(directory) {
        // There is nothing to lock.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Claim { _directory: None }),
        opened => opened?,
    };
    for _ in 0..TRIES {
        match sys::try_lock(&opened) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => sleep(PAUSE),
            tried => return Ok(locked(tried, opened, directory)),
        }
    }
    render::notes(&[format!("waiting for another tinyprof recover in {}", directory.display())]);
    Ok(locked(sys::lock(&opened), opened, directory))
}

fn locked(result: io::Result<()>, opened: File, directory: &Path) -> Claim {
    if let Err(error) = result {
        // Some network file systems cannot lock directories. The data of a killed program is worth
        // more than exclusive access.
        render::notes(&[format!(
            "{} cannot be locked ({error}): start no second tinyprof recover there at the same time",
            directory.display()
        )]);
    }
    Claim { _directory: Some(opened) }
}
