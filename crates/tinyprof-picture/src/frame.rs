//! How pictures travel: one after the other through a pipe.
//!
//! ```text
//! | "TPPIC001" | lengths of head, callpaths, statistics: 3 u32 | head | callpaths | statistics |
//! ```
//!
//! The head is the rest of the picture as JSON; the callpaths are as in a profile, the statistics
//! as ranks send each other. Data of another host is not trusted: it is read up to a limit, and
//! checked.

use std::io::{self, ErrorKind, Read, Write};

use tinyprof_format::file::{decode_callpaths, encode_callpaths};
use tinyprof_report::Statistics;

use crate::picture::Picture;

const MAGIC: &[u8; 8] = b"TPPIC001";

/// The longest part of a frame, in bytes.
const BYTES_MAX: u32 = 64 << 20;

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
    let mut bytes = MAGIC.to_vec();
    for part in &parts {
        let length = u32::try_from(part.len()).ok().filter(|length| *length <= BYTES_MAX);
        let length = length.ok_or_else(|| invalid("a picture is too long to be sent"))?;
        bytes.extend(length.to_le_bytes());
    }
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    to.write_all(&bytes)?;
    to.flush()
}

/// Reads the next picture; none if there is no more.
///
/// # Errors
/// If the pipe fails, or what comes is no picture. Whoever sent it is not to be read further.
pub fn read(from: &mut impl Read) -> io::Result<Option<Picture>> {
    let mut magic = [0; MAGIC.len()];
    let begun = from.read(&mut magic[..1])?;
    if begun == 0 {
        return Ok(None);
    }
    from.read_exact(&mut magic[1..])?;
    if &magic != MAGIC {
        return Err(invalid("what came is no picture of a job, or one of another version"));
    }
    let mut lengths = [0; 12];
    from.read_exact(&mut lengths)?;
    let (lengths, _) = lengths.as_chunks::<4>();
    let mut parts = Vec::new();
    for length in lengths.iter().map(|bytes| u32::from_le_bytes(*bytes)) {
        if length > BYTES_MAX {
            return Err(invalid("a picture of a job is longer than expected"));
        }
        let mut part = Vec::new();
        from.take(length.into()).read_to_end(&mut part)?;
        if part.len() as u64 != u64::from(length) {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        parts.push(part);
    }
    picture(&parts).map(Some)
}

fn picture(parts: &[Vec<u8>]) -> io::Result<Picture> {
    let [head, callpaths, statistics] = parts else { return Err(invalid("three parts")) };
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
