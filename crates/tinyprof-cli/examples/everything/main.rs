//! Writes a made-up profile of any size that has all that a page shows: regions with series, a
//! metric, messages, waiting and its causes, samples, and events.
//!
//! ```sh
//! cargo run -p tinyprof-cli --example everything -- NAME RANKS CALLPATHS STEPS
//! ```
//!
//! Ranks are a grid. In each step they compute, exchange with two neighbours, and meet in a
//! reduction; one of them computes 30 % longer. Its numbers are equal in every run of this program,
//! so that pictures of its pages can be compared.

mod events;
mod places;
mod rank;
mod schedule;

use std::error::Error;
use std::path::Path;

use tinyprof_format::file::ProfileWriter;
use tinyprof_format::model::{EventMap, RunMetadata};

use places::Places;
use schedule::Schedule;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, ranks, callpaths, steps] = arguments.as_slice() else {
        return Err("usage: everything NAME RANKS CALLPATHS STEPS".into());
    };
    let (ranks, steps): (usize, usize) = (ranks.parse()?, steps.parse()?);
    let places = Places::new(callpaths.parse()?, ranks);
    let schedule = Schedule::new(ranks, places.kernels(), steps);
    let maps: Vec<EventMap> =
        (0..ranks).map(|rank| rank::event_map(&places, &schedule, rank)).collect();
    let metadata = RunMetadata {
        user: "ada".into(),
        launchdate: 1_795_270_350,
        executable: "/home/ada/solver".into(),
        cmdline: vec!["solver".into(), "--steps".into(), steps.to_string()],
        cluster: "analytical".into(),
        jobsize: u32::try_from(ranks)?,
        mpi_version: Some("Open MPI v4.1.4".into()),
        tinyprof_version: env!("CARGO_PKG_VERSION").into(),
        clock: "tsc".into(),
        cpus: 64,
        ..RunMetadata::default()
    };
    let ranks_per_part = ranks.div_ceil(16).max(1);
    ProfileWriter::new()
        .with_ranks_per_part(ranks_per_part)
        .with_metadata(metadata)
        .write(Path::new(name), &maps)?;
    Ok(())
}
