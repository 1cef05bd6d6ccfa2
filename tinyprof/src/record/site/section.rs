//! The section of the executable in which all sites are side by side.

#[cfg(all(target_os = "linux", feature = "enable"))]
mod linked {
    unsafe extern "C" {
        // The linker defines these two symbols for every section whose name is an identifier. Only
        // their addresses are used.
        #[link_name = "__start_tinyprof_sites"]
        static START: u8;
        #[link_name = "__stop_tinyprof_sites"]
        static STOP: u8;
    }

    #[inline]
    pub(in crate::record) fn start() -> usize {
        (&raw const START).expose_provenance()
    }

    pub(in crate::record) fn stop() -> usize {
        (&raw const STOP).addr()
    }
}

/// The fallback without section symbols: no site has a dense index, and every child is looked up by
/// hash.
///
/// With the feature off there are no sites, so a linker would not define the symbols.
#[cfg(not(all(target_os = "linux", feature = "enable")))]
mod linked {
    pub(in crate::record) fn start() -> usize {
        0
    }

    pub(in crate::record) fn stop() -> usize {
        0
    }
}

pub(super) use linked::{start, stop};
