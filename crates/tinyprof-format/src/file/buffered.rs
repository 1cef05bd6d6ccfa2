//! A directory whose files are kept in memory after the first read, as long as there is room.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::source::{Directory, Source};

/// A directory `NAME.tprof` for readers that come back to the same files many times. Opening a file
/// for each of a million sections would take most of the time.
#[derive(Debug)]
pub struct BufferedDirectory {
    directory: Directory,
    files: RefCell<BTreeMap<String, Vec<u8>>>,
    buffer_bytes: u64,
    room_bytes: Cell<u64>,
}

impl BufferedDirectory {
    /// Creates a source for the profile at `path`, which keeps at most `buffer_bytes` of its files.
    #[must_use]
    pub fn new(path: &Path, buffer_bytes: u64) -> Self {
        Self {
            directory: Directory::new(path),
            files: RefCell::new(BTreeMap::new()),
            buffer_bytes,
            room_bytes: Cell::new(buffer_bytes),
        }
    }
}

impl Source for BufferedDirectory {
    fn path(&self, file: &str) -> PathBuf {
        self.directory.path(file)
    }

    fn length(&self, file: &str) -> io::Result<u64> {
        self.directory.length(file)
    }

    fn read(&self, file: &str, offset: u64, bytes: usize) -> io::Result<Vec<u8>> {
        let mut files = self.files.borrow_mut();
        if !files.contains_key(file) {
            let length = self.length(file)?;
            let Some(room_bytes) = self.room_bytes.get().checked_sub(length) else {
                return self.directory.read(file, offset, bytes);
            };
            let length = usize::try_from(length).map_err(io::Error::other)?;
            files.insert(file.to_owned(), self.directory.read(file, 0, length)?);
            self.room_bytes.set(room_bytes);
        }
        files.read(file, offset, bytes)
    }

    fn names(&self) -> Vec<String> {
        self.directory.names()
    }

    fn buffer_bytes(&self) -> u64 {
        self.buffer_bytes
    }
}
