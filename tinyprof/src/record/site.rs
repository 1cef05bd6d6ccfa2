//! The compile-time record of a region.

mod run_time;
mod section;

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_format::model::{Mode, Region, RegionKind, SAMPLES_MODULE, SiteId};
use tinyprof_segment::layout::site as layout;

/// A region's compile-time record. The attribute and the macros emit one `static` for each region.
///
/// On Linux all sites of a program are side by side in one section of the executable. A site's
/// dense index is the distance of its address from the section's start: no registration, no growth
/// at run time.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Site {
    name: &'static str,
    module: &'static str,
    file: &'static str,
    line: u32,
    column: u32,
    id: SiteId,
    /// The kind of the region, or `None` for a metric of a region.
    kind: Option<RegionKind>,
    mode: Mode,
    rank_local: bool,
    /// The number of a site made at run time, counted from 1; otherwise 0.
    run_time_number: u32,
    /// True for a function of MPI.
    is_call: bool,
    constants: &'static [(&'static str, &'static str)],
}

// A division by the size must be a shift, and neighbours in the section must not leave gaps.
const _: () = assert!(size_of::<Site>() == 128);

impl Site {
    /// Returns the record of a region at `line` and `column` of `file` (1-based), in module path
    /// `module`.
    ///
    /// The id is a hash of module path, name, line and column. It does not include the file's name,
    /// which is absolute for some dependencies and would differ between two builds of the same
    /// program. It includes the place of the call: a macro that makes the same function for two
    /// types has one line, but two calls.
    #[must_use]
    #[track_caller]
    pub const fn new(
        name: &'static str,
        module: &'static str,
        file: &'static str,
        line: u32,
        column: u32,
        kind: RegionKind,
        mode: Mode,
    ) -> Self {
        let mut hash = fnv1a(FNV_OFFSET, module.as_bytes());
        hash = fnv1a(hash, &[0]);
        hash = fnv1a(hash, name.as_bytes());
        hash = fnv1a(hash, &[0]);
        hash = fnv1a(hash, &line.to_le_bytes());
        hash = fnv1a(hash, &column.to_le_bytes());
        let call = std::panic::Location::caller();
        hash = fnv1a(hash, &call.line().to_le_bytes());
        hash = fnv1a(hash, &call.column().to_le_bytes());
        Self {
            name,
            module,
            file,
            line,
            column,
            id: SiteId::from_bits(hash),
            kind: Some(kind),
            mode,
            rank_local: false,
            run_time_number: 0,
            is_call: false,
            constants: &[],
        }
    }

    /// Returns a varying metric called `key`, for any region in which it is recorded.
    ///
    /// The id is a hash of the key alone, so a key in two places of a region is one metric.
    #[must_use]
    pub const fn metric(key: &'static str) -> Self {
        let hash = fnv1a(fnv1a(FNV_OFFSET, b"metric\0"), key.as_bytes());
        Self {
            name: key,
            module: "",
            file: "",
            line: 0,
            column: 0,
            id: SiteId::from_bits(hash),
            kind: None,
            mode: Mode::Total,
            rank_local: false,
            run_time_number: 0,
            is_call: false,
            constants: &[],
        }
    }

    /// Returns a function of MPI, with constants such as its tag.
    ///
    /// The id is a hash of the name alone. Such a call does not begin an execution where it is not
    /// inside of a region, and some ranks may not make it.
    #[must_use]
    pub const fn mpi(
        name: &'static str,
        constants: &'static [(&'static str, &'static str)],
    ) -> Self {
        let hash = fnv1a(fnv1a(FNV_OFFSET, b"mpi\0"), name.as_bytes());
        Self {
            name,
            module: "mpi",
            file: "",
            line: 0,
            column: 0,
            id: SiteId::from_bits(hash),
            kind: Some(RegionKind::Function),
            mode: Mode::Total,
            rank_local: false,
            run_time_number: 0,
            is_call: true,
            constants,
        }
    }

    /// Returns the constants of the site.
    pub(super) fn constants(&self) -> &'static [(&'static str, &'static str)] {
        self.constants
    }

    /// Returns whether visits of the site are samples.
    pub(super) fn is_sample(&self) -> bool {
        self.module == SAMPLES_MODULE
    }

    /// Marks the region as visited by some ranks only.
    #[must_use]
    pub const fn with_rank_local(self) -> Self {
        Self { rank_local: true, ..self }
    }

    /// Adds consistent metrics to the region: names and values.
    #[must_use]
    pub const fn with_constants(self, constants: &'static [(&'static str, &'static str)]) -> Self {
        Self { constants, ..self }
    }

    /// Returns the region's name, or the metric's key.
    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the path of the region's module; empty for a metric.
    pub(super) const fn module(&self) -> &'static str {
        self.module
    }

    pub(crate) const fn id(&self) -> SiteId {
        self.id
    }

    pub(crate) const fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the region for the profile, or `None` if the site is a metric.
    pub(crate) fn region(&self) -> Option<Region> {
        Some(Region {
            site: self.id,
            name: self.name.to_owned(),
            module: self.module.to_owned(),
            file: self.file.to_owned(),
            line: self.line,
            column: self.column,
            kind: self.kind?,
            mode: self.mode,
            rank_local: self.rank_local,
            constants: self
                .constants
                .iter()
                .map(|&(key, value)| (key.into(), value.into()))
                .collect(),
        })
    }

    /// Calls `field` with each part of the site's description that has no fixed length, and its
    /// tag. Allocates nothing.
    pub(super) fn fields(&self, mut field: impl FnMut(u8, &[u8])) {
        field(layout::NAME, self.name.as_bytes());
        field(layout::MODULE, self.module.as_bytes());
        field(layout::FILE, self.file.as_bytes());
        if self.rank_local {
            field(layout::RANK_LOCAL, &[]);
        }
        for (key, value) in self.constants {
            field(layout::KEY, key.as_bytes());
            field(layout::VALUE, value.as_bytes());
        }
    }

    /// Returns line and column, in the encoding of a segment.
    pub(super) const fn place_word(&self) -> u64 {
        (self.column as u64) << 32 | self.line as u64
    }

    /// Returns kind and mode, in the encoding of a segment.
    pub(super) const fn kind_word(&self) -> u32 {
        let kind = match self.kind {
            Some(kind) => kind as u32,
            None => layout::METRIC,
        };
        (self.mode as u32) << 8 | kind
    }

    /// Returns whether the site is a function of MPI.
    pub(super) const fn is_call(&self) -> bool {
        self.is_call
    }

    /// Returns whether the site is a metric, not a region.
    pub(super) const fn is_metric(&self) -> bool {
        self.kind.is_none()
    }

    /// Returns the site's index among all sites of the executable, or an index past the last for
    /// sites of other shared objects.
    #[inline]
    pub(super) fn dense_index(&'static self) -> usize {
        std::ptr::from_ref(self).addr().wrapping_sub(section::start()) / size_of::<Self>()
    }

    /// Returns the site's index among those made at run time, or `None` for other sites.
    pub(super) fn run_time_index(&self) -> Option<usize> {
        usize::try_from(self.run_time_number.checked_sub(1)?).ok()
    }

    /// Returns the number of sites in the executable.
    pub(super) fn count() -> usize {
        section::stop().wrapping_sub(section::start()) / size_of::<Self>()
    }
}

/// Returns whether the program has regions: sites of its own beside those of this library.
#[inline]
#[must_use]
pub fn has_regions() -> bool {
    /// 0: not known yet. 1: no. 2: yes.
    static FOUND: AtomicU32 = AtomicU32::new(0);
    match FOUND.load(Relaxed) {
        0 => {
            let found = has_sites_of_its_own();
            FOUND.store(1 + u32::from(found), Relaxed);
            found
        }
        found => found == 2,
    }
}

#[cold]
fn has_sites_of_its_own() -> bool {
    let first = std::ptr::with_exposed_provenance::<Site>(section::start());
    (0..Site::count()).any(|index| {
        // SAFETY: the section holds nothing but sites, as many as `count` returns.
        let site = unsafe { &*first.wrapping_add(index) };
        !site.is_metric() && !site.is_call() && site.module != OTHER.module
    })
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// Computes 64-bit FNV-1a: short, `const`, and good enough for identifiers of a few dozen bytes.
const fn fnv1a(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

/// The site of callpaths that find the table full: one child of it under each parent.
#[cfg_attr(feature = "enable", used)]
#[cfg_attr(all(target_os = "linux", feature = "enable"), unsafe(link_section = "tinyprof_sites"))]
pub(super) static OTHER: Site =
    Site::new("[other]", "tinyprof", file!(), line!(), column!(), RegionKind::Scope, Mode::Total);

#[cfg(test)]
mod tests {
    use super::*;

    #[used]
    #[cfg_attr(target_os = "linux", unsafe(link_section = "tinyprof_sites"))]
    static HERE: Site = Site::new("here", "m", "f.rs", 1, 2, RegionKind::Function, Mode::Total);

    #[test]
    fn a_region_says_what_its_site_says() {
        let site = Site::new("x", "m", "f.rs", 1, 2, RegionKind::Loop, Mode::Each);
        let region = site.region().unwrap();
        assert!(!region.rank_local && region.constants.is_empty());
        let region = site
            .with_rank_local()
            .with_constants(&[("tag", "COMP"), ("kernel", "")])
            .region()
            .unwrap();
        assert!(region.rank_local);
        let constants = [("tag".into(), "COMP".into()), ("kernel".into(), String::new())];
        assert_eq!(region.constants, constants.into());
        assert_eq!((region.mode, region.line), (Mode::Each, 1));
    }

    #[test]
    fn ids_depend_on_name_module_line_column_and_call_only() {
        let id = |name, module, file, (line, column)| {
            Site::new(name, module, file, line, column, RegionKind::Loop, Mode::Each).id()
        };
        let here = id("here", "m", "f.rs", (1, 2));
        assert_eq!(here, id("here", "m", "/elsewhere/f.rs", (1, 2)));
        for other in [
            HERE.id(),
            id("her", "m", "f.rs", (1, 2)),
            id("here", "n", "f.rs", (1, 2)),
            id("here", "m", "f.rs", (2, 2)),
            id("here", "m", "f.rs", (1, 3)),
            id("re", "mhe", "f.rs", (1, 2)),
        ] {
            assert_ne!(here, other);
        }
    }

    #[test]
    #[cfg(all(target_os = "linux", feature = "enable"))]
    fn sites_are_numbered_without_gaps() {
        assert!(HERE.dense_index() < Site::count());
        assert!(OTHER.dense_index() < Site::count());
        assert_ne!(HERE.dense_index(), OTHER.dense_index());
        static ELSEWHERE: Site = Site::new("x", "m", "f.rs", 9, 9, RegionKind::Scope, Mode::Total);
        assert!(ELSEWHERE.dense_index() >= Site::count());
    }
}
