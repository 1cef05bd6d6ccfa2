//! Sources of a profile's files, such as a directory. None of their contents are trusted.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Component, Path, PathBuf};

use crate::bytes::MemoryLimit;
use crate::error::ReadError;

/// The files of a profile. Readers request only the bytes that they need.
pub trait Source {
    /// Returns the path of the file, for error messages.
    fn path(&self, file: &str) -> PathBuf;

    /// Returns the length of the file, in bytes.
    ///
    /// # Errors
    /// If there is no such file, or it is not a regular file.
    fn length(&self, file: &str) -> io::Result<u64>;

    /// Returns `bytes` bytes of the file, starting at `offset`.
    ///
    /// # Errors
    /// If the file has fewer.
    fn read(&self, file: &str, offset: u64, bytes: usize) -> io::Result<Vec<u8>>;

    /// Returns the names of all files. If there is no manifest, they show which parts exist.
    fn names(&self) -> Vec<String>;

    /// Returns the memory in which the source keeps files, in bytes. It counts towards the limit of
    /// a reader of single callpaths.
    fn buffer_bytes(&self) -> u64 {
        0
    }
}

/// A directory `NAME.tprof`.
#[derive(Clone, Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// Creates a source for the profile at `path`.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

impl Source for Directory {
    fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    fn length(&self, file: &str) -> io::Result<u64> {
        let metadata = fs::metadata(self.path(file))?;
        if metadata.is_file() {
            return Ok(metadata.len());
        }
        // A pipe would wait for a writer, and a device might never end.
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }

    fn read(&self, file: &str, offset: u64, bytes: usize) -> io::Result<Vec<u8>> {
        let mut file = File::open(self.path(file))?;
        file.seek(SeekFrom::Start(offset))?;
        let mut buffer = vec![0; bytes];
        file.read_exact(&mut buffer)?;
        Ok(buffer)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }
}

/// Files in memory, by name.
impl<Name: Borrow<str> + Ord> Source for BTreeMap<Name, Vec<u8>> {
    fn path(&self, file: &str) -> PathBuf {
        PathBuf::from("memory").join(file)
    }

    fn length(&self, file: &str) -> io::Result<u64> {
        Ok(in_memory(self, file)?.len() as u64)
    }

    fn read(&self, file: &str, offset: u64, bytes: usize) -> io::Result<Vec<u8>> {
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let end = start.checked_add(bytes).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(in_memory(self, file)?.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?.to_vec())
    }

    fn names(&self) -> Vec<String> {
        self.keys().map(|name| name.borrow().to_owned()).collect()
    }
}

fn in_memory<'a, Name: Borrow<str> + Ord>(
    files: &'a BTreeMap<Name, Vec<u8>>,
    file: &str,
) -> io::Result<&'a [u8]> {
    files.get(file).map(Vec::as_slice).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Returns true if `name` is that of a file directly inside the profile. An untrusted manifest must
/// not make the reader open files elsewhere.
pub(super) fn is_inside(name: &str) -> bool {
    let mut components = Path::new(name).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
}

/// Returns all bytes of a file at its current length. They count as passing.
pub(super) fn read_whole(
    source: &dyn Source,
    file: &str,
    memory_limit: &MemoryLimit,
) -> Result<Vec<u8>, ReadError> {
    let path = source.path(file);
    let io = |source| ReadError::Io { path: path.clone(), source };
    let length = source.length(file).map_err(io)?;
    let bytes = usize::try_from(length).ok().filter(|_| memory_limit.claim_temporary(length));
    let Some(bytes) = bytes else {
        let reason = format!("it has {length} bytes");
        return Err(ReadError::OverLimit { path, limit_bytes: memory_limit.limit_bytes(), reason });
    };
    source.read(file, 0, bytes).map_err(io)
}
