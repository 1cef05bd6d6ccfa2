//! The times of a run by call site, loop, MPI function or partner: the questions that static tables
//! and dynamic records answer, without a trace.

mod view;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tinyprof_format::model::{
    CallpathIndex, CallpathTable, CallpathValues, Edge, MessageKind, RegionKind, SiteId, Traffic,
};
use tinyprof_messages::graph::RankSet;

use tinyprof_report::{Activity, MpiCall, Totals, world_rank};

pub use view::GroupView;

/// The rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupBy {
    /// A row for each region and the region that it is called from, with its place in the source.
    Site,
    /// A row for each loop, and for each loop in it.
    Loop,
    /// A row for each MPI function.
    Call,
    /// A row for each rank as a partner of the others.
    Peer,
}

/// A row: sums over ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupRow {
    /// The name of the region, loop, function or partner.
    pub name: String,
    /// The place in the source: `solve.rs:12`. Empty if it is not known.
    pub place: String,
    /// The ranks that came there, or that exchange messages with the partner.
    pub ranks: RankSet,
    /// The visits; for partners the operations in which it was waited for.
    pub visits: u64,
    /// The inclusive time, in ns; 0 for partners.
    pub inclusive_ns: u128,
    /// The exclusive time, in ns; 0 for partners.
    pub exclusive_ns: u128,
    /// The part of the exclusive time that is start-up, which has no share.
    pub startup_ns: u128,
    /// The time until partners came, in ns.
    pub waiting_ns: u128,
    /// The time in these calls from then on, in ns.
    pub transfer_ns: u128,
    /// The messages and collective operations whose bytes leave the ranks; for a partner, the
    /// messages to it.
    pub out: Traffic,
    /// The messages and collective operations whose bytes come to the ranks; for a partner, the
    /// messages from it.
    pub into_rank: Traffic,
}

impl GroupRow {
    /// Returns the exclusive time without start-up, in ns.
    #[must_use]
    pub const fn worked_ns(&self) -> u128 {
        self.exclusive_ns.saturating_sub(self.startup_ns)
    }
}

/// The sums of a run by [`GroupBy`], added up callpath by callpath.
#[derive(Clone, Debug)]
pub struct GroupSums {
    by: GroupBy,
    ranks: usize,
    /// The group of each row of the callpath table, if it has one.
    group_of_row: Vec<Option<usize>>,
    rows: Vec<GroupRow>,
}

impl GroupSums {
    /// Returns the groups of a profile with these callpaths and this many ranks, without values.
    #[must_use]
    pub fn new(callpaths: &CallpathTable, ranks: usize, by: GroupBy) -> Self {
        let mut sums = Self { by, ranks, group_of_row: Vec::new(), rows: Vec::new() };
        match by {
            GroupBy::Site => sums.group_by_site(callpaths),
            GroupBy::Loop => sums.group_by_loop(callpaths),
            GroupBy::Call => sums.group_by_function(callpaths),
            GroupBy::Peer => {
                sums.group_of_row = vec![None; callpaths.len()];
                let peer = |rank| GroupRow { name: format!("rank {rank}"), ..GroupRow::default() };
                sums.rows = (0..ranks).map(peer).collect();
            }
        }
        sums
    }

    fn group_by_site(&mut self, callpaths: &CallpathTable) {
        let mut groups: BTreeMap<(Option<SiteId>, SiteId), usize> = BTreeMap::new();
        for callpath in callpaths.rows() {
            let parent = callpath.parent.map(|parent| callpaths.get(parent));
            let key = (parent.map(|parent| parent.region.site), callpath.region.site);
            let next = self.rows.len();
            let group = *groups.entry(key).or_insert(next);
            if group == next {
                let own = callpath.region.name.clone();
                let name = match parent {
                    Some(parent) => format!("{}<{own}", parent.region.name),
                    None => own,
                };
                self.push(name, callpath);
            }
            self.group_of_row.push(Some(group));
        }
    }

    fn group_by_loop(&mut self, callpaths: &CallpathTable) {
        let mut groups: BTreeMap<(Option<usize>, SiteId), usize> = BTreeMap::new();
        // The innermost loop at each callpath.
        let mut loops: Vec<Option<usize>> = Vec::with_capacity(callpaths.len());
        for callpath in callpaths.rows() {
            let around = callpath.parent.and_then(|parent| loops[parent.row()]);
            if callpath.region.kind != RegionKind::Loop {
                loops.push(around);
                self.group_of_row.push(None);
                continue;
            }
            let next = self.rows.len();
            let group = *groups.entry((around, callpath.region.site)).or_insert(next);
            if group == next {
                let own = &callpath.region.name;
                let name = match around {
                    Some(around) => format!("{}<{own}", self.rows[around].name),
                    None => own.clone(),
                };
                self.push(name, callpath);
            }
            loops.push(Some(group));
            self.group_of_row.push(Some(group));
        }
    }

    fn group_by_function(&mut self, callpaths: &CallpathTable) {
        let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
        for callpath in callpaths.rows() {
            let Some(call) = MpiCall::of_region(&callpath.region) else {
                self.group_of_row.push(None);
                continue;
            };
            let next = self.rows.len();
            let group = *groups.entry(call.function).or_insert(next);
            if group == next {
                let name = call.function.to_owned();
                self.rows.push(GroupRow { name, ..GroupRow::default() });
            }
            self.group_of_row.push(Some(group));
        }
    }

    fn push(&mut self, name: String, callpath: &tinyprof_format::model::Callpath) {
        let region = &callpath.region;
        // Of a function that was sampled in a library the file may be all that is known.
        let place = match region.line {
            0 => region.file.clone(),
            line if !region.file.is_empty() => format!("{}:{line}", region.file),
            _ => String::new(),
        };
        self.rows.push(GroupRow { name, place, ..GroupRow::default() });
    }

    /// Adds a callpath: its values by rank.
    pub fn add(&mut self, callpath: CallpathIndex, of_ranks: &[CallpathValues]) {
        for (rank, values) in (0_u32..).zip(of_ranks) {
            if self.by == GroupBy::Peer {
                self.add_partners(rank, values);
            } else if let Some(group) = self.group_of_row[callpath.row()] {
                add_values(&mut self.rows[group], rank, values);
            }
        }
    }

    fn add_partners(&mut self, rank: u32, values: &CallpathValues) {
        for (key, traffic) in &values.messages {
            let Some(partner) = world_rank(key.partner, rank, self.ranks) else { continue };
            let row = &mut self.rows[partner as usize];
            match key.kind {
                MessageKind::MessageOut => row.out.absorb(*traffic),
                MessageKind::MessageIn => row.into_rank.absorb(*traffic),
                _ => continue,
            }
            row.ranks.insert(rank);
        }
        for (key, edge) in values.edges.iter().filter(|(key, _)| key.kind.waits()) {
            let Some(partner) = world_rank(key.partner, rank, self.ranks) else { continue };
            let row = &mut self.rows[partner as usize];
            row.ranks.insert(rank);
            row.visits = row.visits.saturating_add(edge.count);
            add_edge(row, edge);
        }
    }

    /// Returns the rows in which anything was measured: the one that takes the most time first;
    /// partners by waiting.
    #[must_use]
    pub fn rows(mut self, totals: &Totals) -> Vec<GroupRow> {
        let activities = Activity::of_callpaths(totals.callpaths());
        for (row, exclusive_ns) in totals.exclusive_ns().iter().enumerate() {
            if let Some(group) = self.group_of_row[row] {
                let sum: u128 = exclusive_ns.iter().map(|ns| u128::from(*ns)).sum();
                let group = &mut self.rows[group];
                group.exclusive_ns = group.exclusive_ns.saturating_add(sum);
                if activities[row] == Some(Activity::Setup) {
                    group.startup_ns = group.startup_ns.saturating_add(sum);
                }
            }
        }
        self.rows.retain(|row| !row.ranks.is_empty());
        let of_loops = self.by == GroupBy::Loop;
        self.rows.sort_by_key(|row| {
            let time_ns = if of_loops { row.inclusive_ns } else { row.exclusive_ns };
            Reverse((time_ns, row.waiting_ns, row.out.bytes))
        });
        self.rows
    }
}

fn add_values(row: &mut GroupRow, rank: u32, values: &CallpathValues) {
    if values.is_absent() {
        return;
    }
    row.ranks.insert(rank);
    row.visits = row.visits.saturating_add(values.visits());
    row.inclusive_ns = row.inclusive_ns.saturating_add(values.inclusive_ns().into());
    for (key, traffic) in &values.messages {
        let side = if key.kind.is_out() { &mut row.out } else { &mut row.into_rank };
        side.absorb(*traffic);
    }
    for (_, edge) in values.edges.iter().filter(|(key, _)| key.kind.waits()) {
        add_edge(row, edge);
    }
}

fn add_edge(row: &mut GroupRow, edge: &Edge) {
    row.waiting_ns = row.waiting_ns.saturating_add(edge.sum_ns.into());
    row.transfer_ns = row.transfer_ns.saturating_add(edge.transfer_ns.into());
}
