//! A hash of 128 bits that distinguishes callpaths with the same id.
//!
//! A [`CallpathId`](super::CallpathId) has 64 bits and is mixed from numbers. Two callpaths of a
//! large program may get the same id, though rarely. The identity is computed from the text of all
//! regions from the root on, by a different hash.

use std::sync::Arc;

use super::lately::Lately;
use super::{Callpath, Region, RegionKind};

/// The identity of a callpath, equal in every run of the same program text and on every rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity([u64; 2]);

impl Identity {
    #[cfg(test)]
    fn of(parent: Option<Self>, region: &Region) -> Self {
        Identities::for_regions(1).identity(parent, &Arc::new(region.clone()))
    }

    /// Returns the bytes of the identity, for messages.
    #[must_use]
    pub(crate) const fn to_bytes(self) -> [u8; 16] {
        let [high, low] = self.0;
        ((high as u128) << 64 | low as u128).to_le_bytes()
    }

    /// Returns 64 bits of the identity, to derive an unused id from.
    pub(super) const fn word(self) -> u64 {
        self.0[0]
    }

    /// Returns a hash of 128 bits over the whole row of a dictionary. Equal rows have equal
    /// digests, and different rows different ones.
    pub(super) fn digest_of_row(self, row: &Callpath) -> u128 {
        let mut hash = Fnv::default();
        hash.bytes(&self.to_bytes());
        hash.word(row.id.to_bits());
        hash.word(row.region.mode as u64);
        hash.word(u64::from(row.region.rank_local));
        for (key, value) in &row.region.constants {
            hash.text(key);
            hash.text(value);
        }
        // The bits of the last bytes have reached the upper half only in part.
        let spread =
            (hash.0 ^ (hash.0 >> 67)).wrapping_mul(0x2d35_8dcc_aa6c_78a5_9e37_79b9_7f4a_7c15);
        spread ^ (spread >> 61)
    }
}

/// The maker of identities. The contribution of a region does not depend on its callpath.
#[derive(Debug)]
pub(super) struct Identities(Lately<u128>);

impl Identities {
    /// Creates a maker for callpaths of at most `regions` regions, all of which outlive it.
    pub(super) fn for_regions(regions: usize) -> Self {
        Self(Lately::for_regions(regions))
    }

    /// Returns the identity of a callpath from its last region and the identity of its parent.
    pub(super) fn identity(&mut self, parent: Option<Identity>, region: &Arc<Region>) -> Identity {
        let mut hash = Fnv::default();
        hash.bytes(&parent.map_or([0; 16], Identity::to_bytes));
        hash.bytes(&self.0.of(region, hash_of_region).to_le_bytes());
        Identity([low(hash.0 >> 64), low(hash.0)])
    }
}

#[expect(clippy::cast_possible_truncation, reason = "taking the low half is the purpose")]
const fn low(bits: u128) -> u64 {
    bits as u64
}

/// Returns a hash of the fields that identify a region. Hints, modes and constants are left out:
/// they describe a callpath, but do not identify it.
fn hash_of_region(region: &Region) -> u128 {
    let mut hash = Fnv::default();
    hash.word(region.site.to_bits());
    for text in [&region.name, &region.module, &region.file] {
        hash.text(text);
    }
    hash.word(u64::from(region.line));
    hash.word(u64::from(region.column));
    hash.word(match region.kind {
        RegionKind::Function => 0,
        RegionKind::Scope => 1,
        RegionKind::Loop => 2,
    });
    hash.0
}

/// FNV-1a with 128 bits.
struct Fnv(u128);

impl Default for Fnv {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
    }

    fn word(&mut self, word: u64) {
        self.bytes(&word.to_le_bytes());
    }

    /// Adds a text and its length, so that different lists of texts never give the same bytes.
    fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        self.bytes(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Mode, SiteId};

    fn region() -> Region {
        Region {
            site: SiteId::from_bits(1),
            name: "main".into(),
            module: "m".into(),
            file: "f.rs".into(),
            line: 1,
            column: 1,
            kind: RegionKind::Function,
            mode: Mode::Total,
            rank_local: false,
            constants: [].into(),
        }
    }

    #[test]
    fn the_hash_is_the_published_one() {
        let mut hash = Fnv::default();
        hash.bytes(b"hello");
        assert_eq!(hash.0, 0xe3e1_efd5_4283_d94f_7081_314b_599d_31b3);
    }

    #[test]
    fn whatever_names_a_callpath_changes_its_identity_and_nothing_else_does() {
        let known = Identity::of(None, &region());
        let changes: [fn(&mut Region); 7] = [
            |r| r.site = SiteId::from_bits(2),
            |r| r.name = "mainm".into(),
            |r| r.module = String::new(),
            |r| r.file = "g.rs".into(),
            |r| r.line = 2,
            |r| r.column = 2,
            |r| r.kind = RegionKind::Loop,
        ];
        for change in changes {
            let mut other = region();
            change(&mut other);
            assert_ne!(Identity::of(None, &other), known, "{other:?}");
        }
        assert_ne!(Identity::of(Some(known), &region()), known);
        let said = Region {
            mode: Mode::Each,
            rank_local: true,
            constants: [("tag".into(), "COMP".into())].into(),
            ..region()
        };
        assert_eq!(Identity::of(None, &said), known);
    }
}
