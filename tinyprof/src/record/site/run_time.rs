//! Sites that the recorder makes while the program runs.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_format::model::{SAMPLES_MODULE, SiteId, WORKERS_MODULE};

use super::{FNV_OFFSET, Site, fnv1a};

impl Site {
    /// Returns the region of a whole program that has no regions of its own, as a site made at run
    /// time. The id is a hash of the name.
    pub(in crate::record) fn program(name: &'static str) -> Self {
        let is_call = false;
        let hash = fnv1a(fnv1a(FNV_OFFSET, b"program\0"), name.as_bytes());
        let id = SiteId::from_bits(hash);
        Self {
            module: "",
            id,
            run_time_number: next_run_time_number(),
            is_call,
            ..Self::mpi(name, &[])
        }
    }

    /// Returns the function at one of its call sites, as a site made at run time. `module` is the
    /// executable or library of the call, and `name` the function's name with module and offset,
    /// which together are equal on every rank.
    pub(in crate::record) fn at_call_site(&self, name: &'static str, module: &'static str) -> Self {
        if self.is_sample() {
            // They take no number from sites that are cached.
            let hash = fnv1a(fnv1a(self.id.to_bits(), &[0]), name.as_bytes());
            return Self { file: module, name, id: SiteId::from_bits(hash), ..*self };
        }
        Self { file: module, ..self.with_name(name) }
    }

    /// Returns the function at a line of a script, as a site made at run time. `name` is the
    /// function's name with that of the file and the line.
    ///
    /// The id also depends on the directory of `file`, but not on that of the whole path, which
    /// hosts may have in other places.
    pub(in crate::record) fn at_line(
        &self,
        name: &'static str,
        file: &'static str,
        line: u32,
    ) -> Self {
        let site = self.with_name(name);
        let directory = file.rsplit('/').nth(1).unwrap_or_default();
        let id = SiteId::from_bits(fnv1a(site.id.to_bits(), directory.as_bytes()));
        Self { file, line, id, ..site }
    }

    /// Returns the site with other constants, of which `value` tells it from others.
    pub(in crate::record) fn told_apart_by(
        &self,
        value: &str,
        constants: &'static [(&'static str, &'static str)],
    ) -> Self {
        let hash = fnv1a(fnv1a(self.id.to_bits(), &[1]), value.as_bytes());
        Self { id: SiteId::from_bits(hash), constants, ..*self }
    }

    /// Returns the region of samples whose place is not told, with constants such as their period.
    ///
    /// The id is a hash of the name. As those of a call, its visits are no executions.
    pub(in crate::record) const fn sample(
        name: &'static str,
        constants: &'static [(&'static str, &'static str)],
    ) -> Self {
        let hash = fnv1a(fnv1a(FNV_OFFSET, b"sample\0"), name.as_bytes());
        let id = SiteId::from_bits(hash);
        let rank_local = true;
        Self { module: SAMPLES_MODULE, id, rank_local, ..Self::mpi(name, constants) }
    }

    /// Returns a region that counts samples of worker threads, beside the places of these samples.
    pub(in crate::record) const fn of_workers(name: &'static str) -> Self {
        Self { module: WORKERS_MODULE, ..Self::sample(name, &[]) }
    }

    /// Returns the region as a site made at run time, with the next number.
    #[cfg(feature = "tracing")]
    pub(crate) fn made_at_run_time(self) -> Self {
        Self { run_time_number: next_run_time_number(), ..self }
    }

    /// Returns the region under another name, as a site made at run time.
    ///
    /// The id is that of the region with a hash of the name, so that it is equal on every rank.
    pub(in crate::record) fn with_name(&self, name: &'static str) -> Self {
        let hash = fnv1a(fnv1a(self.id.to_bits(), &[0]), name.as_bytes());
        Self { name, id: SiteId::from_bits(hash), run_time_number: next_run_time_number(), ..*self }
    }
}

/// Returns the next number for a site made at run time, from 1 on, or 0 if the numbers are
/// exhausted.
fn next_run_time_number() -> u32 {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let next = |made: u32| made.checked_add(1);
    MADE.fetch_update(Relaxed, Relaxed, next).map_or(0, |before| before + 1)
}
