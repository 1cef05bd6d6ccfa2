//! Segments of killed programs, as seeds for the fuzzers.

use std::fs;
use std::io;
use std::path::Path;

use tinyprof_faults::phase::Phase;
use tinyprof_faults::sys::{kill, spin_us};
use tinyprof_segment::layout::{HEADER_LINES, LINE_BYTES};

use crate::configuration::{Configuration, PLAIN};
use crate::place::Scratch;

/// The configurations of the seeds: enough rounds for small seeds, after which the program waits to
/// be killed.
const SEEDS: &[Configuration] = &[
    Configuration { name: "plain", levels: 0, rounds: Some(12), end: "stay", ..PLAIN },
    Configuration { name: "grown", levels: 1, rounds: Some(6), end: "stay", ..PLAIN },
    Configuration {
        name: "budget",
        levels: 1,
        rounds: Some(16),
        end: "stay",
        settings: &[("TINYPROF_BUDGET", "0.1%")],
        ..PLAIN
    },
];

/// Writes the segments into `directory`, without the zeros at their ends.
pub(crate) fn write(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    for configuration in SEEDS {
        let place = Scratch::new(configuration.levels, None)?;
        let mut child = place.victim(configuration)?.spawn()?;
        while place.truths()[0].phase() < Phase::Own {
            spin_us(1);
        }
        kill(child.id());
        child.wait()?;
        let segment =
            fs::read_dir(place.path("segments"))?.next().ok_or(io::ErrorKind::NotFound)??.path();
        let mut bytes = fs::read(segment)?;
        let used = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        bytes.truncate(used.next_multiple_of(LINE_BYTES).max(HEADER_LINES as usize * LINE_BYTES));
        fs::write(directory.join(format!("{}.segment", configuration.name)), bytes)?;
    }
    Ok(())
}
