//! The definitions of an archive: what the numbers in its events mean.

use std::collections::HashMap;

use tinyprof_format::model::{Region, RegionKind, SiteId};
use tinyprof_report::MpiCall;

use super::buffer::{Buffer, UNDEFINED};
use crate::export::names;

/// The most characters of a text: a definition has to fit into a chunk.
const TEXT_MAX: usize = 10_000;

/// The types of definitions.
mod kind {
    pub(super) const CLOCK: u8 = 5;
    pub(super) const TEXT: u8 = 10;
    pub(super) const TREE_NODE: u8 = 12;
    pub(super) const LOCATION_GROUP: u8 = 13;
    pub(super) const LOCATION: u8 = 14;
    pub(super) const REGION: u8 = 15;
    pub(super) const GROUP: u8 = 18;
    pub(super) const COMMUNICATOR: u8 = 22;
    pub(super) const LOCATION_PROPERTY: u8 = 29;
}

const UNKNOWN_TYPE: u8 = 0;
const PROCESS: u8 = 1;
const CPU_THREAD: u8 = 1;
const TEXT_VALUE: u8 = 11;
const ROLE_FUNCTION: u8 = 1;
const ROLE_LOOP: u8 = 3;
const ROLE_CODE: u8 = 4;
const PARADIGM_USER: u8 = 1;
const PARADIGM_MPI: u8 = 4;
/// The types of groups, as version 1.0 numbered them and as they are numbered now.
const ALL_RANKS: [u8; 2] = [6, 4];
const RANKS_OF_COMMUNICATOR: [u8; 2] = [4, 5];

/// The definitions while they are collected: a definition comes after those that it refers to.
#[derive(Default)]
pub(super) struct Definitions {
    records: Buffer,
    /// Where each record ends.
    ends: Vec<usize>,
    texts: HashMap<String, u32>,
    regions: HashMap<(SiteId, String), u32>,
    hosts: HashMap<String, u32>,
    groups: u32,
    tree_nodes: u32,
}

impl Definitions {
    /// Starts with the machine, the root of the tree of hosts.
    pub(super) fn of_machine(name: &str) -> Self {
        let mut definitions = Self::default();
        definitions.tree_node(name, "machine", UNDEFINED);
        definitions
    }

    /// Adds the clock: ns, from 0 to `end_ns`; the date of time 0 is not known to the ns.
    pub(super) fn clock(&mut self, end_ns: u64) {
        self.add(kind::CLOCK, |record| {
            record.number64(1_000_000_000);
            record.number64(0);
            record.number64(end_ns);
            record.number64(u64::MAX);
        });
    }

    /// Returns the number of a region, which is added when it comes first.
    pub(super) fn region(&mut self, region: &Region) -> u32 {
        let key = (region.site, region.name.clone());
        if let Some(&number) = self.regions.get(&key) {
            return number;
        }
        let number = u32::try_from(self.regions.len()).unwrap_or(UNDEFINED);
        self.regions.insert(key, number);
        let (name, none) = (self.text(&region.name), self.text(""));
        let file = if region.file.is_empty() { UNDEFINED } else { self.text(&region.file) };
        let is_mpi = MpiCall::of_region(region).is_some();
        let role = match region.kind {
            RegionKind::Loop => ROLE_LOOP,
            RegionKind::Scope => ROLE_CODE,
            _ => ROLE_FUNCTION,
        };
        self.add(kind::REGION, |record| {
            record.number32(number);
            record.number32(name);
            record.number32(none);
            // What version 1.0 read instead of role, paradigm and flags.
            record.byte(UNKNOWN_TYPE);
            record.number32(file);
            record.number32(region.line);
            record.number32(0);
            record.number32(name);
            record.byte(role);
            record.byte(if is_mpi { PARADIGM_MPI } else { PARADIGM_USER });
            record.number32(0);
        });
        number
    }

    /// Adds a process on a host. Returns its number.
    pub(super) fn process(&mut self, name: &str, host: &str) -> u32 {
        let node = match self.hosts.get(host) {
            Some(&node) => node,
            None => {
                let node = self.tree_node(host, "node", 0);
                self.hosts.insert(host.to_owned(), node);
                node
            }
        };
        let (name, number) = (self.text(name), self.groups);
        self.groups += 1;
        self.add(kind::LOCATION_GROUP, |record| {
            record.number32(number);
            record.number32(name);
            record.byte(PROCESS);
            record.number32(node);
            record.number32(UNDEFINED);
        });
        number
    }

    /// Adds a thread of a process.
    pub(super) fn thread(&mut self, location: u64, name: &str, events: u64, process: u32) {
        let name = self.text(name);
        self.add(kind::LOCATION, |record| {
            record.number64(location);
            record.number32(name);
            record.byte(CPU_THREAD);
            record.number64(events);
            record.number32(process);
        });
    }

    /// Adds the communicator of all ranks, given by the locations of their first threads. It is
    /// number 0.
    pub(super) fn world(&mut self, locations: &[u64]) {
        let (name, none) = (self.text("MPI_COMM_WORLD"), self.text(""));
        let ranks: Vec<u64> = (0..).take(locations.len()).collect();
        let groups = [(ALL_RANKS, locations), (RANKS_OF_COMMUNICATOR, &ranks)];
        for (number, (kind, members)) in (0..).zip(groups) {
            self.add(kind::GROUP, |record| {
                record.number32(number);
                record.number32(none);
                record.byte(kind[0]);
                record.number32(u32::try_from(members.len()).unwrap_or(UNDEFINED));
                members.iter().for_each(|&member| record.number64(member));
                record.byte(kind[1]);
                record.byte(PARADIGM_MPI);
                record.number32(0);
            });
        }
        self.add(kind::COMMUNICATOR, |record| {
            record.number32(0);
            record.number32(name);
            record.number32(1);
            record.number32(UNDEFINED);
            record.number32(0);
        });
    }

    /// Adds a fact about a thread.
    pub(super) fn property(&mut self, location: u64, name: &str, value: &str) {
        let (name, value) = (self.text(name), self.text(value));
        self.add(kind::LOCATION_PROPERTY, |record| {
            record.number64(location);
            record.number32(name);
            record.number32(value);
            record.byte(TEXT_VALUE);
            record.number32(value);
        });
    }

    /// Returns the file, in chunks of this size, and the number of definitions.
    pub(super) fn finish(self, chunk_bytes: usize) -> (Vec<u8>, u64) {
        let mut file = Vec::new();
        let (mut chunk, mut begin) = (Buffer::of_chunk(1), 0);
        for &end in &self.ends {
            let record = &self.records.bytes()[begin..end];
            // The end of the file is in the last one.
            if chunk.len() + record.len() + 3 > chunk_bytes {
                chunk.bytes_mut().resize(chunk_bytes, 0);
                file.append(chunk.bytes_mut());
                chunk = Buffer::of_chunk(1);
            }
            chunk.bytes_mut().extend(record);
            begin = end;
        }
        chunk.end();
        file.append(chunk.bytes_mut());
        (file, self.ends.len() as u64)
    }

    fn tree_node(&mut self, name: &str, class: &str, parent: u32) -> u32 {
        let (name, class, number) = (self.text(name), self.text(class), self.tree_nodes);
        self.tree_nodes += 1;
        self.add(kind::TREE_NODE, |record| {
            record.number32(number);
            record.number32(name);
            record.number32(class);
            record.number32(parent);
        });
        number
    }

    fn text(&mut self, text: &str) -> u32 {
        let text: String = names::shown(text).chars().take(TEXT_MAX).collect();
        if let Some(&number) = self.texts.get(&text) {
            return number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(UNDEFINED);
        self.add(kind::TEXT, |record| {
            record.number32(number);
            record.text(&text);
        });
        self.texts.insert(text, number);
        number
    }

    fn add(&mut self, kind: u8, rest: impl FnOnce(&mut Buffer)) {
        self.records.record(kind, rest);
        self.ends.push(self.records.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_definition_is_in_two_chunks() {
        let mut definitions = Definitions::of_machine("m");
        for site in 0..1_000 {
            definitions.region(&Region::named(SiteId::from_bits(site), format!("region {site}")));
        }
        assert_eq!(definitions.region(&Region::named(SiteId::from_bits(7), "region 7")), 7);
        let (file, count) = definitions.finish(1_000);
        // Two texts and the machine; the empty text; a name and a region each.
        assert_eq!(count, 3 + 1 + 2 * 1_000);
        let mut found = 0;
        for chunk in file.chunks(1_000) {
            let mut at = 18;
            assert_eq!(chunk[..2], [3, 0x42]);
            while at < chunk.len() && chunk[at] > 3 {
                at += 2 + usize::from(chunk[at + 1]);
                found += 1;
            }
        }
        assert_eq!((found, &file[file.len() - 2..]), (count, &[2, 1][..]));
    }
}
