//! A table of sites that are made while the program runs. Finding one takes no lock and no
//! allocation; nothing is ever removed.

use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicPtr, AtomicU32};

/// A table with open addressing, for at most half as many entries as it has slots, so that searches
/// stay short. A slot is filled once and never cleared.
#[derive(Debug)]
pub(super) struct SiteTable<T: 'static, const SLOTS: usize> {
    slots: [AtomicPtr<T>; SLOTS],
    taken: AtomicU32,
}

impl<T: Sync, const SLOTS: usize> SiteTable<T, SLOTS> {
    /// The most entries.
    #[expect(clippy::cast_possible_truncation, reason = "asserted in `new`")]
    pub(super) const ENTRIES_MAX: u32 = (SLOTS / 2) as u32;

    /// Returns an empty table.
    pub(super) const fn new() -> Self {
        const { assert!(SLOTS.is_power_of_two() && SLOTS <= u32::MAX as usize) };
        let slots = [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS];
        Self { slots, taken: AtomicU32::new(0) }
    }

    /// Returns the entry that `is` the one, if there is one. `hash` is equal for equal entries, and
    /// its upper half differs between others.
    #[inline]
    pub(super) fn find(&self, hash: u64, is: impl Fn(&T) -> bool) -> Option<&'static T> {
        for slot in self.slots(hash) {
            match entry(slot) {
                Some(known) if is(known) => return Some(known),
                Some(_) => {}
                None => break,
            }
        }
        None
    }

    /// Inserts the entry that `make` makes, unless another thread has made it in the meantime, and
    /// returns it. None if the table is full or `make` has none. The caller is cold.
    ///
    /// `make` takes its memory from the system, not from the heap: the visit may come from a signal
    /// handler, or from inside of an allocator.
    pub(super) fn insert(
        &self,
        hash: u64,
        is: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Option<&'static T>,
    ) -> Option<&'static T> {
        let reserve = |taken| (taken < Self::ENTRIES_MAX).then_some(taken + 1);
        self.taken.fetch_update(Relaxed, Relaxed, reserve).ok()?;
        let new = make();
        let published = new.and_then(|new| self.publish(hash, is, new));
        // Another thread has made the entry, or there is no memory.
        if !published.zip(new).is_some_and(|(published, new)| ptr::eq(published, new)) {
            self.taken.fetch_sub(1, Relaxed);
        }
        published
    }

    /// Puts an entry into the table. Returns it, or the one that another thread has put there.
    fn publish(&self, hash: u64, is: impl Fn(&T) -> bool, new: &'static T) -> Option<&'static T> {
        self.slots(hash).find_map(|slot| {
            let pointer = ptr::from_ref(new).cast_mut();
            let put = slot.compare_exchange(ptr::null_mut(), pointer, AcqRel, Acquire);
            if put.is_ok() { Some(new) } else { entry(slot).filter(|known| is(known)) }
        })
    }

    /// Returns the slots for a hash, in probing order: all of them.
    #[inline]
    fn slots(&self, hash: u64) -> impl Iterator<Item = &AtomicPtr<T>> {
        let first = (hash >> 32) as usize;
        (0..SLOTS).map(move |next| &self.slots[(first + next) % SLOTS])
    }
}

#[inline]
fn entry<T: Sync>(slot: &AtomicPtr<T>) -> Option<&'static T> {
    // SAFETY: null, or a pointer stored by `publish`, to memory that was written before and is
    // never freed.
    unsafe { slot.load(Acquire).as_ref() }
}

/// Replaces the bytes `<` and `>` by parentheses, because `<` separates the regions of a callpath.
pub(super) const fn name_byte(byte: u8) -> u8 {
    match byte {
        b'<' => b'(',
        b'>' => b')',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaked(value: u64) -> Option<&'static u64> {
        Some(Box::leak(Box::new(value)))
    }

    fn get_or_insert<const SLOTS: usize>(
        table: &SiteTable<u64, SLOTS>,
        hash: u64,
        value: u64,
        make: impl FnOnce() -> Option<&'static u64>,
    ) -> Option<&'static u64> {
        let is = |known: &u64| *known == value;
        table.find(hash, is).or_else(|| table.insert(hash, is, make))
    }

    #[test]
    fn what_could_not_be_made_takes_no_room() {
        let table = SiteTable::<u64, 8>::new();
        for value in 0..100 {
            assert_eq!(get_or_insert(&table, value << 32, value, || None), None);
        }
        let put = |value: u64| {
            // One slot comes first for all of them.
            get_or_insert(&table, 3 << 32, value, || leaked(value)).copied()
        };
        let expected = [Some(0), Some(1), Some(2), Some(3), None, None];
        for _ in 0..2 {
            assert_eq!([0, 1, 2, 3, 4, 5].map(put), expected);
        }
    }

    #[test]
    fn threads_that_make_the_same_entry_at_once_agree() {
        let table = &SiteTable::<u64, 256>::new();
        let get = |value| get_or_insert(table, value << 32, value, || leaked(value));
        let one = || (0..100).map(|n| ptr::from_ref(get(n).unwrap()).addr()).collect();
        let all: Vec<Vec<usize>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(one)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.iter().all(|entries| *entries == all[0]));
        assert_eq!(table.taken.load(Relaxed), 100);
    }
}
