//! Where a profile's files come from: a directory, of which nothing is trusted.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Component, Path, PathBuf};

use crate::bytes::Budget;
use crate::error::ReadError;

/// The files of a profile. A reader asks for no more bytes than it needs.
pub trait Source {
    /// How a person finds the file: for errors.
    fn path(&self, file: &str) -> PathBuf;

    /// The length of the file, in bytes.
    ///
    /// # Errors
    /// When there is no such file, or it is no regular one.
    fn length(&self, file: &str) -> io::Result<u64>;

    /// So many bytes of the file from `offset` on.
    ///
    /// # Errors
    /// When the file has not so many.
    fn read(&self, file: &str, offset: u64, bytes: usize) -> io::Result<Vec<u8>>;

    /// The names of all files: where there is no manifest, they tell which parts there are.
    fn names(&self) -> Vec<String>;
}

/// A directory `NAME.tprof`.
#[derive(Clone, Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// The profile at `path`.
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

/// Whether this is the name of a file in the profile's own directory: a manifest from a stranger
/// must not make us read files elsewhere.
pub(super) fn is_inside(name: &str) -> bool {
    let mut components = Path::new(name).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
}

/// All bytes of a file, as long as it is now. They count as passing.
pub(super) fn read_whole(
    source: &dyn Source,
    file: &str,
    budget: &Budget,
) -> Result<Vec<u8>, ReadError> {
    let path = source.path(file);
    let io = |source| ReadError::Io { path: path.clone(), source };
    let length = source.length(file).map_err(io)?;
    let bytes = usize::try_from(length).ok().filter(|_| budget.pass(length));
    let Some(bytes) = bytes else {
        let reason = format!("it has {length} bytes");
        return Err(ReadError::OverLimit { path, limit_bytes: budget.limit_bytes(), reason });
    };
    source.read(file, 0, bytes).map_err(io)
}
