//! Paraver: states and regions of each rank and thread, as text.
//!
//! The trace has three files: `trace.prv` has the records in the order of time, `trace.pcf` the
//! names of states, regions and functions, `trace.row` those of threads. A state lasts from one
//! change to the next; each region begins and ends with an event, whose type says the depth. A
//! message of which both ends are shown is one record.
//!
//! * `states`: what a thread does in a call, in the words of Paraver.
//! * `labels`: the other two files.

mod labels;
mod states;

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use tinyprof_format::model::{CallpathId, RankEvents, ThreadEvents};

use super::events::ShownRanks;
use super::exporter::{Exporter, Notes, Request, Source};
use crate::events::{Edge, OpenEnds, each_edge};
use states::{RUNNING, Regions};

/// About how many bytes a visit takes in the file.
const VISIT_BYTES: u64 = 190;
/// The types of events: a region at depth 1 has the first; and calls of MPI.
const REGION_TYPE: u64 = 9_000_000;
const CALL_TYPE: u64 = 9_100_000;

pub(super) struct Paraver;

impl Exporter for Paraver {
    fn has_events(&self) -> bool {
        true
    }

    fn writes_directory(&self) -> bool {
        true
    }

    fn export_into(&self, request: &Request<'_>, to: &Path) -> Result<Notes, Box<dyn Error>> {
        let shown = ShownRanks::of(request)?;
        let regions = Regions::of(shown.source.callpaths());
        let launched = shown.source.manifest().metadata.launchdate;
        let mut trace = Trace::default();
        let notes = shown.each(VISIT_BYTES, &mut |source, name, rank, events| {
            trace.rank(source, name, rank, events, &regions);
            Ok(())
        })?;
        trace.number_processors();
        let file =
            |name: &str| Ok::<_, std::io::Error>(BufWriter::new(File::create(to.join(name))?));
        trace.write(launched, &mut file("trace.prv")?)?;
        labels::write_names(&regions, trace.depth_max, &mut file("trace.pcf")?)?;
        labels::write_rows(&trace, &mut file("trace.row")?)?;
        Ok(notes)
    }
}

/// A record of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Record {
    /// Until when a state lasts.
    State { end_ns: u64, state: u64 },
    /// A region at a depth; 0 where it ends.
    Region { depth: u64, region: u64 },
    /// A function of MPI; 0 where it ends.
    Call { function: u64 },
    /// A message, to a thread.
    Message { to: usize, received_ns: u64, bytes: u64, tag: i32 },
}

/// An end of a message.
#[derive(Clone, Copy, Debug)]
struct End {
    thread: usize,
    at_ns: u64,
    bytes: u64,
}

/// A thread, with the numbers by which records name it.
#[derive(Debug)]
struct Thread {
    name: String,
    host: usize,
    processor: usize,
    task: usize,
    thread: usize,
}

/// The records of all threads.
#[derive(Debug, Default)]
struct Trace {
    hosts: Vec<String>,
    tasks: Vec<String>,
    threads: Vec<Thread>,
    /// The time, the thread, and what happens.
    records: Vec<(u64, usize, Record)>,
    ends: OpenEnds<End>,
    end_ns: u64,
    depth_max: u64,
}

impl Trace {
    fn rank(
        &mut self,
        source: &Source<'_>,
        name: &str,
        rank: u32,
        events: &RankEvents,
        regions: &Regions,
    ) {
        let host = source.host(rank);
        let known = self.hosts.iter().position(|known| known == host);
        let host = known.unwrap_or_else(|| {
            self.hosts.push(host.to_owned());
            self.hosts.len() - 1
        });
        self.tasks.push(name.to_owned());
        for (number, thread) in events.threads.iter().enumerate() {
            self.threads.push(Thread {
                name: format!("{name}, thread {}", thread.thread),
                host,
                processor: 0,
                task: self.tasks.len(),
                thread: number + 1,
            });
            self.thread(thread, regions);
            self.messages(rank, thread);
        }
    }

    /// Adds the messages of the last thread, which is of this rank.
    fn messages(&mut self, rank: u32, thread: &ThreadEvents) {
        let number = self.threads.len() - 1;
        for message in &thread.messages {
            let (at_ns, end) = (message.at_ns, message.end);
            self.end_ns = at_ns.max(self.end_ns);
            let own = End { thread: number, at_ns, bytes: end.bytes };
            if let Some((sent, received)) = self.ends.add(rank, &end, own) {
                let record = Record::Message {
                    to: received.thread,
                    received_ns: received.at_ns,
                    bytes: received.bytes,
                    tag: end.tag,
                };
                self.records.push((sent.at_ns, sent.thread, record));
            }
        }
    }

    fn thread(&mut self, thread: &ThreadEvents, regions: &Regions) {
        let number = self.threads.len() - 1;
        let mut open: Vec<CallpathId> = Vec::new();
        let mut since_ns = None;
        let records = &mut self.records;
        let (end_ns, depth_max) = (&mut self.end_ns, &mut self.depth_max);
        let Ok(()) = each_edge(&thread.visits, |edge, at_ns, callpath| {
            if let (Some(since_ns), Some(&within)) = (since_ns, open.last())
                && since_ns < at_ns
            {
                let state = regions.of_callpath(within).map_or(RUNNING, |region| region.state);
                records.push((since_ns, number, Record::State { end_ns: at_ns, state }));
            }
            since_ns = Some(at_ns);
            *end_ns = at_ns.max(*end_ns);
            let begins = u64::from(edge == Edge::Begin);
            if edge == Edge::Begin {
                open.push(callpath);
            }
            let depth = open.len() as u64;
            *depth_max = depth.max(*depth_max);
            if let Some(region) = regions.of_callpath(callpath) {
                let region_number = region.number * begins;
                records.push((at_ns, number, Record::Region { depth, region: region_number }));
                if let Some(function) = region.function {
                    records.push((at_ns, number, Record::Call { function: function * begins }));
                }
            }
            if edge == Edge::End {
                open.pop();
            }
            Ok::<(), std::convert::Infallible>(())
        });
    }

    /// Gives each thread a processor of its own; those of a host follow each other.
    fn number_processors(&mut self) {
        let mut next = 1;
        for host in 0..self.hosts.len() {
            for thread in self.threads.iter_mut().filter(|thread| thread.host == host) {
                thread.processor = next;
                next += 1;
            }
        }
    }

    fn write(&mut self, launched_s: u64, out: &mut dyn Write) -> std::io::Result<()> {
        // Stable: a thread's own records stay in their order.
        self.records.sort_by_key(|(at_ns, ..)| *at_ns);
        let count = |is: &dyn Fn(&&Thread) -> bool| self.threads.iter().filter(is).count();
        let nodes: Vec<String> = (0..self.hosts.len())
            .map(|host| count(&|thread| thread.host == host).to_string())
            .collect();
        let task = |task: usize| {
            let threads: Vec<&Thread> =
                self.threads.iter().filter(|thread| thread.task == task).collect();
            format!("{}:{}", threads.len(), threads.first().map_or(1, |thread| thread.host + 1))
        };
        let tasks: Vec<String> = (1..=self.tasks.len()).map(task).collect();
        writeln!(
            out,
            "#Paraver ({}):{}_ns:{}({}):1:{}({})",
            labels::date(launched_s),
            self.end_ns,
            nodes.len(),
            nodes.join(","),
            tasks.len(),
            tasks.join(",")
        )?;
        for &(at_ns, number, record) in &self.records {
            let Thread { processor, task, thread, .. } = self.threads[number];
            match record {
                Record::State { end_ns, state } => {
                    writeln!(out, "1:{processor}:1:{task}:{thread}:{at_ns}:{end_ns}:{state}")?;
                }
                Record::Message { to, received_ns, bytes, tag } => {
                    let sent = format!("{processor}:1:{task}:{thread}:{at_ns}:{at_ns}");
                    let Thread { processor, task, thread, .. } = self.threads[to];
                    let at_ns = received_ns;
                    let received = format!("{processor}:1:{task}:{thread}:{at_ns}:{at_ns}");
                    writeln!(out, "3:{sent}:{received}:{bytes}:{tag}")?;
                }
                Record::Region { depth, region } => {
                    let kind = REGION_TYPE + depth;
                    writeln!(out, "2:{processor}:1:{task}:{thread}:{at_ns}:{kind}:{region}")?;
                }
                Record::Call { function } => {
                    writeln!(
                        out,
                        "2:{processor}:1:{task}:{thread}:{at_ns}:{CALL_TYPE}:{function}"
                    )?;
                }
            }
        }
        out.flush()
    }
}

#[cfg(test)]
mod tests;
