//! Frames of pictures and measurements, one after the other through a pipe.
//!
//! ```text
//! | "TPPIC001" | lengths of head, callpaths, statistics: 3 u32 | head | callpaths | statistics |
//! | "TPMSR001" | lengths of host, profile: 2 u32               | host | profile                |
//! ```
//!
//! The head is the rest of the picture as JSON; the callpaths are as in a profile, the statistics
//! as ranks send each other. Measurements are the profile of the ranks of one host, in a form that
//! those who send and receive it agree on. Data of another host is not trusted: it is read up to a
//! limit, and checked.

use std::io::{self, ErrorKind, Read, Write};

use tinyprof_format::file::{decode_callpaths, encode_callpaths};
use tinyprof_report::Statistics;

use crate::picture::Picture;

const PICTURE: &[u8; 8] = b"TPPIC001";
const MEASUREMENTS: &[u8; 8] = b"TPMSR001";

/// The longest part of a frame, in bytes.
const BYTES_MAX: u32 = 64 << 20;

/// A picture or measurements, as one host tells them to another.
#[derive(Clone, Debug, PartialEq)]
pub enum Sent {
    /// A picture of a job, or of a part of it.
    Picture(Box<Picture>),
    /// The measurements of a host.
    Measurements(Measurements),
}

/// The measurements of the ranks of a host so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measurements {
    /// The host, as those call it who watch it.
    pub host: String,
    /// Their profile.
    pub profile: Vec<u8>,
}

impl Sent {
    /// Returns the picture, if it is one.
    #[must_use]
    pub fn picture(self) -> Option<Picture> {
        match self {
            Self::Picture(picture) => Some(*picture),
            Self::Measurements(_) => None,
        }
    }
}

/// Writes a picture.
///
/// # Errors
/// If it cannot be written, or is longer than a reader takes.
pub fn write(to: &mut impl Write, picture: &Picture) -> io::Result<()> {
    let parts = [
        serde_json::to_vec(picture)?,
        encode_callpaths(&picture.callpaths),
        picture.statistics.to_bytes(),
    ];
    write_parts(to, PICTURE, &parts)
}

/// Writes the measurements of a host.
///
/// # Errors
/// If they cannot be written, or are longer than a reader takes.
pub fn write_measurements(to: &mut impl Write, measurements: &Measurements) -> io::Result<()> {
    let parts = [measurements.host.as_bytes(), &measurements.profile];
    write_parts(to, MEASUREMENTS, &parts)
}

fn write_parts(to: &mut impl Write, magic: &[u8; 8], parts: &[impl AsRef<[u8]>]) -> io::Result<()> {
    let mut bytes = magic.to_vec();
    for part in parts {
        let length = u32::try_from(part.as_ref().len()).ok();
        let length = length.filter(|length| *length <= BYTES_MAX);
        let length = length.ok_or_else(|| invalid("a picture is too long to be sent"))?;
        bytes.extend(length.to_le_bytes());
    }
    parts.iter().for_each(|part| bytes.extend_from_slice(part.as_ref()));
    to.write_all(&bytes)?;
    to.flush()
}

/// Reads what comes next; none if there is no more.
///
/// # Errors
/// If the pipe fails, or what comes is neither. Whoever sent it is not to be read further.
pub fn read(from: &mut impl Read) -> io::Result<Option<Sent>> {
    let mut magic = [0; PICTURE.len()];
    let begun = from.read(&mut magic[..1])?;
    if begun == 0 {
        return Ok(None);
    }
    from.read_exact(&mut magic[1..])?;
    let sent = match &magic {
        PICTURE => Sent::Picture(Box::new(picture(&read_parts(from)?)?)),
        MEASUREMENTS => {
            let [host, profile] = read_parts(from)?;
            let host = String::from_utf8(host).map_err(|_| invalid("the name of a host"))?;
            Sent::Measurements(Measurements { host, profile })
        }
        _ => return Err(invalid("what came is no picture of a job, or one of another version")),
    };
    Ok(Some(sent))
}

fn read_parts<const COUNT: usize>(from: &mut impl Read) -> io::Result<[Vec<u8>; COUNT]> {
    let mut lengths = [[0; 4]; COUNT];
    lengths.iter_mut().try_for_each(|length| from.read_exact(length))?;
    let mut parts = [const { Vec::new() }; COUNT];
    for (length, part) in lengths.map(u32::from_le_bytes).into_iter().zip(&mut parts) {
        if length > BYTES_MAX {
            return Err(invalid("a picture of a job is longer than expected"));
        }
        from.take(length.into()).read_to_end(part)?;
        if part.len() as u64 != u64::from(length) {
            return Err(ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(parts)
}

fn picture([head, callpaths, statistics]: &[Vec<u8>; 3]) -> io::Result<Picture> {
    let head: Picture = serde_json::from_slice(head)?;
    let callpaths = decode_callpaths(callpaths).map_err(|error| invalid(&error.to_string()))?;
    let statistics = Statistics::from_bytes(statistics);
    let statistics = statistics.ok_or_else(|| invalid("its statistics are damaged"))?;
    let picture = Picture { callpaths, statistics, ..head };
    if picture.is_sound() {
        Ok(picture)
    } else {
        Err(invalid("the parts of a picture do not belong together"))
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}
