//! One site for each place in the source that has a span, made on first use.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{OnceLock, PoisonError, RwLock};

use tinyprof_format::model::{Mode, RegionKind};
use tracing_core::Metadata;

use crate::record::Site;

/// The sites of all spans seen so far, in blocks. The id of a span of our subscriber is the index
/// of its site here plus one. Ids need no table of their own, because all spans of one place are
/// the same region.
static SITES: [OnceLock<Box<Block>>; BLOCKS] = [const { OnceLock::new() }; BLOCKS];
type Block = [OnceLock<&'static Site>; BLOCK];
const BLOCK: usize = 256;
/// The limit on `SITES`: places in the source beyond it are not recorded.
const BLOCKS: usize = 256;

/// The index in `SITES` of a span's site, by the address of the span's metadata.
static PLACES: RwLock<BTreeMap<usize, u64>> = RwLock::new(BTreeMap::new());

/// Metadata that a thread has seen recently, and its index.
type Seen = Cell<(usize, u64)>;
const SEEN: usize = 64;

thread_local! {
    static LATELY: [Seen; SEEN] = const { [const { Cell::new((0, 0)) }; SEEN] };
}

/// Returns the site at a place that [`place_of`] returned, or `None` for places beyond the limit.
#[inline]
pub(super) fn site_at(place: u64) -> Option<&'static Site> {
    let place = usize::try_from(place).ok()?;
    SITES.get(place / BLOCK)?.get()?[place % BLOCK].get().copied()
}

/// Returns the index of a span's site in `SITES`.
#[inline]
pub(super) fn place_of(metadata: &'static Metadata<'static>) -> u64 {
    let key = std::ptr::from_ref(metadata).addr();
    LATELY.with(|lately| {
        // Metadata is a static of more than 64 bytes, so the low bits of its address carry little
        // information.
        let seen = &lately[(key >> 6) % SEEN];
        let (known, place) = seen.get();
        if known == key {
            return place;
        }
        let place = look_up(key, metadata);
        seen.set((key, place));
        place
    })
}

#[cold]
fn look_up(key: usize, metadata: &'static Metadata<'static>) -> u64 {
    let known = PLACES.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
    known.unwrap_or_else(|| {
        let mut places = PLACES.write().unwrap_or_else(PoisonError::into_inner);
        let next = places.len();
        *places.entry(key).or_insert_with(|| {
            if let Some(block) = SITES.get(next / BLOCK) {
                let block = block.get_or_init(|| Box::new([const { OnceLock::new() }; BLOCK]));
                block[next % BLOCK].get_or_init(|| leaked(metadata));
            }
            next as u64
        })
    })
}

/// Returns a new site that lives as long as the program, as the statics of the macros do.
fn leaked(metadata: &'static Metadata<'static>) -> &'static Site {
    let site = Site::new(
        metadata.name(),
        metadata.module_path().unwrap_or_default(),
        metadata.file().unwrap_or_default(),
        metadata.line().unwrap_or_default(),
        0,
        RegionKind::Scope,
        Mode::Total,
    );
    Box::leak(Box::new(site.made_at_run_time()))
}
