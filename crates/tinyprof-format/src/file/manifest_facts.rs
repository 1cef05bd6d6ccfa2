//! The facts of a part that its manifest needs.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::EncodedRank;
use super::rank_values::RankValues;
use crate::model::{
    CallpathFile, FORMAT_NAME, FormatVersion, InterimTimes, Losses, Manifest, PartFile, PeakMemory,
    PhaseTimes, Precision, RunMetadata,
};

/// The facts of a part's ranks that go into the manifest. Facts of several parts are merged in rank
/// order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestFacts {
    /// The largest number of executions of any rank.
    pub executions: u32,
    /// The losses of all ranks.
    pub losses: Losses,
    /// The memory of the ranks at their peaks.
    pub peak_memory: PeakMemory,
    /// The hosts, each once, in the order of their first rank.
    pub hosts: Vec<String>,
}

impl ManifestFacts {
    /// Returns the facts of these ranks.
    #[must_use]
    pub fn of_ranks(ranks: &[EncodedRank]) -> Self {
        Self::of_values(ranks)
    }

    /// Returns the facts of ranks that may not be encoded yet.
    pub(super) fn of_values<R: RankValues>(ranks: &[R]) -> Self {
        let mut all = Self::default();
        for rank in ranks {
            let facts = rank.facts();
            all.absorb(Self {
                executions: rank.executions(),
                losses: facts.losses,
                peak_memory: PeakMemory::of_one_rank(facts.peak_memory_bytes),
                hosts: vec![facts.host],
            });
        }
        all
    }

    /// Adds the facts of ranks that follow ours.
    pub fn absorb(&mut self, later: Self) {
        self.executions = self.executions.max(later.executions);
        self.losses.absorb(&later.losses);
        self.peak_memory.absorb(&later.peak_memory);
        let known: HashSet<&String> = self.hosts.iter().collect();
        let mut new: Vec<String> =
            later.hosts.into_iter().filter(|host| !known.contains(host)).collect();
        self.hosts.append(&mut new);
    }

    /// Returns the manifest of a run of `ranks` ranks. Sets the hosts and the job's size in
    /// `metadata`.
    ///
    /// # Panics
    /// Never: there are fewer than 2^32 hosts, as there are ranks.
    #[must_use]
    pub fn manifest(
        self,
        ranks: u32,
        callpaths: CallpathFile,
        parts: Vec<PartFile>,
        mut metadata: RunMetadata,
        flush: PhaseTimes,
    ) -> Manifest {
        metadata.jobsize = ranks;
        metadata.numhosts =
            u32::try_from(self.hosts.len()).expect("there are no more hosts than ranks");
        metadata.hostlist = self.hosts;
        Manifest {
            format: FORMAT_NAME.to_owned(),
            version: FormatVersion::USUAL,
            ranks,
            executions: self.executions,
            callpaths,
            parts,
            metadata,
            complete: true,
            incomplete_because: None,
            precision: Precision::Exact,
            salvage: None,
            peak_memory: self.peak_memory,
            losses: self.losses,
            flush,
            interim_profiles: InterimTimes::default(),
            profile_id: None,
        }
    }
}
