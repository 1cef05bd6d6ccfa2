//! The clock of a profile's events: ranks of one host are compared by the host's own clock. Hosts
//! are shown as if the first ranks of all had started at the same time.

use std::collections::HashMap;

use tinyprof_format::model::RankFacts;

/// The time of the host's first rank, by host; times are those of the host's `CLOCK_MONOTONIC`.
pub(super) struct Clock {
    hosts: Vec<String>,
    first_ns: HashMap<String, u64>,
}

impl Clock {
    pub(super) fn of_hosts(facts: &[RankFacts]) -> Self {
        let hosts = facts.iter().map(|facts| facts.host.clone()).collect();
        Self { hosts, first_ns: HashMap::new() }
    }

    /// Adds the start of a rank.
    pub(super) fn add(&mut self, rank: u32, origin_ns: u64) {
        let host = self.host(rank).to_owned();
        let first_ns = self.first_ns.entry(host).or_insert(u64::MAX);
        *first_ns = origin_ns.min(*first_ns);
    }

    /// Returns the start of a rank on the common clock.
    pub(super) fn offset_ns(&self, rank: u32, origin_ns: u64) -> u64 {
        origin_ns.saturating_sub(self.first_ns.get(self.host(rank)).copied().unwrap_or(origin_ns))
    }

    /// Returns the number of hosts that have events.
    pub(super) fn hosts(&self) -> usize {
        self.first_ns.len()
    }

    fn host(&self, rank: u32) -> &str {
        self.hosts.get(rank as usize).map_or("", String::as_str)
    }
}
