//! Which files of a directory are segments of dead processes, which of running ones, and why the others are left alone.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tinyprof_format::segment::{NoSegment, ProcessState, Segment, SegmentHeader, parse_boot_id};

use crate::sys;

/// A segment that a dead process has left.
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

/// What is in a directory of segments.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) dead: Vec<Found>,
    /// Names of files whose process died before it had written anything to them.
    pub(crate) empty: Vec<String>,
    /// Files of processes that still run.
    pub(crate) running: Vec<PathBuf>,
    /// A line for each of all others, and of those that still run.
    pub(crate) left_alone: Vec<String>,
}

/// This machine, as far as a segment must be from it.
struct Here {
    user_id: u32,
    boot_id: u128,
    namespace: u64,
}

enum Verdict {
    Dead(Vec<u8>),
    Empty,
    Running(String),
    LeftAlone(String),
}

/// Looks at every file in `directory`. A directory that is not there has none.
pub(crate) fn find(directory: &Path) -> Result<Findings, Box<dyn Error>> {
    let cannot = |error: io::Error| format!("cannot read {}: {error}", directory.display());
    let opened = match fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Findings::default()),
        opened => opened.map_err(cannot)?,
    };
    let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").map_err(cannot)?;
    let here = Here {
        user_id: sys::user_id(),
        boot_id: parse_boot_id(&boot_id).ok_or("/proc/sys/kernel/random/boot_id is no number")?,
        namespace: fs::metadata("/proc/self/ns/pid").map_err(cannot)?.ino(),
    };
    let mut names = opened
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<Vec<String>>>()
        .map_err(cannot)?;
    names.sort();
    let mut findings = Findings::default();
    for name in names {
        let path = directory.join(&name);
        match look_at(&path, &name, &here) {
            Ok(Verdict::Dead(bytes)) => findings.dead.push(Found { path, bytes }),
            Ok(Verdict::Empty) => findings.empty.push(name),
            Ok(Verdict::Running(why)) => {
                findings.running.push(path);
                findings.left_alone.push(format!("{name}: left alone: {why}"));
            }
            Ok(Verdict::LeftAlone(why)) => findings.left_alone.push(format!("{name}: left alone: {why}")),
            // It was removed since: by its process, or by another `recover`.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => findings.left_alone.push(format!("{name}: left alone: {error}")),
        }
    }
    Ok(findings)
}

fn look_at(path: &Path, name: &str, here: &Here) -> io::Result<Verdict> {
    let left_alone = |why: &str| Ok(Verdict::LeftAlone(why.to_owned()));
    if !fs::symlink_metadata(path)?.is_file() {
        return left_alone("it is no file");
    }
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return left_alone("it belongs to another user");
        }
        opened => opened?,
    };
    let metadata = file.metadata()?;
    if metadata.uid() != here.user_id {
        return Ok(Verdict::LeftAlone(format!("it belongs to user {}", metadata.uid())));
    }
    let mut bytes = read(&file, 4096)?;
    let header = match Segment::parse(&bytes) {
        Ok(segment) => *segment.header(),
        Err(NoSegment::Magic) if bytes.iter().take(8).all(|&byte| byte == 0) && died_early(name) => {
            return Ok(Verdict::Empty);
        }
        Err(why) => return Ok(Verdict::LeftAlone(why.to_string())),
    };
    if let Some(why) = reason_against(&header, here) {
        return Ok(Verdict::LeftAlone(why));
    }
    if runs(header.process_id, header.start_time) {
        return Ok(Verdict::Running(format!("process {} still runs", header.process_id)));
    }
    bytes.extend(read(&file, metadata.len())?);
    Ok(Verdict::Dead(bytes))
}

fn reason_against(header: &SegmentHeader, here: &Here) -> Option<String> {
    if header.user_id != here.user_id {
        return Some(format!("it says that it belongs to user {}", header.user_id));
    }
    if header.boot_id != here.boot_id {
        return Some("it is from another boot or machine, and only there its times can be read".to_owned());
    }
    if header.namespace != here.namespace {
        return Some("it is from another container; recover it there".to_owned());
    }
    None
}

/// Whether the process that began then still runs: not another of the same number.
fn runs(process_id: u32, start_time: u64) -> bool {
    let stat = match fs::read(format!("/proc/{process_id}/stat")) {
        Err(error) => {
            return !matches!(error.kind(), ErrorKind::NotFound) && error.raw_os_error() != Some(libc::ESRCH);
        }
        Ok(stat) => stat,
    };
    let state = ProcessState::parse(&String::from_utf8_lossy(&stat));
    state.is_none_or(|state| state.start_time == start_time && !state.has_ended)
}

/// Whether the process that a file is named after, `PID-START-THREAD.segment`, is dead.
fn died_early(name: &str) -> bool {
    let numbers = name.strip_suffix(".segment").unwrap_or_default().split('-').map(str::parse::<u64>);
    let numbers: Vec<u64> = numbers.map_while(Result::ok).collect();
    let [process_id, start_time, _] = numbers[..] else { return false };
    u32::try_from(process_id).is_ok_and(|process_id| !runs(process_id, start_time))
}

/// At most so many of the next bytes of a file.
fn read(mut file: &File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}
