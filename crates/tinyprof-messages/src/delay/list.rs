//! Bounded lists of times by key, in words that others read.
//!
//! ```text
//!  | total ns | entries in use | key, ns | key, ns | ...
//! ```
//!
//! The total is exact. What has no entry, or has lost it, is the total less the entries. Values
//! only grow, and an entry keeps its place until another key takes it: so a difference of two
//! moments is taken place by place, without a search.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::primitive::AtomicU64;

mod owned;

pub(super) use owned::{Owned, add, merge};

const TOTAL: usize = 0;
const USED: usize = 1;
const ENTRIES: usize = 2;

/// Returns the words of a list of this many entries.
pub(super) const fn words(entries: usize) -> usize {
    ENTRIES + 2 * entries
}

/// Returns the words of the list at the beginning of a mail, if it is whole.
pub(super) fn length(mail: &[u64]) -> Option<usize> {
    let used = usize::try_from(*mail.get(USED)?).ok()?;
    let words = used.checked_mul(2)?.checked_add(ENTRIES)?;
    (words <= mail.len()).then_some(words)
}

/// Takes time back from a key of a copy of a list, and from the total.
pub(super) fn subtract(words: &mut [u64], key: u64, ns: u64) {
    words[TOTAL] = words[TOTAL].saturating_sub(ns);
    let used = List::new(&*words).used();
    let mut entries = words[ENTRIES..ENTRIES + 2 * used].chunks_exact_mut(2);
    if let Some(entry) = entries.find(|entry| entry[0] == key) {
        entry[1] = entry[1].saturating_sub(ns);
    }
}

/// A word that can be read: shared, or a copy.
pub(super) trait Word {
    fn get(&self) -> u64;
}

impl Word for u64 {
    #[inline(always)]
    fn get(&self) -> u64 {
        *self
    }
}

impl Word for AtomicU64 {
    #[inline(always)]
    fn get(&self) -> u64 {
        self.load(Relaxed)
    }
}

/// A list, for reading. Words of another rank may be anything until they are known to be whole: no
/// value leads out of the list.
#[derive(Debug)]
pub(super) struct List<'m, W>(&'m [W]);

impl<W> Clone for List<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for List<'_, W> {}

impl List<'static, u64> {
    /// The list of the moment at which all ranks began.
    pub(super) const EMPTY: Self = List(&[0; ENTRIES]);
}

impl<'m, W: Word> List<'m, W> {
    #[inline]
    pub(super) fn new(words: &'m [W]) -> Self {
        Self(words)
    }

    #[inline]
    pub(super) fn total_ns(self) -> u64 {
        self.0[TOTAL].get()
    }

    #[inline]
    pub(super) fn used(self) -> usize {
        let room = (self.0.len() - ENTRIES) / 2;
        usize::try_from(self.0[USED].get()).map_or(room, |used| used.min(room))
    }

    /// Returns the keys and times of the entries.
    #[inline]
    pub(super) fn entries(self) -> impl Iterator<Item = (u64, u64)> + use<'m, W> {
        let entries = self.0[ENTRIES..ENTRIES + 2 * self.used()].chunks_exact(2);
        entries.map(|entry| (entry[0].get(), entry[1].get()))
    }

    /// Returns the time of no entry.
    #[inline]
    pub(super) fn rest_ns(self) -> u64 {
        self.entries().fold(self.total_ns(), |rest, (_, ns)| rest.saturating_sub(ns))
    }

    /// Returns the keys and times since an earlier moment of the same list.
    #[inline]
    pub(super) fn since<E: Word>(
        self,
        earlier: List<'m, E>,
    ) -> impl Iterator<Item = (u64, u64)> + use<'m, W, E> {
        let none = std::iter::repeat((0, 0));
        self.entries().zip(earlier.entries().chain(none)).map(|((key, ns), (key_then, then))| {
            let is_same = key == key_then && ns >= then;
            (key, if is_same { ns - then } else { ns })
        })
    }

    /// Returns the time of a place since an earlier moment.
    #[inline]
    pub(super) fn place_since<E: Word>(self, earlier: List<'_, E>, place: usize) -> u64 {
        let at = key_of(place);
        let (key, ns) = (self.0[at].get(), self.0[at + 1].get());
        if place >= earlier.used() || earlier.0[at].get() != key {
            return ns;
        }
        ns.checked_sub(earlier.0[at + 1].get()).unwrap_or(ns)
    }

    /// Returns the time since an earlier moment.
    #[inline]
    pub(super) fn total_since<E: Word>(self, earlier: List<'_, E>) -> u64 {
        self.total_ns().saturating_sub(earlier.total_ns())
    }

    /// Copies the words in use.
    #[inline]
    pub(super) fn copy_to(self, target: &mut [u64]) {
        for (to, from) in target.iter_mut().zip(self.words_in_use()) {
            *to = from.get();
        }
    }

    /// Copies the words in use into shared ones. Owner only, within a change.
    #[inline]
    pub(super) fn share(self, target: &[AtomicU64]) {
        for (to, from) in target.iter().zip(self.words_in_use()) {
            to.store(from.get(), Relaxed);
        }
    }

    /// Returns the words in use.
    #[inline]
    pub(super) fn words_in_use(self) -> &'m [W] {
        &self.0[..ENTRIES + 2 * self.used()]
    }
}

#[inline(always)]
const fn key_of(place: usize) -> usize {
    ENTRIES + 2 * place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(entries: usize) -> Vec<AtomicU64> {
        (0..words(entries)).map(|_| AtomicU64::new(0)).collect()
    }

    #[test]
    fn a_difference_is_that_of_each_place() {
        let (words, mut owned) = (shared(2), Owned::new(2));
        owned.add(&words, 1, 10);
        owned.add(&words, 2, 500);
        let mut then = vec![0; words.len()];
        List::new(&words).copy_to(&mut then);
        owned.add(&words, 2, 5);
        owned.add(&words, 3, 70);
        let (now, then) = (List::new(&words), List::new(&then[..]));
        assert_eq!(now.since(then).collect::<Vec<_>>(), [(3, 70), (2, 5)]);
        assert_eq!((now.total_since(then), now.rest_ns()), (75, 10));
    }

    #[test]
    fn a_length_that_is_no_length_leads_nowhere() {
        let words = [7, u64::MAX, 1, 3, 2, 4];
        assert_eq!(List::new(&words[..]).entries().collect::<Vec<_>>(), [(1, 3), (2, 4)]);
        assert_eq!(List::new(&words[..]).rest_ns(), 0);
    }
}
