//! The shape of a program: its phases, and the ranks that do the same in them.
//!
//! ```text
//!  values of a callpath  ->  Observed   what each rank did: nodes, flow, messages
//!  Observed              ->  Sections   loops and the straight parts between them
//!  both                  ->  tags       a graph for each rank, to be compared
//!  tags                  ->  phases     with classes of ranks, and where these differ
//! ```
//!
//! A node is a callpath that ends in an MPI call, with recursion folded. What is compared, and what
//! not, is described in `docs/structure.md`.
#![forbid(unsafe_code)]

mod circle;
mod class;
mod cycles;
mod differences;
mod drawing;
mod grouped;
mod groups;
mod iterations;
mod json;
mod lanes;
mod local;
mod loop_rows;
mod loops;
mod nodes;
mod observed;
mod places;
mod tags;
mod text;
mod way_lines;

use std::borrow::Cow;
use std::collections::BTreeMap;

use tinyprof_format::error::ReadError;
use tinyprof_format::file::{ProfileReader, Source};
use tinyprof_format::model::{CallpathIndex, CallpathTable, CallpathValues, Manifest, Profile};
use tinyprof_messages::graph::{Comparison, Phase, Tag, phases_of};
use tinyprof_report::Occupancy;

use loops::Sections;
use nodes::Nodes;
use observed::Observed;
use tags::Tags;

pub use drawing::{Drawing, DrawnEdge, DrawnKind, DrawnMessages, DrawnNode, DrawnRanks};
pub use grouped::grouped;

/// The number of callpaths that are read at a time.
const CALLPATHS_AT_A_TIME: usize = 16;

/// The phases of a program, and the classes of ranks in them.
#[derive(Debug)]
pub struct Structure {
    nodes: Nodes,
    observed: Observed,
    sections: Sections,
    comparison: Comparison,
    /// The graphs of the ranks that stand for their classes, as they are compared.
    tags: BTreeMap<u32, Tag>,
    phases: Vec<Phase>,
}

/// Collects what ranks did, callpath by callpath, so that a wide profile need not be in memory.
#[derive(Debug)]
pub struct StructureBuilder {
    nodes: Nodes,
    observed: Observed,
    is_crowded: bool,
}

impl StructureBuilder {
    /// Returns a builder for the callpaths of `table`, without values.
    #[must_use]
    pub fn new(table: &CallpathTable, ranks: usize) -> Self {
        let (nodes, observed) = (Nodes::of_callpaths(table), Observed::new(ranks));
        Self { nodes, observed, is_crowded: false }
    }

    /// Returns the builder for a run in which ranks may have shared CPUs: how long a call takes in
    /// which the rank has waited is then chance, even after its partner had come.
    #[must_use]
    pub fn of_run(self, manifest: &Manifest) -> Self {
        let is_crowded = Occupancy::of_run(manifest).is_some_and(Occupancy::is_crowded);
        Self { is_crowded, ..self }
    }

    /// Returns whether a callpath is of interest: whether it ends in an MPI call.
    #[must_use]
    pub fn is_call(&self, callpath: CallpathIndex) -> bool {
        self.nodes.of_callpath(callpath).is_some()
    }

    /// Adds the values of a callpath, by rank.
    pub fn add(&mut self, callpath: CallpathIndex, of_ranks: &[CallpathValues]) {
        if let Some(node) = self.nodes.of_callpath(callpath) {
            for (rank, values) in (0_u32..).zip(of_ranks) {
                self.observed.add(&self.nodes, rank, node, values);
            }
        }
    }

    /// Returns the structure. With `with_times`, ranks of a class also take as long.
    ///
    /// # Cost
    /// 4,096 ranks with 200 calls each: see `docs/structure.md`.
    #[must_use]
    pub fn finish(mut self, with_times: bool) -> Structure {
        self.observed.finish();
        let sections = Sections::of(&self.nodes, &self.observed);
        let ranks = u32::try_from(self.observed.ranks.len()).unwrap_or(u32::MAX);
        let comparison = Comparison { with_times, ..Comparison::new(ranks) };
        let found = Tags::new(&self.nodes, &self.observed, &sections, self.is_crowded);
        let phases =
            phases_of(self.observed.ranks.len(), |rank| Cow::Owned(found.tag(rank)), &comparison);
        let tags = representatives(&phases, &found);
        Structure { nodes: self.nodes, observed: self.observed, sections, comparison, tags, phases }
    }
}

impl Structure {
    /// Returns the structure of a profile. With `with_times`, ranks of a class also take as long.
    #[must_use]
    pub fn of_profile(profile: &Profile, with_times: bool) -> Self {
        let builder = StructureBuilder::new(&profile.callpaths, profile.ranks.len());
        let mut builder = builder.of_run(&profile.manifest);
        for (index, _) in profile.callpaths.iter() {
            builder.add(index, &profile.values[index.row()]);
        }
        builder.finish(with_times)
    }

    /// Returns the structure of a profile on disk, of which a few calls are read at a time: wide
    /// profiles need not fit the memory. With `with_times`, ranks of a class also take as long.
    ///
    /// # Errors
    /// If a part of it is damaged, or too large for the limit of the reader.
    pub fn read<S: Source>(reader: &ProfileReader<S>, with_times: bool) -> Result<Self, ReadError> {
        let (manifest, table) = (reader.manifest(), reader.callpaths());
        let ranks = usize::try_from(manifest.ranks).unwrap_or(usize::MAX);
        let mut builder = StructureBuilder::new(table, ranks).of_run(manifest);
        let all = table.iter().map(|(index, _)| index);
        let calls: Vec<CallpathIndex> = all.filter(|index| builder.is_call(*index)).collect();
        for some in calls.chunks(CALLPATHS_AT_A_TIME) {
            for (callpath, of_ranks) in some.iter().zip(reader.of_callpaths(some)?) {
                builder.add(*callpath, &of_ranks);
            }
        }
        Ok(builder.finish(with_times))
    }

    /// Returns whether the profile says which call followed which.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.observed.ranks.iter().any(|rank| !rank.flows.is_empty())
    }

    /// Returns the number of ranks.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.comparison.ranks
    }

    /// Returns the phases in the order in which they begin, with their classes. Keys of nodes and
    /// loops have a meaning only here.
    #[must_use]
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }
}

/// Returns the graphs of all ranks that stand for a class.
fn representatives(phases: &[Phase], found: &Tags<'_>) -> BTreeMap<u32, Tag> {
    let mut tags = BTreeMap::new();
    for phase in phases {
        for rank in phase.classes.iter().map(|class| class.representative) {
            tags.entry(rank).or_insert_with(|| found.tag(rank as usize));
        }
        tags.append(&mut representatives(&phase.inner, found));
    }
    tags
}
