//! One `tinyprof recover` at a time in a directory of segments.
//!
//! The directory itself is locked: a lock ends with its process, however that ends, leaves no file
//! behind, and no recorder asks for one. Segments that are locked one by one could end up in two
//! profiles of one job.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use crate::{render, sys};

/// How often the lock is asked for before the user is told that somebody else has it.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// The right to the segments in a directory, until it is dropped.
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
        // There is nothing to have a right to.
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
        // Some network file systems lock no directories. What a killed program left is worth more
        // than the certainty.
        render::notes(&[format!(
            "{} cannot be locked ({error}): start no second tinyprof recover there at the same time",
            directory.display()
        )]);
    }
    Claim { _directory: Some(opened) }
}
