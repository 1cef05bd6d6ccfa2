//! A cache of values computed from regions that were met recently. Many callpaths end with the same
//! region, and its texts are long.

use std::sync::Arc;

use super::Region;

/// The largest number of regions remembered. They do not fill the L1 cache.
const REGIONS_MAX: usize = 1_024;

/// A cache with one value per region.
#[derive(Debug)]
pub(crate) struct Lately<T> {
    /// The addresses of regions, and their values. The length is a power of two.
    slots: Vec<(usize, T)>,
}

impl<T: Copy + Default> Lately<T> {
    /// Creates a cache for at most `regions` regions. All of them must outlive the cache, so that
    /// an address always means the same region.
    pub(crate) fn for_regions(regions: usize) -> Self {
        Self { slots: vec![(0, T::default()); regions.clamp(1, REGIONS_MAX).next_power_of_two()] }
    }

    /// Returns the value of `region`, computed by `make` unless it is remembered.
    pub(crate) fn of(&mut self, region: &Arc<Region>, make: impl FnOnce(&Region) -> T) -> T {
        let address = Arc::as_ptr(region).addr();
        let slot = (address >> 4).wrapping_mul(0x9e37_79b9) >> 12 & (self.slots.len() - 1);
        let slot = &mut self.slots[slot];
        if slot.0 != address {
            *slot = (address, make(region));
        }
        slot.1
    }
}
