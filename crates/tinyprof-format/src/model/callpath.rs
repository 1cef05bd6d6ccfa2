//! Regions, callpaths, and the numbers that identify them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The id of a site: a hash of module path, name, line and column, equal on every rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SiteId(u64);

impl SiteId {
    /// Returns the site id with these 64 bits.
    #[must_use]
    #[inline]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the 64 bits of the id.
    #[must_use]
    #[inline]
    pub const fn to_bits(self) -> u64 {
        self.0
    }
}

/// The id of a callpath, equal on every rank and in every run of the same program text.
///
/// A root's id mixes its site with zero; a child's mixes its site with the id of its parent. If two
/// callpaths of a program get the same id, an [`Identity`](super::Identity) distinguishes them, and
/// one of them gets another id in the profile.
///
/// ```
/// use tinyprof_format::model::{CallpathId, SiteId};
///
/// let main = CallpathId::root(SiteId::from_bits(1));
/// let exchange = main.child(SiteId::from_bits(2));
/// assert_ne!(exchange, CallpathId::root(SiteId::from_bits(2)));
/// assert_eq!(exchange, main.child(SiteId::from_bits(2)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallpathId(u64);

impl CallpathId {
    /// Returns the id of the callpath that consists of one root region.
    #[must_use]
    pub const fn root(site: SiteId) -> Self {
        Self(mix(0, site.0))
    }

    /// Returns the id of the callpath that continues this one by a visit of `site`.
    #[must_use]
    pub const fn child(self, site: SiteId) -> Self {
        Self(mix(self.0, site.0))
    }

    /// Returns another id, for a callpath with the same id as this one but a different `word`.
    pub(super) const fn apart(self, word: u64) -> Self {
        Self(mix(!self.0, word))
    }

    /// Returns the callpath id with these 64 bits.
    #[must_use]
    #[inline]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the 64 bits of the id.
    #[must_use]
    #[inline]
    pub const fn to_bits(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for CallpathId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallpathId({:016x})", self.0)
    }
}

/// Mixes two words so that every input bit reaches every output bit. This is the finaliser of
/// `SplitMix64`, applied to a sum that is not symmetric in its arguments: `a<b` and `b<a` must
/// differ.
const fn mix(parent: u64, site: u64) -> u64 {
    let mut z = parent.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(site);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The position of a callpath in its [`CallpathTable`](super::CallpathTable).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallpathIndex(u32);

impl CallpathIndex {
    /// Returns the index of row `row`.
    ///
    /// # Panics
    /// If `row` does not fit 32 bits; tables are limited to fewer rows.
    #[must_use]
    pub fn new(row: usize) -> Self {
        Self(u32::try_from(row).expect("a callpath table has fewer than 2^32 rows"))
    }

    /// Returns the row of the table, 0-based.
    #[must_use]
    pub const fn row(self) -> usize {
        self.0 as usize
    }

    /// Returns the row as a number of 32 bits.
    pub(crate) const fn number(self) -> u32 {
        self.0
    }
}

/// The construct that declares a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RegionKind {
    /// A function with the attribute `#[profile]`.
    Function,
    /// A `profile_scope!`.
    Scope,
    /// A `profile_loop!`; a visit is an iteration.
    Loop,
}

/// The values kept of visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Mode {
    /// Count, sum, minimum, maximum and sum of squares of each execution (the paper's `loop = 2`).
    Total,
    /// The values of `Total`, and the time of every visit (the paper's `loop = 1`).
    Each,
}

/// A measured region of the source. Equal site ids mean equal regions within one build of a
/// program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Region {
    /// The site's id.
    pub site: SiteId,
    /// The name given by the user, or that of the function. It is never trusted, and escaped
    /// wherever it is shown.
    pub name: String,
    /// The module path of the site.
    pub module: String,
    /// The source file as named by the compiler.
    pub file: String,
    /// The line in `file`, 1-based.
    pub line: u32,
    /// The column in `line`, 1-based.
    pub column: u32,
    /// Function, scope or loop.
    pub kind: RegionKind,
    /// The values kept of its visits.
    pub mode: Mode,
    /// True if only some ranks are expected to visit it (the paper's `is_common = 0`). This is a
    /// hint: a wrong one costs time, never correctness.
    pub rank_local: bool,
    /// The consistent metrics: constants of the region, by name (the paper's `tag`). No more
    /// trusted than `name`.
    pub constants: BTreeMap<String, String>,
}

impl Region {
    /// Creates a function region of which only the name is known: it has no place in the source and
    /// no constants, and its mode is `Total`.
    #[must_use]
    pub fn named(site: SiteId, name: impl Into<String>) -> Self {
        Self {
            site,
            name: name.into(),
            module: String::new(),
            file: String::new(),
            line: 0,
            column: 0,
            kind: RegionKind::Function,
            mode: Mode::Total,
            rank_local: false,
            constants: BTreeMap::new(),
        }
    }
}

/// One row of a [`CallpathTable`](super::CallpathTable): a region reached through its parent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Callpath {
    /// The callpath's id.
    pub id: CallpathId,
    /// The enclosing callpath; none for a root region. Always an earlier row of the same table.
    pub parent: Option<CallpathIndex>,
    /// The number of enclosing callpaths: 0 for a root region.
    pub depth: u32,
    /// The last region of the chain, shared by all callpaths that end with it.
    pub region: Arc<Region>,
}
