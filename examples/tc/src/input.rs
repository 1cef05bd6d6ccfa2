//! Reads a graph from a file, each rank a part of it.

mod line;
mod matrix_market;
mod part;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::{profile, record};

use crate::failure::{Failed, agreed};
use crate::relation::Tuple;
use line::Format;
use matrix_market::Header;
use part::Part;

/// Returns the edges in this rank's part of the file: lines of two vertices, or a Matrix Market
/// file. Collective.
///
/// Every rank reads an equal share of the bytes, and the lines that begin in it.
#[profile(tag = "IO")]
pub(crate) fn input(world: &SimpleCommunicator, file: &Path) -> Result<Vec<Tuple<2>>, Failed> {
    let named = |line: u64, reason: &str| format!("{}:{line}: {reason}", file.display());
    let unread = |error: std::io::Error| format!("cannot read {}: {error}", file.display());
    let opened = open(file).map_err(|error| match error {
        OpenError::Io(error) => unread(error),
        OpenError::Line(line, reason) => named(line, &reason),
    });
    let (length_bytes, header) = agreed(world, opened)?;
    let (rank, ranks) =
        (u64::from(world.rank().unsigned_abs()), u64::from(world.size().unsigned_abs()));
    let (begin, format) = match &header {
        Some(header) => (header.bytes, Format::MatrixMarket(header.shape)),
        None => (0, Format::EdgeList),
    };
    let body_bytes = length_bytes.saturating_sub(begin);
    let at = |share: u64| {
        begin
            + u64::try_from(u128::from(body_bytes) * u128::from(share) / u128::from(ranks))
                .expect("it is in the file")
    };
    let part = Part::read(file, begin, at(rank)..at(rank + 1), format);
    let part = agreed(world, part.map_err(unread))?;
    let before = lines_before(world, part.lines) + header.as_ref().map_or(0, |header| header.lines);
    let found = match part.bad {
        Some((line, reason)) => Err(named(before + line, &reason)),
        None => Ok(part.edges),
    };
    let edges = agreed(world, found)?;
    if let Some(header) = header {
        agreed(
            world,
            entries_are(world, &header, part.entries)
                .map_err(|reason| named(header.lines, &reason)),
        )?;
    }
    record!(tuples = edges.len());
    Ok(edges)
}

enum OpenError {
    Io(std::io::Error),
    Line(u64, String),
}

/// Returns the length of the file, and its header if it is a Matrix Market file.
fn open(path: &Path) -> Result<(u64, Option<Header>), OpenError> {
    let file = File::open(path).map_err(OpenError::Io)?;
    let length_bytes = file.metadata().map_err(OpenError::Io)?.len();
    let mut file = BufReader::new(file);
    let is_matrix_market = file.fill_buf().map_err(OpenError::Io)?.starts_with(matrix_market::MARK);
    if !is_matrix_market {
        return Ok((length_bytes, None));
    }
    match Header::read(&mut file).map_err(OpenError::Io)? {
        Ok(header) => Ok((length_bytes, Some(header))),
        Err((line, reason)) => Err(OpenError::Line(line, reason)),
    }
}

/// Returns the number of lines on lower ranks. Collective.
fn lines_before(world: &SimpleCommunicator, own: u64) -> u64 {
    let mut of_all = vec![0; usize::try_from(world.size()).expect("MPI counts from zero")];
    world.all_gather_into(&own, &mut of_all[..]);
    of_all.iter().take(usize::try_from(world.rank()).expect("MPI counts from zero")).sum()
}

/// Checks the number of entries against the header: a truncated file has fewer. Collective.
fn entries_are(world: &SimpleCommunicator, header: &Header, own: u64) -> Result<(), String> {
    let mut found = 0;
    world.all_reduce_into(&own, &mut found, mpi::collective::SystemOperation::sum());
    if found == header.entries {
        return Ok(());
    }
    Err(format!("expected {} entries, as the header says, found {found}", header.entries))
}
