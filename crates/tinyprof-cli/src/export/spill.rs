//! Rows that are written in another order than they are made: in memory, or if they are too long
//! for that, in a file without a name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::memory;

/// The part of the memory limit that rows may take.
const MEMORY_PART: u64 = 8;

/// The position of a row: its offset and its length.
type Position = (u64, u64);

/// Rows by number.
pub(super) struct Spill {
    directory: PathBuf,
    positions: Vec<Position>,
    /// The rows that are not in the file: those from offset `file_bytes` on.
    memory: Vec<u8>,
    memory_bytes_max: u64,
    file: Option<File>,
    file_bytes: u64,
}

impl Spill {
    /// Creates an empty store for this number of rows. If they are long, they are in `directory`.
    pub(super) fn new(directory: &Path, rows: usize) -> Self {
        Self::within(directory, rows, memory::read_options().memory_bytes() / MEMORY_PART)
    }

    fn within(directory: &Path, rows: usize, memory_bytes_max: u64) -> Self {
        Self {
            directory: directory.to_owned(),
            positions: vec![(0, 0); rows],
            memory: Vec::new(),
            memory_bytes_max,
            file: None,
            file_bytes: 0,
        }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If the file cannot be made or written.
    pub(super) fn push(&mut self, row: usize, bytes: &[u8]) -> io::Result<()> {
        self.positions[row] = (self.file_bytes + self.memory.len() as u64, bytes.len() as u64);
        self.memory.extend_from_slice(bytes);
        if self.memory.len() as u64 > self.memory_bytes_max {
            let directory = &self.directory;
            let cannot = |error: io::Error| {
                let text = format!("cannot write to a file in {}: {error}", directory.display());
                io::Error::new(error.kind(), text)
            };
            if self.file.is_none() {
                self.file = Some(nameless(directory).map_err(cannot)?);
            }
            if let Some(file) = &mut self.file {
                file.write_all(&self.memory).map_err(cannot)?;
                self.file_bytes += self.memory.len() as u64;
                self.memory.clear();
            }
        }
        Ok(())
    }

    /// Writes a row to `out`.
    ///
    /// # Errors
    /// If the file cannot be read, or `out` not be written.
    pub(super) fn copy(&self, row: usize, out: &mut impl Write) -> io::Result<()> {
        let (offset, length) = self.positions[row];
        if let Some(offset) = offset.checked_sub(self.file_bytes) {
            let at = |offset| usize::try_from(offset).map_err(io::Error::other);
            return out.write_all(&self.memory[at(offset)?..at(offset + length)?]);
        }
        let Some(mut file) = self.file.as_ref() else { return Ok(()) };
        file.seek(SeekFrom::Start(offset))?;
        io::copy(&mut file.take(length), out).map(drop)
    }
}

/// Creates a file that vanishes when it is closed.
fn nameless(directory: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    let opened = options.clone().custom_flags(libc::O_TMPFILE).open(directory);
    opened.or_else(|_| {
        // Not every file system has files without names.
        let path = directory.join(format!(".tinyprof-{}.rows", std::process::id()));
        let file = options.create_new(true).open(&path)?;
        fs::remove_file(&path)?;
        Ok(file)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_in_any_order_from_memory_and_file() {
        let scratch = tempfile::tempdir().expect("a temporary directory");
        for memory_bytes_max in [0, 10, 1_000] {
            let mut rows = Spill::within(scratch.path(), 9, memory_bytes_max);
            let text = |row: usize| format!("row {row}").repeat(row);
            for row in [3, 8, 0, 5] {
                rows.push(row, text(row).as_bytes()).expect("it is written");
            }
            for row in [8, 5, 0, 3, 5] {
                let mut copied = Vec::new();
                rows.copy(row, &mut copied).expect("it is read");
                assert_eq!(String::from_utf8_lossy(&copied), text(row), "{memory_bytes_max}");
            }
            assert_eq!(rows.file.is_some(), memory_bytes_max < 1_000);
            assert_eq!(fs::read_dir(scratch.path()).expect("it is there").count(), 0);
        }
        let mut rows = Spill::within(&scratch.path().join("none"), 1, 0);
        let error = rows.push(0, b"row").expect_err("there is no directory");
        assert!(error.to_string().contains("none"), "{error}");
    }
}
