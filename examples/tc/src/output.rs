//! Writes the paths to a file, one rank after the other.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;

use crate::failure::{Failed, agreed};
use crate::relation::Relation;

/// Writes all paths as lines of begin and end, in no order, to a new file. Collective.
#[profile(tag = "IO")]
pub(crate) fn output(
    world: &SimpleCommunicator,
    paths: &Relation<2>,
    file: &Path,
) -> Result<(), Failed> {
    for rank in 0..world.size() {
        let is_mine = world.rank() == rank;
        let written = if is_mine { write(file, rank == 0, paths) } else { Ok(()) };
        agreed(
            world,
            written.map_err(|error| format!("cannot write {}: {error}", file.display())),
        )?;
    }
    Ok(())
}

fn write(file: &Path, is_first: bool, paths: &Relation<2>) -> io::Result<()> {
    let mut out = BufWriter::new(open(file, is_first)?);
    paths.index().iter().try_for_each(|[end, begin]| writeln!(out, "{begin} {end}"))?;
    out.flush()
}

/// Opens the output file. The first rank creates it and refuses an existing one, which may be a
/// user's file.
fn open(file: &Path, is_first: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    if is_first { options.write(true).create_new(true) } else { options.append(true) }.open(file)
}
