//! A table of what is known of the program's objects, by their handles. Looking one up takes no
//! lock and touches no other object, which another thread may free meanwhile.

use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicUsize};

use crate::abi::Handle;

/// The slots that are searched for an object.
const PROBES: usize = 16;
/// The key of a slot that is being filled or emptied.
const CLAIMED: usize = usize::MAX;

/// A table with this many slots, a power of two.
pub(crate) struct Table<T, const SLOTS: usize> {
    keys: [AtomicUsize; SLOTS],
    values: [AtomicPtr<T>; SLOTS],
}

impl<T, const SLOTS: usize> Table<T, SLOTS> {
    pub(crate) const fn new() -> Self {
        Self {
            keys: [const { AtomicUsize::new(0) }; SLOTS],
            values: [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS],
        }
    }

    fn slots(handle: Handle) -> impl Iterator<Item = usize> {
        let first = handle.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        (first..first + PROBES).map(|at| at % SLOTS)
    }

    /// Returns what is kept under a handle, from [`insert`](Self::insert); null if nothing is.
    #[inline]
    pub(crate) fn find(&self, handle: Handle) -> *mut T {
        let found = Self::slots(handle).find(|&at| self.keys[at].load(Acquire) == handle.0);
        found.map_or(ptr::null_mut(), |at| self.values[at].load(Relaxed))
    }

    /// Keeps something under a handle that has nothing yet, until it is [taken](Self::take).
    /// Returns it, or `None` if there is no room.
    pub(crate) fn insert(&self, handle: Handle, new: T) -> Option<*mut T> {
        let claim =
            |&at: &usize| self.keys[at].compare_exchange(0, CLAIMED, AcqRel, Relaxed).is_ok();
        let at = Self::slots(handle).find(claim)?;
        let new = Box::into_raw(Box::new(new));
        self.values[at].store(new, Relaxed);
        self.keys[at].store(handle.0, Release);
        Some(new)
    }

    /// Takes what is kept under a handle out of the table. It is the caller's then, and comes from
    /// `Box::into_raw`.
    pub(crate) fn take(&self, handle: Handle) -> Option<*mut T> {
        let claim = |&at: &usize| {
            let key = &self.keys[at];
            handle.0 != 0 && key.compare_exchange(handle.0, CLAIMED, AcqRel, Relaxed).is_ok()
        };
        let at = Self::slots(handle).find(claim)?;
        let taken = self.values[at].swap(ptr::null_mut(), Relaxed);
        self.keys[at].store(0, Release);
        Some(taken)
    }

    /// Returns all that is kept.
    pub(crate) fn all(&self) -> impl Iterator<Item = *mut T> + '_ {
        let is_there = |at: &usize| ![0, CLAIMED].contains(&self.keys[*at].load(Acquire));
        (0..SLOTS).filter(is_there).map(|at| self.values[at].load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_until_it_is_taken() {
        let table = Table::<u32, 64>::new();
        let handles = [Handle(0x5581_0000), Handle(0x5581_0100)];
        for (number, handle) in (0..).zip(handles) {
            table.insert(handle, number).expect("room");
        }
        assert_eq!(table.all().count(), 2);
        let first = table.find(handles[0]);
        assert_eq!(table.take(handles[0]), Some(first));
        assert!(table.find(handles[0]).is_null() && table.take(handles[0]).is_none());
        // SAFETY: it has left the table.
        assert_eq!(*unsafe { Box::from_raw(first) }, 0);
        let second = table.take(handles[1]).expect("it stays");
        // SAFETY: it has left the table.
        drop(unsafe { Box::from_raw(second) });
    }

    #[test]
    fn no_handle_takes_no_slot() {
        let table = Table::<u32, 16>::new();
        for _ in 0..20 {
            assert_eq!(table.take(Handle(0)), None);
        }
        let inserted: Vec<_> = (1..).map_while(|n| table.insert(Handle(n), 0)).collect();
        assert_eq!(inserted.len(), 16);
        for one in inserted {
            // SAFETY: nobody looks the table up any more.
            drop(unsafe { Box::from_raw(one) });
        }
    }
}
