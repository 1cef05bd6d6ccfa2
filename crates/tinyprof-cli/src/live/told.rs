//! The result of a command to a running job, and its format on the way from other hosts.
//!
//! Packed, it is a line of JSON, and the files of a profile behind it:
//!
//! ```text
//! {"text": "...", "json": {...}, "name": "lu-saved", "files": [["manifest.json", 812], ...]}
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, BufRead, ErrorKind, Read as _, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tinyprof_views::json_text;

use crate::arguments::OnJob;
use crate::render;

/// The longest line that is taken from another host.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// The files of a profile, by name.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// The result of a command.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// For people, with the end of each line.
    pub(super) text: String,
    /// For programs.
    pub(super) json: Value,
    /// The profile that it has written.
    pub(super) profile: Option<PathBuf>,
}

/// The form in which it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Json,
    /// For the process that has started this one on its host.
    Packed,
}

/// The line before the files.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) text: String,
    pub(super) json: Value,
    /// The name of the profile, without directory and ending.
    pub(super) name: String,
    files: Vec<(String, u64)>,
}

/// Returns the form that the user, or the process that has started this one, wants.
pub(super) const fn form(on: &OnJob) -> Form {
    match (on.packed, on.output.is_json()) {
        (true, _) => Form::Packed,
        (false, true) => Form::Json,
        (false, false) => Form::Text,
    }
}

impl Told {
    /// Prints it.
    ///
    /// # Errors
    /// If standard output cannot be written, or the profile not be read again.
    pub(super) fn print(&self, form: Form) -> Result<(), Box<dyn Error>> {
        match form {
            Form::Text => render::output(&self.text),
            Form::Json => render::output(&json_text(&self.json)),
            Form::Packed => self.pack(&mut io::stdout().lock()).map_err(Into::into),
        }
    }

    /// Returns a profile, with nothing beside it.
    pub(super) fn of_profile(profile: PathBuf) -> Self {
        Self { profile: Some(profile), ..Self::default() }
    }

    /// Returns it packed.
    ///
    /// # Errors
    /// If the profile cannot be read.
    pub(super) fn packed(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.pack(&mut bytes)?;
        Ok(bytes)
    }

    fn pack(&self, to: &mut impl Write) -> io::Result<()> {
        let mut head = Head { text: self.text.clone(), json: self.json.clone(), ..Head::default() };
        let mut contents = Vec::new();
        if let Some(profile) = &self.profile {
            head.name =
                profile.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into());
            for entry in fs::read_dir(profile)? {
                let entry = entry?;
                let bytes = fs::read(entry.path())?;
                head.files.push((entry.file_name().to_string_lossy().into(), bytes.len() as u64));
                contents.push(bytes);
            }
        }
        serde_json::to_writer(&mut *to, &head)?;
        to.write_all(b"\n")?;
        contents.iter().try_for_each(|bytes| to.write_all(bytes))?;
        to.flush()
    }
}

impl Head {
    /// Reads the line.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let mut line = Vec::new();
        from.take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(serde_json::from_slice(&line)?)
    }

    /// Reads the files behind it, of at most this many bytes.
    ///
    /// # Errors
    /// If they are longer, or not there.
    pub(super) fn read_files(&self, from: &mut impl BufRead, bytes_max: u64) -> io::Result<Files> {
        let all = self.files.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        if all > bytes_max {
            return Err(io::Error::new(
                ErrorKind::FileTooLarge,
                format!("its profile has {all} bytes: allow more, as in tinyprof --memory 4GiB"),
            ));
        }
        let mut files = Files::new();
        for (name, bytes) in &self.files {
            let mut contents = Vec::new();
            from.take(*bytes).read_to_end(&mut contents)?;
            if contents.len() as u64 != *bytes {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            files.insert(name.clone(), contents);
        }
        Ok(files)
    }
}

/// The directory of profiles that the user has not named. One that is sent to another host is in a
/// directory of its own; dropping it removes that.
#[derive(Debug)]
pub(super) struct Scratch(Option<PathBuf>);

impl Scratch {
    /// Makes it, for this user alone, if the result is packed.
    ///
    /// # Errors
    /// If it cannot be made, or is there.
    pub(super) fn for_packed(on: &OnJob) -> io::Result<Self> {
        if form(on) == Form::Packed { Self::new() } else { Ok(Self(None)) }
    }

    /// Makes it, for this user alone.
    ///
    /// # Errors
    /// If it cannot be made, or is there.
    pub(super) fn new() -> io::Result<Self> {
        let place = env::temp_dir().join(format!("tinyprof-packed-{}", process::id()));
        fs::DirBuilder::new().mode(0o700).create(&place)?;
        Ok(Self(Some(place)))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.as_deref().unwrap_or("".as_ref())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(place) = &self.0 {
            fs::remove_dir_all(place).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_read_and_what_is_cut_is_refused() {
        let place = tempfile::tempdir().expect("a directory");
        let profile = place.path().join("lu-saved.tprof");
        fs::create_dir(&profile).expect("a directory");
        for (name, text) in [("manifest.json", "{}\n"), ("part-00000", "\n\n\n")] {
            fs::write(profile.join(name), text).expect("a file");
        }
        let json = serde_json::json!({ "ranks": 2 });
        let told = Told { text: "two\nlines\n".to_owned(), json, profile: Some(profile) };
        let packed = told.packed().expect("memory");
        let mut from = &packed[..];
        let head = Head::read(&mut from).expect("a line");
        assert_eq!((head.text.as_str(), head.name.as_str()), ("two\nlines\n", "lu-saved"));
        let files = head.read_files(&mut from, 6).expect("files");
        assert_eq!((files["part-00000"].len(), files["manifest.json"].len()), (3, 3));
        assert!(from.is_empty());
        let read = |mut from: &[u8]| Head::read(&mut from)?.read_files(&mut from, 6);
        for end in 0..packed.len() {
            assert!(read(&packed[..end]).is_err(), "{end} of {} bytes are there", packed.len());
        }
        assert_eq!(read(&packed).expect("all are there").len(), 2);
        assert!(Head::read(&mut &b""[..]).is_err() && Head::read(&mut &b"hello\n"[..]).is_err());
        assert!(head.read_files(&mut &packed[..], 5).is_err(), "more than is allowed");
    }
}
