//! Trace events, and the file around them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::export::exporter::float;
use crate::export::json;

/// What the file says of itself.
const CAVEAT: &str = "Reconstructed from a profile: how long things took was measured, when they began was not. \
                      Executions and the elements of series stand end to end.";

#[derive(Serialize)]
pub(super) struct Event<'a> {
    ph: &'static str,
    name: &'a str,
    pid: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<u32>,
    /// In microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    /// In microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    args: Args<'a>,
}

impl<'a> Event<'a> {
    /// An event of a phase, as the format calls what kind it is of.
    pub(super) fn new(phase: &'static str, name: &'a str, process: usize) -> Self {
        let args = Args::Name { name };
        Self { ph: phase, name, pid: process, tid: None, ts: None, dur: None, args }
    }

    pub(super) fn describing(self, track: Option<u32>, args: Args<'a>) -> Self {
        Self { tid: track, args, ..self }
    }

    pub(super) fn lasting(self, track: u32, start_ns: u64, ns: u64, args: Args<'a>) -> Self {
        Self { tid: Some(track), dur: Some(microseconds(ns)), ..self.at(start_ns, args) }
    }

    pub(super) fn at(self, start_ns: u64, args: Args<'a>) -> Self {
        Self { ts: Some(microseconds(start_ns)), args, ..self }
    }
}

/// The format counts in microseconds with a fraction: whole nanoseconds are exact for a hundred days.
fn microseconds(ns: u64) -> f64 {
    float(ns.into()) / 1e3
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

/// The file, an event a line.
pub(super) struct Events<'w> {
    out: &'w mut (dyn Write + Send),
    is_first: bool,
}

impl<'w> Events<'w> {
    pub(super) fn start(out: &'w mut (dyn Write + Send), profile: &str) -> io::Result<Self> {
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\"otherData\":")?;
        json::write(out, &BTreeMap::from([("profile", profile), ("positions", CAVEAT)]))?;
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
