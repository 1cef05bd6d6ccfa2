//! How many ranks share a host.

use tinyprof_format::model::Manifest;

/// The number of ranks on a host, and of its CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occupancy {
    pub(super) ranks: u32,
    pub(super) cpus: u32,
}

impl Occupancy {
    /// Returns whether ranks have to take turns.
    pub(crate) const fn is_crowded(self) -> bool {
        self.ranks > self.cpus
    }

    /// Returns the ranks on the host that has most of them, which has at least the mean number. All
    /// hosts are assumed to have as many CPUs as that of rank 0. None if that is not known.
    pub(crate) fn of_run(manifest: &Manifest) -> Option<Self> {
        let (hosts, cpus) = (manifest.metadata.numhosts, manifest.metadata.cpus);
        (hosts > 0 && cpus > 0).then(|| Self { ranks: manifest.ranks.div_ceil(hosts), cpus })
    }
}
