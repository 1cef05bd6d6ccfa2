//! OTF2: the events of each rank and thread, for Vampir, Scalasca and Score-P's tools.
//!
//! An archive is a directory: an anchor `traces.otf2`, the definitions `traces.def`, and below
//! `traces` a file of events for each thread, and one of definitions of its own, which is empty.
//! Numbers in events are those of the definitions for all. The communicator of all messages is that
//! of the ranks which are shown.
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

use tinyprof_format::model::{CallpathId, MessageEnd, Region, SiteId, ThreadEvents};

use super::events::ShownRanks;
use super::exporter::{Exporter, Notes, Request, Source};
use super::names;
use crate::events::{Edge, Step, each_step};
use buffer::Buffer;
use chunks::{CHUNK_BYTES, Chunks, End};
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
        let named = |(&rank, name): (&u32, &String)| Rank {
            rank,
            name: name.clone(),
            host: host(&shown.source, rank).to_owned(),
            has_events: false,
        };
        let mut archive = Archive::new(to, machine, shown.ranks().iter().map(named).collect())?;
        let mut regions: HashMap<CallpathId, u32> = HashMap::new();
        for row in shown.source.callpaths().rows() {
            let number = archive.definitions.region(&row.region);
            regions.insert(row.id, number);
        }
        let notes = shown.each(VISIT_BYTES, &mut |_, _, rank, events| {
            archive.rank(rank, &events.threads, &regions)
        })?;
        archive.locate_others(&regions)?;
        archive.finish(machine, &request.name())?;
        Ok(notes)
    }
}

fn host<'a>(source: &'a Source<'_>, rank: u32) -> &'a str {
    Some(source.host(rank)).filter(|host| !host.is_empty()).unwrap_or("unknown host")
}

/// A rank that is shown.
struct Rank {
    rank: u32,
    name: String,
    host: String,
    has_events: bool,
}

/// An archive that is being written.
struct Archive<'a> {
    to: &'a Path,
    definitions: Definitions,
    /// In their order.
    ranks: Vec<Rank>,
    locations: u64,
    end_ns: u64,
}

impl<'a> Archive<'a> {
    fn new(to: &'a Path, machine: &str, ranks: Vec<Rank>) -> Result<Self, Box<dyn Error>> {
        fs::create_dir(to.join("traces"))?;
        let definitions = Definitions::of_machine(machine);
        Ok(Self { to, definitions, ranks, locations: 0, end_ns: 0 })
    }

    /// Gives ranks that kept no events a location, for their places in the communicator.
    fn locate_others(&mut self, regions: &HashMap<CallpathId, u32>) -> Result<(), Box<dyn Error>> {
        let others = self.ranks.iter().filter(|of| !of.has_events).map(|of| of.rank);
        others.collect::<Vec<_>>().into_iter().try_for_each(|rank| self.rank(rank, &[], regions))
    }

    /// Adds a rank with these threads, and the first one, which stands for it in the communicator.
    fn rank(
        &mut self,
        rank: u32,
        threads: &[ThreadEvents],
        regions: &HashMap<CallpathId, u32>,
    ) -> Result<(), Box<dyn Error>> {
        let Some(position) = self.position(rank) else { return Ok(()) };
        let of = &mut self.ranks[position];
        of.has_events = true;
        let process = self.definitions.process(&of.name, &of.host);
        if threads.iter().all(|thread| thread.thread != 0) {
            self.thread(rank, process, &ThreadEvents::default(), regions)?;
        }
        threads.iter().try_for_each(|thread| self.thread(rank, process, thread, regions))
    }

    fn position(&self, rank: u32) -> Option<usize> {
        self.ranks.binary_search_by_key(&rank, |of| of.rank).ok()
    }

    /// Returns an end of a message of a rank, whose other end is at a rank that is shown.
    fn end(&self, rank: u32, end: &MessageEnd) -> Option<End> {
        let partner = rank.checked_add_signed(end.partner)?;
        let partner = u32::try_from(self.position(partner)?).ok()?;
        let MessageEnd { is_receive, tag, bytes, .. } = *end;
        Some(End { is_receive, partner, communicator: 0, tag, bytes })
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
        each_step(thread, |at_ns, step| {
            self.end_ns = at_ns.max(self.end_ns);
            let (edge, callpath) = match step {
                Step::Visit(edge, callpath) => (edge, callpath),
                Step::Message(of) => {
                    let end = self.end(rank, &of.end);
                    return end.map_or(Ok(()), |end| chunks.message(at_ns, end));
                }
            };
            let region = regions.get(&callpath).copied();
            let region = region.unwrap_or_else(|| self.definitions.region(&unknown));
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
        let locations: Vec<u64> = self.ranks.iter().map(|of| of.rank.into()).collect();
        self.definitions.world(&locations);
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
