//! What was found out about regions that were met lately. Many callpaths end with one region, whose
//! texts are long.

use std::sync::Arc;

use super::Region;

/// As many regions are remembered: fewer than fill the nearest cache.
const REGIONS_MAX: usize = 1_024;

/// A value for each of the regions that were met lately.
#[derive(Debug)]
pub(crate) struct Lately<T> {
    /// The addresses of regions, and their values; a power of two of them.
    slots: Vec<(usize, T)>,
}

impl<T: Copy + Default> Lately<T> {
    /// For no more regions than these, all of which live as long as this: an address is that of one
    /// region.
    pub(crate) fn for_regions(regions: usize) -> Self {
        Self { slots: vec![(0, T::default()); regions.clamp(1, REGIONS_MAX).next_power_of_two()] }
    }

    /// The value of `region`, which `make` gives unless it is remembered.
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
