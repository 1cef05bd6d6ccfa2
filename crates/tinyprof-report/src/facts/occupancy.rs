//! How many ranks share a host.

use tinyprof_format::model::Manifest;

/// The number of ranks on a host, and of its CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// The ranks on the host.
    pub ranks: u32,
    /// Its CPUs.
    pub cpus: u32,
}

impl Occupancy {
    /// Returns whether ranks have to take turns.
    #[must_use]
    pub const fn is_crowded(self) -> bool {
        self.ranks > self.cpus
    }

    /// Returns the ranks on the host that has most of them, which has at least the mean number. All
    /// hosts are assumed to have as many CPUs as that of rank 0. None if that is not known.
    #[must_use]
    pub fn of_run(manifest: &Manifest) -> Option<Self> {
        let (hosts, cpus) = (manifest.metadata.numhosts, manifest.metadata.cpus);
        (hosts > 0 && cpus > 0).then(|| Self { ranks: manifest.ranks.div_ceil(hosts), cpus })
    }
}
