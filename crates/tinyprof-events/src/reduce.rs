//! When all bins are in use, one of them is given up. Nothing blocks or grows.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::sequence::{begin_update, end_update};
use tinyprof_segment::words::{high, low, pack};
use tinyprof_vocabulary::EventPolicy;

use crate::bin::word;
use crate::buffer::{Buffer, add};
use crate::cell::{CELLS, Cell, DEPTHS, dispensability};
use crate::layout::{cell, header};

/// The bins that are kept for visits which are open when the recording stops: at most one visit at
/// each depth, so at most one bin.
const RESERVE: usize = DEPTHS as usize + 1;

impl Buffer<'_> {
    /// Returns a bin that belongs to no cell, for one whose open bin is full; `None` if nothing may
    /// be given up for it. `now` is the end of the visit that needs it.
    pub(crate) fn free_bin(&self, of: Cell, now: u64) -> Option<usize> {
        let policy = EventPolicy::from_number(low(self.get(header::POLICY)).into())?;
        let used = usize::try_from(self.get(header::BINS_USED)).ok()?;
        let is_window = policy == EventPolicy::Window;
        if is_window && used + RESERVE >= self.geometry.bins && self.get(header::STOPPED) == 0 {
            // All visits that have begun by now are still taken, so that none lacks its parent.
            self.words[header::STOPPED].store(now + 1, Relaxed);
        }
        if used < self.geometry.bins {
            self.words[header::BINS_USED].store(used as u64 + 1, Relaxed);
            return Some(used);
        }
        let victim = match policy {
            EventPolicy::Window => None,
            EventPolicy::Ring => self.oldest(of),
            EventPolicy::Thin => self.most_dispensable(of),
        }?;
        self.give_up(victim).then_some(victim)
    }

    /// Returns the bin whose last visit ended first.
    fn oldest(&self, of: Cell) -> Option<usize> {
        let open = self.open_number(of);
        let bins = (0..self.geometry.bins).filter(|bin| Some(*bin) != open);
        bins.min_by_key(|&bin| self.bin(bin).get(word::LAST))
    }

    /// Returns a bin of the cell that has the most bins, weighed by its class, and of these cells
    /// the deepest: of its older half, one of every second.
    fn most_dispensable(&self, of: Cell) -> Option<usize> {
        let mut bins = [0_u64; CELLS as usize];
        let mut newest = [0_u32; CELLS as usize];
        for bin in (0..self.geometry.bins).map(|bin| self.bin(bin)) {
            let Some(cell) = bin.cell() else { continue };
            let at = cell.number() as usize;
            bins[at] += dispensability(cell.class());
            newest[at] = newest[at].max(bin.number());
        }
        let cells = (0..CELLS).filter_map(Cell::from_number);
        let cell = cells.max_by_key(|cell| (bins[cell.number() as usize], cell.depth()))?;
        let half = newest[cell.number() as usize] / 2;
        let open = self.open_number(of);
        let is_of_cell = |bin: &usize| self.bin(*bin).cell() == Some(cell) && Some(*bin) != open;
        // The number of twos in its number tells in which round a bin is given up: the first of the
        // cell last of all.
        let rank = |bin: &usize| {
            let number = self.bin(*bin).number();
            (number > half, number.trailing_zeros(), number)
        };
        (0..self.geometry.bins).filter(is_of_cell).min_by_key(rank)
    }

    /// Takes a bin from its cell, and counts its visits as lost.
    fn give_up(&self, victim: usize) -> bool {
        let bin = self.bin(victim);
        let Some(of) = bin.cell() else { return true };
        if !begin_update(self.of_cell(of, cell::SEQUENCE)) {
            return false;
        }
        let open = self.of_cell(of, cell::OPEN);
        if self.open_number(of) == Some(victim) {
            add(self.of_cell(of, cell::CLOSED), bin.filled().0.into());
            open.store(pack(0, high(open.load(Relaxed))), Relaxed);
        }
        self.note_loss(of, bin.get(word::FIRST), bin.get(word::LAST));
        // Until the bin is begun anew, readers find its visits, and count them as kept.
        end_update(self.of_cell(of, cell::SEQUENCE));
        true
    }

    fn open_number(&self, of: Cell) -> Option<usize> {
        let open = low(self.of_cell(of, cell::OPEN).load(Relaxed));
        open.checked_sub(1).map(|open| open as usize)
    }
}
