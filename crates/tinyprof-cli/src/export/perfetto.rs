//! Perfetto's trace: the events of each rank and thread, as they were.
//!
//! The file is a list of packets (`perfetto/trace/trace_packet.proto`): a track for each rank,
//! below it one for each thread, and on that the begin and end of each visit, and an instant for
//! each end of a message, from which a flow leads to the other end. Names are interned: a sequence
//! of packets, one for each thread, says each name once.

use std::collections::HashMap;
use std::error::Error;
use std::io::{self, Write};

use tinyprof_format::model::{CallpathId, CallpathTable, MessageEnd, RankEvents, ThreadEvents};

use super::events::ShownRanks;
use super::exporter::{Exporter, Notes, Request};
use super::message::Message;
use super::names;
use crate::events::{Edge, Pair, Step, each_step};

/// About how many bytes a visit takes in the file.
const VISIT_BYTES: u64 = 44;

/// The fields of a packet, and of the messages in it, as the schema names them.
mod field {
    pub(super) const PACKET: u64 = 1;
    pub(super) const TIMESTAMP: u64 = 8;
    pub(super) const SEQUENCE_ID: u64 = 10;
    pub(super) const TRACK_EVENT: u64 = 11;
    pub(super) const INTERNED_DATA: u64 = 12;
    pub(super) const SEQUENCE_FLAGS: u64 = 13;
    pub(super) const DEFAULTS: u64 = 59;
    pub(super) const TRACK_DESCRIPTOR: u64 = 60;
    /// Of a track descriptor.
    pub(super) const UUID: u64 = 1;
    pub(super) const TRACK_NAME: u64 = 2;
    pub(super) const PROCESS: u64 = 3;
    pub(super) const PARENT_UUID: u64 = 5;
    /// Of a process.
    pub(super) const PID: u64 = 1;
    pub(super) const PROCESS_NAME: u64 = 6;
    /// Of a track event.
    pub(super) const ANNOTATIONS: u64 = 4;
    pub(super) const TYPE: u64 = 9;
    pub(super) const NAME_IID: u64 = 10;
    pub(super) const TRACK_UUID: u64 = 11;
    pub(super) const NAME: u64 = 23;
    pub(super) const FLOWS: u64 = 47;
    pub(super) const ENDING_FLOWS: u64 = 48;
    /// Of an annotation.
    pub(super) const INT_VALUE: u64 = 4;
    pub(super) const ANNOTATION_NAME: u64 = 10;
    /// Of interned data, and of a name in it.
    pub(super) const EVENT_NAMES: u64 = 2;
    pub(super) const IID: u64 = 1;
    pub(super) const TEXT: u64 = 2;
}

/// The types of track events.
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const INSTANT: u64 = 3;
/// The flags of a sequence's first packet, and of those after it.
const STATE_CLEARED: u64 = 1;
const NEEDS_STATE: u64 = 2;

pub(super) struct Perfetto;

impl Exporter for Perfetto {
    fn is_text(&self) -> bool {
        false
    }

    fn has_events(&self) -> bool {
        true
    }

    fn export(
        &self,
        request: &Request<'_>,
        out: &mut (dyn Write + Send),
    ) -> Result<Notes, Box<dyn Error>> {
        let shown = ShownRanks::of(request)?;
        let mut trace = Trace { out, sequences: 0 };
        let notes = shown.each(VISIT_BYTES, &mut |source, name, rank, events| {
            trace.rank(rank, name, events, source.callpaths())
        })?;
        Ok(notes)
    }
}

/// A trace that is being written.
struct Trace<'a> {
    out: &'a mut (dyn Write + Send),
    sequences: u64,
}

impl Trace<'_> {
    /// Writes the tracks of a rank.
    fn rank(
        &mut self,
        rank: u32,
        name: &str,
        events: &RankEvents,
        table: &CallpathTable,
    ) -> Result<(), Box<dyn Error>> {
        let of_rank = (u64::from(rank) + 1) << 32;
        let mut process = Message::default();
        process.number(field::PID, u64::from(rank) + 1);
        process.bytes(field::PROCESS_NAME, name.as_bytes());
        let mut track = Message::default();
        track.number(field::UUID, of_rank);
        track.message(field::PROCESS, &process);
        self.describe(&track)?;
        for thread in &events.threads {
            let uuid = of_rank | (u64::from(thread.thread) + 1);
            let mut track = Message::default();
            track.number(field::UUID, uuid);
            track.bytes(field::TRACK_NAME, format!("thread {}", thread.thread).as_bytes());
            track.number(field::PARENT_UUID, of_rank);
            self.describe(&track)?;
            self.sequences += 1;
            let mut sequence = Sequence::new(self.sequences, rank, uuid, table);
            sequence.write(thread, self.out)?;
        }
        Ok(())
    }

    fn describe(&mut self, track: &Message) -> io::Result<()> {
        let mut packet = Message::default();
        packet.message(field::TRACK_DESCRIPTOR, track);
        write_packet(self.out, &packet)
    }
}

fn write_packet(out: &mut (dyn Write + Send), packet: &Message) -> io::Result<()> {
    let mut trace = Message::default();
    trace.message(field::PACKET, packet);
    out.write_all(&trace.into_bytes())
}

/// The packets of a thread.
struct Sequence<'a> {
    id: u64,
    rank: u32,
    track: u64,
    names: HashMap<CallpathId, &'a str>,
    /// The names that were said, with their numbers.
    interned: HashMap<&'a str, u64>,
}

impl<'a> Sequence<'a> {
    fn new(id: u64, rank: u32, track: u64, table: &'a CallpathTable) -> Self {
        let names = table.rows().iter().map(|row| (row.id, row.region.name.as_str())).collect();
        Self { id, rank, track, names, interned: HashMap::new() }
    }

    fn write(&mut self, thread: &ThreadEvents, out: &mut (dyn Write + Send)) -> io::Result<()> {
        self.begin(out)?;
        let mut marks = Marks::of(thread);
        each_step(thread, |at_ns, step| match step {
            Step::Message(message) => self.message(at_ns, &message.end, out),
            Step::Visit(Edge::End, _) => self.end(at_ns, out),
            Step::Visit(Edge::Begin, callpath) => {
                marks.pass(at_ns, |at_ns, text| self.instant(at_ns, text, out))?;
                let name = self.names.get(&callpath).copied().unwrap_or("[unknown]");
                self.start(at_ns, name, out)
            }
        })?;
        marks.pass(u64::MAX, |at_ns, text| self.instant(at_ns, text, out))
    }

    /// Says what all packets of the sequence have in common.
    fn begin(&self, out: &mut (dyn Write + Send)) -> io::Result<()> {
        let (mut event, mut defaults) = (Message::default(), Message::default());
        event.number(field::TRACK_UUID, self.track);
        defaults.message(field::TRACK_EVENT, &event);
        let mut packet = Message::default();
        packet.number(field::SEQUENCE_ID, self.id);
        packet.number(field::SEQUENCE_FLAGS, STATE_CLEARED);
        packet.message(field::DEFAULTS, &defaults);
        write_packet(out, &packet)
    }

    fn packet(&self, at_ns: u64) -> Message {
        let mut packet = Message::default();
        packet.number(field::TIMESTAMP, at_ns);
        packet.number(field::SEQUENCE_ID, self.id);
        packet.number(field::SEQUENCE_FLAGS, NEEDS_STATE);
        packet
    }

    fn start(&mut self, at_ns: u64, name: &'a str, out: &mut (dyn Write + Send)) -> io::Result<()> {
        let (mut packet, mut event) = (self.packet(at_ns), Message::default());
        event.number(field::TYPE, SLICE_BEGIN);
        self.name(name, &mut packet, &mut event);
        packet.message(field::TRACK_EVENT, &event);
        write_packet(out, &packet)
    }

    /// Writes an end of a message: an instant with what is known of it.
    fn message(
        &mut self,
        at_ns: u64,
        end: &MessageEnd,
        out: &mut (dyn Write + Send),
    ) -> io::Result<()> {
        let (mut packet, mut event) = (self.packet(at_ns), Message::default());
        event.number(field::TYPE, INSTANT);
        let (name, partner, flow) = if end.is_receive {
            ("received", "from rank", field::ENDING_FLOWS)
        } else {
            ("sent", "to rank", field::FLOWS)
        };
        self.name(name, &mut packet, &mut event);
        let mut annotate = |name: &str, value: i64| {
            let mut annotation = Message::default();
            annotation.one_of(field::INT_VALUE, value.cast_unsigned());
            annotation.bytes(field::ANNOTATION_NAME, name.as_bytes());
            event.message(field::ANNOTATIONS, &annotation);
        };
        annotate(partner, i64::from(self.rank) + i64::from(end.partner));
        annotate("bytes", i64::try_from(end.bytes).unwrap_or(i64::MAX));
        annotate("tag", end.tag.into());
        if let Some(pair) = Pair::of(self.rank, end) {
            event.fixed64(flow, pair.id());
        }
        packet.message(field::TRACK_EVENT, &event);
        write_packet(out, &packet)
    }

    /// Names an event, and says the name if it comes first.
    fn name(&mut self, name: &'a str, packet: &mut Message, event: &mut Message) {
        let next = self.interned.len() as u64 + 1;
        let number = *self.interned.entry(name).or_insert(next);
        if number == next {
            let (mut entry, mut data) = (Message::default(), Message::default());
            entry.number(field::IID, number);
            entry.bytes(field::TEXT, names::shown(name).as_bytes());
            data.message(field::EVENT_NAMES, &entry);
            packet.message(field::INTERNED_DATA, &data);
        }
        event.number(field::NAME_IID, number);
    }

    fn end(&self, at_ns: u64, out: &mut (dyn Write + Send)) -> io::Result<()> {
        let (mut packet, mut event) = (self.packet(at_ns), Message::default());
        event.number(field::TYPE, SLICE_END);
        packet.message(field::TRACK_EVENT, &event);
        write_packet(out, &packet)
    }

    fn instant(&self, at_ns: u64, text: &str, out: &mut (dyn Write + Send)) -> io::Result<()> {
        let (mut packet, mut event) = (self.packet(at_ns), Message::default());
        event.number(field::TYPE, INSTANT);
        event.bytes(field::NAME, text.as_bytes());
        packet.message(field::TRACK_EVENT, &event);
        write_packet(out, &packet)
    }
}

/// The moments between which the events of a thread are complete, as far as visits are missing.
struct Marks(Vec<(u64, &'static str)>);

impl Marks {
    fn of(thread: &ThreadEvents) -> Self {
        let Some((from_ns, to_ns)) = thread.complete_ns() else { return Self(Vec::new()) };
        let mut marks = Vec::new();
        if to_ns < u64::MAX {
            marks.push((to_ns, "complete up to here"));
        }
        if from_ns > 0 {
            marks.push((from_ns, "complete from here on"));
        }
        Self(marks)
    }

    /// Passes the marks up to this time to `write`.
    fn pass(
        &mut self,
        until_ns: u64,
        mut write: impl FnMut(u64, &str) -> io::Result<()>,
    ) -> io::Result<()> {
        while let Some((at_ns, text)) = self.0.pop_if(|(at_ns, _)| *at_ns <= until_ns) {
            write(at_ns, text)?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests;
