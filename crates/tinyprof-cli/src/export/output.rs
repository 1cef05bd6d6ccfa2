//! The destination of an export: a new file, or standard output.

use std::error::Error;
use std::fs;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use super::exporter::{NotRead, Notes};
use crate::new_file;

/// Calls `export` with a destination: standard output for `-`, else a new file at `path`.
///
/// An existing file is never overwritten. A file that could not be written completely is removed.
pub(crate) fn write(
    path: &Path,
    export: impl FnOnce(&mut (dyn Write + Send)) -> Result<Notes, Box<dyn Error>>,
) -> Result<Notes, Box<dyn Error>> {
    if path == Path::new("-") {
        return to_standard_output(export);
    }
    let file = new_file::create(path)?;
    let mut out = BufWriter::new(file);
    let written = export(&mut out).and_then(|notes| {
        out.flush()?;
        Ok(notes)
    });
    written.map_err(|error| {
        // The first error is the one to report.
        fs::remove_file(path).ok();
        explained(error, &path.display().to_string())
    })
}

/// Calls `export` with a new directory at `path`. An existing one is never touched. A directory
/// that could not be written completely is removed.
pub(super) fn write_directory(
    path: &Path,
    export: impl FnOnce(&Path) -> Result<Notes, Box<dyn Error>>,
) -> Result<Notes, Box<dyn Error>> {
    fs::create_dir(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            format!(
                "{} exists already and is left as it is; name another directory, or remove it",
                path.display()
            )
        }
        _ => format!("cannot create {}: {error}", path.display()),
    })?;
    export(path).map_err(|error| {
        // The first error is the one to report.
        fs::remove_dir_all(path).ok();
        explained(error, &path.display().to_string())
    })
}

fn to_standard_output(
    export: impl FnOnce(&mut (dyn Write + Send)) -> Result<Notes, Box<dyn Error>>,
) -> Result<Notes, Box<dyn Error>> {
    let mut out = BufWriter::new(Pipe { inner: io::stdout(), is_closed: false });
    let written = export(&mut out).and_then(|notes| {
        out.flush()?;
        Ok(notes)
    });
    // Otherwise the rest of the buffer would be written, and fail, once more.
    let (pipe, _) = out.into_parts();
    match written {
        Err(_) if pipe.is_closed => Ok(Notes::new()),
        Err(error) => Err(explained(error, "cannot write to standard output")),
        written => written,
    }
}

/// Returns the error with the destination, unless it is the profile that could not be read.
fn explained(error: Box<dyn Error>, destination: &str) -> Box<dyn Error> {
    match error.downcast::<NotRead>() {
        Ok(not_read) => not_read.0,
        Err(error) => format!("{destination}: {error}").into(),
    }
}

/// A writer that remembers that the reader has left: a reader such as `head` has all that it
/// wanted. Exporters pass errors through libraries that hide the kind of error.
struct Pipe<W> {
    inner: W,
    is_closed: bool,
}

impl<W> Pipe<W> {
    fn seen<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        self.is_closed |= result.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe);
        result
    }
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        self.seen(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.seen(flushed)
    }
}
