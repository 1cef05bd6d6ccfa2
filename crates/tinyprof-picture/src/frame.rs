//! How pictures travel: one after the other through a pipe.
//!
//! ```text
//! | "TPPIC001" | lengths of head, callpaths, statistics: 3 u32 | head | callpaths | statistics |
//! ```
//!
//! The head is JSON, the callpaths are as in a profile, the statistics as ranks send each other.
//! What comes from another host is not trusted: it is read within a limit, and checked.

use std::io::{self, ErrorKind, Read, Write};

use serde::{Deserialize, Serialize};
use tinyprof_format::file::{decode_callpaths, encode_callpaths};
use tinyprof_format::model::Losses;
use tinyprof_report::Statistics;
use tinyprof_vocabulary::RankSet;

use crate::few::Few;
use crate::picture::{Missing, Picture, Still};
use crate::places::Places;

const MAGIC: &[u8; 8] = b"TPPIC001";

/// The longest part of a frame, in bytes.
const BYTES_MAX: u32 = 64 << 20;

/// What a picture has besides callpaths and statistics.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    name: String,
    size: u32,
    runs: Vec<(u32, u32)>,
    hosts: u32,
    ended_hosts: u32,
    elapsed_ns: Option<u64>,
    age_ns: u64,
    losses: Losses,
    still: Few<Still>,
    missing: Few<Missing>,
    places: Vec<Places>,
}

/// Writes a picture.
///
/// # Errors
/// If it cannot be written, or is longer than a reader takes.
pub fn write(to: &mut impl Write, picture: &Picture) -> io::Result<()> {
    let head = Head {
        name: picture.name.clone(),
        size: picture.size,
        runs: picture.ranks.runs().to_vec(),
        hosts: picture.hosts,
        ended_hosts: picture.ended_hosts,
        elapsed_ns: picture.elapsed_ns,
        age_ns: picture.age_ns,
        losses: picture.losses,
        still: picture.still.clone(),
        missing: picture.missing.clone(),
        places: picture.places.clone(),
    };
    let parts = [
        serde_json::to_vec(&head)?,
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
    let head: Head = serde_json::from_slice(head)?;
    let callpaths = decode_callpaths(callpaths).map_err(|error| invalid(&error.to_string()))?;
    let statistics = Statistics::from_bytes(statistics);
    let statistics = statistics.ok_or_else(|| invalid("its statistics are damaged"))?;
    let ranks = ranks_of(&head)?;
    let is_sound = head.places.len() == callpaths.len()
        && statistics.rows().len() == callpaths.len()
        && head.places.iter().all(|places| places.is_sound(head.size))
        && head.still.is_sound()
        && head.missing.is_sound();
    if !is_sound {
        return Err(invalid("the parts of a picture do not belong together"));
    }
    Ok(Picture {
        name: head.name,
        size: head.size,
        ranks,
        hosts: head.hosts,
        ended_hosts: head.ended_hosts,
        elapsed_ns: head.elapsed_ns,
        age_ns: head.age_ns,
        callpaths,
        statistics,
        places: head.places,
        losses: head.losses,
        still: head.still,
        missing: head.missing,
    })
}

/// Returns the ranks of its runs, in order and below the size.
fn ranks_of(head: &Head) -> io::Result<RankSet> {
    let mut next = 0;
    for &(first, last) in &head.runs {
        if first < next || last < first || last >= head.size {
            return Err(invalid("its ranks are not those of a job"));
        }
        next = last + 1;
    }
    Ok(RankSet::of_runs(&head.runs))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}
