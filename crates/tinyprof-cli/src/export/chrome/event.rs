//! Trace events, and the file around them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::export::exporter::{Source, float};
use crate::export::json;

/// The file's own note on what was measured.
const CAVEAT: &str = "Reconstructed from a profile: how long things took was measured, when they began was not. \
                      Executions and the elements of series stand end to end.";

#[derive(Serialize)]
pub(super) struct Event<'a> {
    ph: &'static str,
    name: &'a str,
    pid: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<u32>,
    /// The start, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    /// The duration, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    args: Args<'a>,
}

impl<'a> Event<'a> {
    /// Creates an event. The format calls an event's kind its phase.
    pub(super) fn new(phase: &'static str, name: &'a str, process: usize) -> Self {
        let args = Args::Name { name };
        Self { ph: phase, name, pid: process, tid: None, ts: None, dur: None, args }
    }

    pub(super) fn describing(self, track: Option<u32>, args: Args<'a>) -> Self {
        Self { tid: track, args, ..self }
    }

    pub(super) fn lasting(self, track: u32, start_ns: u64, ns: u64, args: Args<'a>) -> Self {
        Self { tid: Some(track), dur: Some(length(start_ns, ns)), ..self.at(start_ns, args) }
    }

    pub(super) fn at(self, start_ns: u64, args: Args<'a>) -> Self {
        Self { ts: Some(microseconds(start_ns)), args, ..self }
    }
}

/// Converts to the format's unit: microseconds with a fraction, in which whole nanoseconds are
/// exact for a hundred days.
fn microseconds(ns: u64) -> f64 {
    float(ns.into()) / 1e3
}

/// Returns a length in microseconds that makes slices meet exactly in a viewer that adds doubles.
///
/// The slice ends exactly where its neighbour starts and the slice around it ends. A slice that
/// ends a rounding error later overlaps, and viewers drop such slices.
fn length(start_ns: u64, ns: u64) -> f64 {
    let (start, end) = (microseconds(start_ns), microseconds(start_ns.saturating_add(ns)));
    let plain = microseconds(ns);
    if (start + plain).to_bits() == end.to_bits() { plain } else { end - start }
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Args<'a> {
    Name {
        name: &'a str,
    },
    SortIndex {
        sort_index: usize,
    },
    Times {
        execution: u32,
        executions: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        first_visit: Option<u64>,
        visits: u64,
        sum_ns: u64,
        min_ns: u64,
        max_ns: u64,
    },
    Value(BTreeMap<&'a str, f64>),
}

/// The file, with one event per line.
pub(super) struct Events<'w> {
    out: &'w mut (dyn Write + Send),
    is_first: bool,
}

impl<'w> Events<'w> {
    pub(super) fn start(out: &'w mut (dyn Write + Send), source: &Source<'_>) -> io::Result<Self> {
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\"otherData\":")?;
        let data = [
            ("profile", source.name.as_str()),
            ("positions", CAVEAT),
            ("precision", source.precision()),
        ];
        json::write(out, &BTreeMap::from(data))?;
        out.write_all(b",\"traceEvents\":[")?;
        Ok(Self { out, is_first: true })
    }

    pub(super) fn write(&mut self, event: &Event<'_>) -> io::Result<()> {
        let before = if std::mem::take(&mut self.is_first) { "\n" } else { ",\n" };
        self.out.write_all(before.as_bytes())?;
        json::write(self.out, event)
    }

    pub(super) fn end(self) -> io::Result<()> {
        self.out.write_all(b"\n]}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_end_where_their_neighbours_start() {
        let (mut start_ns, mut state, mut adjusted) = (0_u64, 1_u64, 0);
        for _ in 0..100_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let ns = state >> 33 >> (state % 31);
            let length = length(start_ns, ns);
            adjusted += u32::from(length.to_bits() != microseconds(ns).to_bits());
            let next = microseconds(start_ns + ns);
            assert_eq!(
                (microseconds(start_ns) + length).to_bits(),
                next.to_bits(),
                "{start_ns} and {ns} ns"
            );
            start_ns += ns;
        }
        assert!(adjusted > 0, "adding the plain lengths would do as well");
    }
}
