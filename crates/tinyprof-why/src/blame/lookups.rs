//! Waiting by rank and call, and by cause: looked up once for each of millions of costs.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use tinyprof_format::model::CallpathIndex;
use tinyprof_messages::waiting::Pattern;

use super::{Blamed, Cause};
use crate::facts::waits::{Wait, Waits};

/// The waiting of ranks in calls that no cause explains yet, sorted by rank and call.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) all: Vec<WaitLeft>,
    /// Where each rank begins.
    starts: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct WaitLeft {
    pub(super) rank: u32,
    pub(super) at: CallpathIndex,
    pub(super) ns: f64,
    /// The pattern of the longest part.
    pub(super) pattern: Pattern,
}

impl Left {
    pub(super) fn new(ranks: usize, waits: &Waits) -> Self {
        let key = |wait: &Wait| wait.at.map(|at| (wait.rank, at));
        let mut known: Vec<&Wait> = waits.all.iter().filter(|wait| wait.at.is_some()).collect();
        known.sort_by_key(|wait| key(wait));
        let all = known.chunk_by(|a, b| key(a) == key(b)).filter_map(|same| {
            let longest = same.iter().rev().max_by_key(|wait| wait.ns)?;
            let ns = same.iter().map(|wait| crate::ns(wait.ns.into())).sum();
            Some(WaitLeft { rank: longest.rank, at: longest.at?, ns, pattern: longest.pattern })
        });
        let all: Vec<WaitLeft> = all.collect();
        let first_of = |rank: usize| all.partition_point(|one| (one.rank as usize) < rank);
        let starts = (0..=ranks).map(first_of).collect();
        Self { all, starts }
    }

    pub(super) fn sum_ns(&self) -> f64 {
        self.all.iter().map(|one| one.ns).sum()
    }

    /// Returns what is left of the waiting of a rank in a call, and its pattern.
    pub(super) fn of(&mut self, rank: u32, at: CallpathIndex) -> Option<(&mut f64, Pattern)> {
        let range = *self.starts.get(rank as usize)?..*self.starts.get(rank as usize + 1)?;
        let of_rank = &mut self.all[range];
        let place = of_rank.binary_search_by_key(&at, |one| one.at).ok()?;
        let found = &mut of_rank[place];
        Some((&mut found.ns, found.pattern))
    }
}

/// The waiting by cause. A run of 4,096 ranks has millions of costs, which are looked up here.
#[derive(Debug, Default)]
pub(super) struct Causes {
    places: HashMap<Cause, usize, BuildHasherDefault<CauseHasher>>,
    all: Vec<(Cause, Blamed)>,
}

impl Causes {
    pub(super) fn of(&mut self, cause: Cause) -> &mut Blamed {
        let next = self.all.len();
        let place = *self.places.entry(cause).or_insert(next);
        if place == next {
            self.all.push((cause, Blamed::default()));
        }
        &mut self.all[place].1
    }

    /// Returns those that have any waiting.
    pub(super) fn into_map(mut self) -> BTreeMap<Cause, Blamed> {
        self.all.retain(|(_, blamed)| !blamed.at.is_empty());
        self.all.sort_unstable_by_key(|(cause, _)| *cause);
        self.all.into_iter().collect()
    }
}

/// A quick hash of small numbers of our own, which nobody chooses to collide.
#[derive(Clone, Copy, Debug, Default)]
struct CauseHasher(u64);

impl Hasher for CauseHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(FACTOR);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number.cast_unsigned() as u64);
    }
}
