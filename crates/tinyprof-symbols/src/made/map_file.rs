//! The file in which a program names the code that it makes. Anybody may have put a file there, so
//! it is read only if this process's user or root owns it and nobody else may write to it.
//!
//! ```text
//! 7f0012345000 1a0 solve
//! begin        size name, hexadecimal numbers without or with 0x
//! ```

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::sys;

/// The most that is read, from the end of the file: what is later there replaces what was earlier.
const BYTES_MAX: u64 = 64 << 20;
/// The longest name that is kept.
const NAME_BYTES_MAX: usize = 256;
/// How long before it began to record a program may have last written to the file.
const BEFORE_S: u64 = 60;
/// The permissions of others with which a file is not trusted.
const WRITABLE_BY_OTHERS: u32 = 0o002;

/// A file that may be trusted.
#[derive(Debug)]
pub(super) struct MapFile {
    file: File,
    version: Version,
}

/// The number, length and time of the file: writing to it changes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    number: u64,
    bytes: u64,
    changed: (i64, i64),
}

impl MapFile {
    /// Opens the file of a process that has begun to record at a date; `None` if there is none, or
    /// it may be another user's or that of an earlier process.
    pub(super) fn open(path: &Path, recording_began_s: u64) -> Option<Self> {
        let file = sys::open_as_is(path)?;
        let of = file.metadata().ok()?;
        let version =
            Version { number: of.ino(), bytes: of.len(), changed: (of.mtime(), of.mtime_nsec()) };
        let is_trusted = is_trusted(&of) && is_of_process(&of, recording_began_s);
        is_trusted.then_some(Self { file, version })
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    /// Finds the name of each address. As code may be replaced, the last line that has it counts.
    pub(super) fn look_up(mut self, names: &mut BTreeMap<u64, Option<String>>) {
        let skipped = self.version.bytes.saturating_sub(BYTES_MAX);
        // The byte before, so that a line that begins there is seen to be whole.
        let is_sought = self.file.seek(SeekFrom::Start(skipped.saturating_sub(1))).is_ok();
        let mut lines = BufReader::new(self.file).take(BYTES_MAX + 1);
        let mut line = Vec::new();
        if !is_sought || skipped > 0 && lines.read_until(b'\n', &mut line).is_err() {
            return;
        }
        loop {
            line.clear();
            match lines.read_until(b'\n', &mut line) {
                Ok(1..) => add(&line, names),
                _ => return,
            }
        }
    }
}

fn is_trusted(of: &Metadata) -> bool {
    let is_own = of.uid() == sys::user() || of.uid() == 0;
    of.is_file() && is_own && of.mode() & WRITABLE_BY_OTHERS == 0
}

fn is_of_process(of: &Metadata, recording_began_s: u64) -> bool {
    let changed_s = u64::try_from(of.mtime()).unwrap_or(0);
    changed_s.saturating_add(BEFORE_S) >= recording_began_s
}

/// Gives the addresses of a line its name. A line that is no whole one, as the program was killed
/// while it wrote it, has none.
fn add(line: &[u8], names: &mut BTreeMap<u64, Option<String>>) {
    let Some((begin, end, name)) = parse(line) else { return };
    for (_, of) in names.range_mut(begin..end) {
        *of = Some(name.clone());
    }
}

fn parse(line: &[u8]) -> Option<(u64, u64, String)> {
    let line = line.strip_suffix(b"\n")?;
    let mut parts = line.splitn(3, |&byte| byte == b' ');
    let begin = number(parts.next()?)?;
    let end = begin.checked_add(number(parts.next()?)?)?;
    let name = parts.next()?.trim_ascii();
    let name = String::from_utf8_lossy(&name[..name.len().min(NAME_BYTES_MAX)]);
    let is_plain = !name.is_empty() && !name.contains(char::is_control);
    (is_plain && begin < end).then(|| (begin, end, name.into_owned()))
}

fn number(digits: &[u8]) -> Option<u64> {
    let digits = str::from_utf8(digits).ok()?;
    u64::from_str_radix(digits.strip_prefix("0x").unwrap_or(digits), 16).ok()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn names(text: &[u8], addresses: &[u64]) -> Vec<Option<String>> {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let path = directory.path().join("perf-1.map");
        fs::write(&path, text).expect("it can be written");
        let mut names = addresses.iter().map(|&address| (address, None)).collect();
        MapFile::open(&path, 0).expect("it is ours").look_up(&mut names);
        names.into_values().collect()
    }

    #[test]
    fn an_address_has_the_last_name_that_covers_it() {
        let text = b"1000 10 first\n0x2000 0x20 second one\n1000 8 newer\n3000 0 empty\n";
        let found = names(text, &[0xfff, 0x1000, 0x1008, 0x1010, 0x201f, 0x2020, 0x3000]);
        let of = |name: &str| Some(name.to_owned());
        let second = of("second one");
        assert_eq!(found, [None, of("newer"), of("first"), None, second, None, None]);
    }

    #[test]
    fn what_is_no_line_names_nothing() {
        for text in [
            &b""[..],
            b"1000 10\n",
            b"1000 10 \n",
            b"zz 10 f\n",
            b"1000 -1 f\n",
            b"ffffffffffffffff 10 f\n",
            b"1000 10 f\x1b[31m\n",
            b"1000 10 cut",
            b"\xff\xff\xff",
        ] {
            assert_eq!(names(text, &[0x1008]), [None], "{:?}", String::from_utf8_lossy(text));
        }
        let long = [&b"1000 10 "[..], &[b'x'; 100_000], b"\n2000 10 g\n"].concat();
        let found = names(&long, &[0x1008, 0x2000]);
        assert_eq!(found, [Some("x".repeat(NAME_BYTES_MAX)), Some("g".to_owned())]);
    }

    #[test]
    fn of_a_huge_file_the_end_is_read() {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let path = directory.path().join("perf-1.map");
        fs::write(&path, b"1000 10 early\n").expect("it can be written");
        let file = fs::OpenOptions::new().write(true).open(&path).expect("it is there");
        let last = b"\n2000 10 late\n";
        let bytes = BYTES_MAX * 3;
        std::os::unix::fs::FileExt::write_all_at(&file, last, bytes).expect("there is room");
        let mut names = [(0x1008, None), (0x2008, None)].into();
        MapFile::open(&path, 0).expect("it is ours").look_up(&mut names);
        assert_eq!(names.into_values().collect::<Vec<_>>(), [None, Some("late".to_owned())]);
    }

    #[test]
    fn files_that_others_may_have_written_are_not_read() {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let path = |name: &str| directory.path().join(name);
        fs::write(path("own"), b"").expect("it can be written");
        let changed = fs::metadata(path("own")).expect("it is there").mtime();
        let changed = u64::try_from(changed).expect("a date");
        assert!(MapFile::open(&path("own"), changed + BEFORE_S).is_some());
        assert!(MapFile::open(&path("own"), changed + BEFORE_S + 1).is_none(), "an old process's");
        std::os::unix::fs::symlink(path("own"), path("link")).expect("it can be made");
        assert!(MapFile::open(&path("link"), 0).is_none(), "a link");
        assert!(MapFile::open(directory.path(), 0).is_none(), "a directory");
        assert!(MapFile::open(&path("none"), 0).is_none());
        fs::set_permissions(path("own"), Permissions::from_mode(0o666)).expect("it is ours");
        assert!(MapFile::open(&path("own"), 0).is_none(), "others may write to it");
        let fifo = std::process::Command::new("mkfifo").arg(path("fifo")).status();
        assert!(fifo.is_ok_and(|status| status.success()));
        assert!(MapFile::open(&path("fifo"), 0).is_none(), "nobody writes to it");
        if sys::user() == 0 && std::os::unix::fs::chown(path("own"), Some(1), None).is_ok() {
            fs::set_permissions(path("own"), Permissions::from_mode(0o600)).expect("root may");
            assert!(MapFile::open(&path("own"), 0).is_none(), "another user's");
        }
    }
}
