//! The arena compared with a naive one, at its limits, and watched by another thread.

mod edges;
mod limits;
mod messages;
mod metric;
mod observer;
mod oracle;
mod polled;
mod sampled;
mod sampling;
mod steered;

use std::sync::atomic::Ordering::{Acquire, Release};

use tinyprof_format::model::{CallpathId, Mode, RegionKind};

use super::super::element::{PastExecution, SeriesElement};
use super::super::site::OTHER;
use super::*;
use tinyprof_format::ticks::OpenVisit;

/// Defines sites as the macros do: side by side in the section, so that the cache serves them.
macro_rules! sites {
    ($($name:ident $mode:ident),*) => {$(
        #[used]
        #[cfg_attr(target_os = "linux", unsafe(link_section = "tinyprof_sites"))]
        static $name: Site =
            Site::new(stringify!($name), "tests", "tests.rs", 1, 1, RegionKind::Scope, Mode::$mode);
    )*};
}
sites!(A Total, B Each, C Total, D Each);

/// Returns the line of an entered node.
fn line_of(visit: &Entered) -> Line {
    let Entered::Node(line) = visit else { panic!("there is room") };
    *line
}

/// Returns a site without a dense index, which only the look-up by hash knows.
fn leaked_site(number: u32, mode: Mode) -> &'static Site {
    Box::leak(Box::new(Site::new("leaked", "tests", "tests.rs", number, 2, RegionKind::Loop, mode)))
}

/// Opens a visit as `region::enter` does.
fn open(arena: &Arena, site: &'static Site) -> Entered {
    arena.enter(site).entered()
}

/// Closes a visit as dropping a `region::Guard` does.
fn close(arena: &Arena, visit: Entered) {
    if let Entered::Node(line) = visit {
        arena.exit(line);
    }
}

/// Returns the readings of an arena that no thread is writing.
fn readings(arena: &Arena) -> Vec<Reading> {
    arena.readings().map(|reading| reading.expect("nobody writes")).collect()
}

fn visits(reading: &Reading) -> u64 {
    reading.executions.iter().map(|execution| execution.visits).sum()
}
