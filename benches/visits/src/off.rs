//! Commands to a process of one thread, given by whoever knows that it waits meanwhile.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Result};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::control::{Answer, Given, Verb, answered, command};
use tinyprof_segment::layout::header;

/// The segment of the thread.
pub(crate) struct Thread {
    file: File,
    words: Vec<AtomicU64>,
}

impl Thread {
    /// Returns the only one that records in a directory.
    pub(crate) fn find(directory: &Path) -> Result<Self> {
        let path = fs::read_dir(directory)?.next().ok_or(ErrorKind::NotFound)??.path();
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let words = (0..header::WORDS).map(|_| AtomicU64::new(0)).collect();
        Ok(Self { file, words })
    }

    /// Gives it a command, and returns the number of that.
    pub(crate) fn give(&self, verb: Verb) -> Result<u32> {
        self.read()?;
        let number = command(&self.words, verb, 0, &Given::default());
        for (at, word) in (0..).step_by(8).zip(&self.words) {
            self.file.write_all_at(&word.load(Relaxed).to_le_bytes(), at)?;
        }
        Ok(number)
    }

    /// Returns whether it has obeyed.
    pub(crate) fn has_done(&self, number: u32) -> Result<bool> {
        self.read()?;
        Ok(answered(&self.words, number) == Some(Answer::Done))
    }

    fn read(&self) -> Result<()> {
        let mut bytes = [0; 8];
        for (at, word) in (0..).step_by(8).zip(&self.words) {
            self.file.read_exact_at(&mut bytes, at)?;
            word.store(u64::from_le_bytes(bytes), Relaxed);
        }
        Ok(())
    }
}
