//! OTF2: the events of each rank and thread, for Vampir, Scalasca and Score-P's tools.
//!
//! An archive is a directory: an anchor `traces.otf2`, the definitions `traces.def`, and below
//! `traces` a file of events for each thread, and one of definitions of its own, which is empty.
//! Numbers in events are those of the definitions for all.
//!
//! * `buffer`: numbers, texts and records; `chunks`: files of events; `definitions`.

mod buffer;
mod chunks;
mod definitions;

use std::collections::HashMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use tinyprof_format::model::{CallpathId, Region, SiteId, ThreadEvents};

use super::events::ShownRanks;
use super::exporter::{Exporter, Notes, Request, Source};
use super::names;
use crate::events::{Edge, each_edge};
use buffer::Buffer;
use chunks::{CHUNK_BYTES, Chunks};
use definitions::Definitions;

/// About how many bytes a visit takes in the files.
const VISIT_BYTES: u64 = 24;
/// The version of the format that is written, and of the library that wrote the same.
const ANCHOR_FORMAT: u8 = 3;
const TRACE_FORMAT: u8 = 2;
const VERSION: [u8; 3] = [3, 0, 2];
const DEFINITION_CHUNK_BYTES: usize = 4 << 20;
const POSIX: u8 = 1;
const NOT_COMPRESSED: u8 = 1;

pub(super) struct Otf2;

impl Exporter for Otf2 {
    fn has_events(&self) -> bool {
        true
    }

    fn writes_directory(&self) -> bool {
        true
    }

    fn export_into(&self, request: &Request<'_>, to: &Path) -> Result<Notes, Box<dyn Error>> {
        let shown = ShownRanks::of(request)?;
        let machine = names::shown(&shown.source.manifest().metadata.cluster);
        let machine = if machine.is_empty() { "machine" } else { &machine };
        let mut archive = Archive::new(to, machine)?;
        let mut regions: HashMap<CallpathId, u32> = HashMap::new();
        for row in shown.source.callpaths().rows() {
            let number = archive.definitions.region(&row.region);
            regions.insert(row.id, number);
        }
        let notes = shown.each(VISIT_BYTES, &mut |source, name, rank, events| {
            let process = archive.definitions.process(name, host(source, rank));
            for thread in &events.threads {
                archive.thread(rank, process, thread, &regions)?;
            }
            Ok(())
        })?;
        archive.finish(machine, &request.name())?;
        Ok(notes)
    }
}

fn host<'a>(source: &'a Source<'_>, rank: u32) -> &'a str {
    Some(source.host(rank)).filter(|host| !host.is_empty()).unwrap_or("unknown host")
}

/// An archive that is being written.
struct Archive<'a> {
    to: &'a Path,
    definitions: Definitions,
    locations: u64,
    end_ns: u64,
}

impl<'a> Archive<'a> {
    fn new(to: &'a Path, machine: &str) -> Result<Self, Box<dyn Error>> {
        fs::create_dir(to.join("traces"))?;
        let definitions = Definitions::of_machine(machine);
        Ok(Self { to, definitions, locations: 0, end_ns: 0 })
    }

    fn thread(
        &mut self,
        rank: u32,
        process: u32,
        thread: &ThreadEvents,
        regions: &HashMap<CallpathId, u32>,
    ) -> Result<(), Box<dyn Error>> {
        let location = u64::from(thread.thread) << 32 | u64::from(rank);
        let unknown = Region::named(SiteId::from_bits(0), "[unknown]");
        let file = File::create(self.file(location, "evt"))?;
        let mut chunks = Chunks::new(BufWriter::new(file));
        each_edge(&thread.visits, |edge, at_ns, callpath| {
            let region = regions.get(&callpath).copied();
            let region = region.unwrap_or_else(|| self.definitions.region(&unknown));
            self.end_ns = at_ns.max(self.end_ns);
            match edge {
                Edge::Begin => chunks.enter(at_ns, region),
                Edge::End => chunks.leave(at_ns, region),
            }
        })?;
        let events = chunks.finish()?;
        let mut own = Buffer::of_chunk(1);
        own.end();
        fs::write(self.file(location, "def"), own.bytes())?;
        self.locations += 1;
        let name = format!("thread {}", thread.thread);
        self.definitions.thread(location, &name, events, process);
        if let Some(words) = completeness(thread) {
            self.definitions.property(location, "TinyProf events", &words);
        }
        Ok(())
    }

    fn file(&self, location: u64, ending: &str) -> std::path::PathBuf {
        self.to.join("traces").join(format!("{location}.{ending}"))
    }

    fn finish(mut self, machine: &str, name: &str) -> Result<(), Box<dyn Error>> {
        self.definitions.clock(self.end_ns);
        let (definitions, count) = self.definitions.finish(DEFINITION_CHUNK_BYTES);
        fs::write(self.to.join("traces.def"), definitions)?;
        let mut anchor = Buffer::of_file();
        anchor.text("OTF2");
        [ANCHOR_FORMAT, TRACE_FORMAT].iter().for_each(|&byte| anchor.byte(byte));
        VERSION.iter().for_each(|&byte| anchor.byte(byte));
        anchor.full64(CHUNK_BYTES as u64);
        anchor.full64(DEFINITION_CHUNK_BYTES as u64);
        anchor.byte(POSIX);
        anchor.byte(NOT_COMPRESSED);
        anchor.full64(self.locations);
        anchor.full64(count);
        anchor.text(machine);
        anchor.text(concat!("TinyProf ", env!("CARGO_PKG_VERSION")));
        anchor.text(&names::shown(name));
        // No properties, no number of the trace, no snapshots, no thumbnails.
        anchor.full32(0);
        anchor.full64(1);
        anchor.full32(0);
        anchor.full32(0);
        anchor.end();
        anchor.byte(0);
        fs::write(self.to.join("traces.otf2"), anchor.bytes())?;
        Ok(())
    }
}

/// Says which events of a thread are there, unless all are.
fn completeness(thread: &ThreadEvents) -> Option<String> {
    let lost = thread.lost();
    if lost == 0 {
        return None;
    }
    Some(match thread.complete_ns() {
        Some((from_ns, u64::MAX)) => format!("{lost} visits lost, complete from {from_ns} ns on"),
        Some((_, to_ns)) => format!("{lost} visits lost, complete up to {to_ns} ns"),
        None => format!("{lost} visits lost, all over the run"),
    })
}

#[cfg(test)]
mod tests;
