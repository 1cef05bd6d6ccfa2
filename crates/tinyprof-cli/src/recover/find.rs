//! Classification of the files of a directory: segments of dead processes, of running ones, and
//! other files, with the reason why they are left alone.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tinyprof_format::segment::{NoSegment, Segment, SegmentHeader, directories, parse_boot_id};
use tinyprof_segment::layout::SEGMENT_BYTES_MAX;

use super::alive::{Owner, owner, runs};
use super::boards;
use super::jobs::Piece;
use crate::sys;

/// The number of bytes that are read to identify a file. This covers the header and usually the
/// description.
const HEAD_BYTES: u64 = 64 << 10;
/// The largest end offset at which a description is still read.
const DESCRIPTION_END_MAX: u64 = 4 << 20;
/// The highest compression ratio to expect: a compressing file system may store fewer bytes than a
/// file has, but hardly fewer than one in 64.
const COMPRESSION_MAX: u64 = 64;
const HOLES_BYTES_MAX: u64 = 16 << 20;

/// A segment left by a dead process.
pub(crate) struct Found {
    path: PathBuf,
    /// Its first bytes, with the header and the description.
    head: Vec<u8>,
    is_replaced: bool,
}

impl Found {
    /// Returns the part that has been read; `None` if it is not a segment.
    pub(crate) fn piece(&self) -> Option<Piece<'_>> {
        let segment = Segment::parse(&self.head).ok()?;
        Some(Piece { path: &self.path, segment, is_replaced: self.is_replaced })
    }
}

/// Reads all bytes of a segment, at most `bytes_max`. The file may have changed since it was found,
/// but its header and description must not have.
pub(super) fn read_whole(piece: &Piece<'_>, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = open(piece.path)?;
    let length = file.metadata()?.len();
    if length > bytes_max.min(SEGMENT_BYTES_MAX) {
        return Err(io::Error::new(
            ErrorKind::FileTooLarge,
            format!(
                "its threads recorded more than {bytes_max} bytes: allow more, as in tinyprof --memory 4GiB"
            ),
        ));
    }
    let bytes = read(&file, length)?;
    if Segment::parse(&bytes).ok().is_none_or(|segment| segment.header() != piece.segment.header())
    {
        return Err(io::Error::other("it has changed since it was looked at"));
    }
    Ok(bytes)
}

/// Returns the first bytes of a segment in this file, with the header and the description.
pub(crate) fn head(path: &Path) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let mut head = read(&file, HEAD_BYTES)?;
    let end = Segment::parse(&head).map_or(0, |segment| segment.description_end());
    read_description(&file, &mut head, end)?;
    Ok(head)
}

/// Reads the rest of the description, which ends at `end`.
fn read_description(file: &File, head: &mut Vec<u8>, end: u64) -> io::Result<()> {
    if end > HEAD_BYTES && end <= DESCRIPTION_END_MAX {
        head.extend(read(file, end - HEAD_BYTES)?);
    }
    Ok(())
}

/// The contents of a directory of segments.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) dead: Vec<Found>,
    /// Files whose process died before it had written anything to them.
    pub(crate) empty: Vec<PathBuf>,
    /// Boards whose processes are all dead.
    pub(crate) stale_boards: Vec<PathBuf>,
    /// Files of processes that still run.
    pub(crate) running: Vec<PathBuf>,
    /// One line for each file that is left alone, including those of running processes.
    pub(crate) left_alone: Vec<String>,
}

/// The facts of this machine that a segment must match.
struct Here {
    user_id: u32,
    boot_id: u128,
    namespace: u64,
}

enum Verdict {
    Dead {
        head: Vec<u8>,
        is_replaced: bool,
    },
    Empty,
    StaleBoard,
    /// A board of ranks that are starting.
    Board,
    Running(String),
    LeftAlone(String),
}

/// Looks at every file in `directory`, and in all directories that this user's programs use by
/// default if it is one of them. A missing directory has none.
pub(crate) fn find(directory: &Path) -> Result<Findings, Box<dyn Error>> {
    let by_default = directories(sys::user_id());
    let is_default = by_default.iter().any(|one| one == directory);
    let all = if is_default { by_default } else { vec![directory.to_owned()] };
    let mut findings = Findings::default();
    for directory in all {
        find_in(&directory, &mut findings)?;
    }
    Ok(findings)
}

fn find_in(directory: &Path, findings: &mut Findings) -> Result<(), Box<dyn Error>> {
    let cannot = |error: io::Error| format!("cannot read {}: {error}", directory.display());
    let opened = match fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
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
    for name in names {
        let path = directory.join(&name);
        match look_at(&path, &name, &here) {
            Ok(Verdict::Dead { head, is_replaced }) => {
                findings.dead.push(Found { path, head, is_replaced });
            }
            Ok(Verdict::Empty) => findings.empty.push(path),
            Ok(Verdict::StaleBoard) => findings.stale_boards.push(path),
            Ok(Verdict::Board) => {}
            Ok(Verdict::Running(why)) => {
                findings.running.push(path);
                findings.left_alone.push(format!("{name}: left alone: {why}"));
            }
            Ok(Verdict::LeftAlone(why)) => {
                findings.left_alone.push(format!("{name}: left alone: {why}"));
            }
            // Its process or another `recover` has removed it since.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => findings.left_alone.push(format!("{name}: left alone: {error}")),
        }
    }
    Ok(())
}

fn look_at(path: &Path, name: &str, here: &Here) -> io::Result<Verdict> {
    let left_alone = |why: &str| Ok(Verdict::LeftAlone(why.to_owned()));
    if !fs::symlink_metadata(path)?.is_file() {
        return left_alone("it is no file");
    }
    let file = match open(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return left_alone("it belongs to another user");
        }
        opened => opened?,
    };
    let metadata = file.metadata()?;
    if metadata.uid() != here.user_id {
        return Ok(Verdict::LeftAlone(format!("it belongs to user {}", metadata.uid())));
    }
    if boards::is_board(name, &metadata) {
        let is_stale = boards::is_stale(&read(&file, metadata.len())?);
        return Ok(if is_stale { Verdict::StaleBoard } else { Verdict::Board });
    }
    if let Some(why) = reason_against_length(&metadata) {
        return Ok(Verdict::LeftAlone(why));
    }
    let mut head = read(&file, HEAD_BYTES)?;
    let (header, end) = match Segment::parse(&head) {
        Ok(segment) => (*segment.header(), segment.description_end()),
        Err(NoSegment::Magic) if head.iter().take(8).all(|&byte| byte == 0) && died_early(name) => {
            return Ok(Verdict::Empty);
        }
        Err(why) => return Ok(Verdict::LeftAlone(why.to_string())),
    };
    if let Some(why) = reason_against(&header, here) {
        return Ok(Verdict::LeftAlone(why));
    }
    let is_replaced = match owner(header.process_id, header.start_time, name, &metadata) {
        Owner::Records => {
            return Ok(Verdict::Running(format!("process {} still runs", header.process_id)));
        }
        Owner::IsReplaced => true,
        Owner::IsDead => false,
    };
    read_description(&file, &mut head, end)?;
    Ok(Verdict::Dead { head, is_replaced })
}

/// Opens a file that may be anything: never follows a link, and never waits for the writer of a
/// pipe.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
}

/// Rejects impossible lengths: a sparse file of enormous length costs nothing to create.
fn reason_against_length(metadata: &fs::Metadata) -> Option<String> {
    let (bytes, there) = (metadata.len(), metadata.blocks().saturating_mul(512));
    if bytes > SEGMENT_BYTES_MAX {
        return Some(format!(
            "it has {bytes} bytes, and no segment has more than {SEGMENT_BYTES_MAX}"
        ));
    }
    (bytes > there.saturating_mul(COMPRESSION_MAX).saturating_add(HOLES_BYTES_MAX)).then(|| {
        format!("it has {bytes} bytes, but only {there} are on the disk, and no segment has holes")
    })
}

fn reason_against(header: &SegmentHeader, here: &Here) -> Option<String> {
    if header.user_id != here.user_id {
        return Some(format!("it says that it belongs to user {}", header.user_id));
    }
    if header.boot_id != here.boot_id {
        return Some(
            "it is from another boot or machine, and only there its times can be read".to_owned(),
        );
    }
    if header.namespace != here.namespace {
        return Some("it is from another container; recover it there".to_owned());
    }
    None
}

/// Returns `true` if the process in the file's name is dead.
///
/// Names are `PID-START-THREAD.segment`, or `PID-START-THREAD-N.segment` if that name was taken by
/// an earlier program of the process or by another copy of the recorder.
fn died_early(name: &str) -> bool {
    let numbers =
        name.strip_suffix(".segment").unwrap_or_default().split('-').map(str::parse::<u64>);
    let numbers: Vec<u64> = numbers.map_while(Result::ok).collect();
    let ([process_id, start_time, _] | [process_id, start_time, _, _]) = numbers[..] else {
        return false;
    };
    u32::try_from(process_id).is_ok_and(|process_id| !runs(process_id, start_time))
}

/// Reads at most `bytes_max` of the next bytes of a file.
fn read(mut file: &File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}
