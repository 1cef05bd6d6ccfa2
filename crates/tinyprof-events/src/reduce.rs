//! When all bins are in use, one of them is given up. Nothing blocks or grows.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::sequence::{begin_update, end_update};
use tinyprof_segment::words::{high, low, pack};
use tinyprof_vocabulary::{EventClass, EventPolicy};

use crate::bin::word;
use crate::buffer::{Buffer, add};
use crate::cell::{CELLS, Cell, DEPTHS, dispensability};
use crate::layout::{cell, header};

/// The bins that are kept for visits which are open when the recording stops: at most one visit at
/// each depth, so at most one bin; and for the messages of the call that ends then.
const RESERVE: usize = DEPTHS as usize + 2;

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
    /// the deepest. Roots are left alone as long as they take at most half of the buffer.
    fn most_dispensable(&self, of: Cell) -> Option<usize> {
        let mut bins = [0_u64; CELLS as usize];
        let mut newest = [0_u32; CELLS as usize];
        for bin in (0..self.geometry.bins).map(|bin| self.bin(bin)) {
            let Some(cell) = bin.cell() else { continue };
            let at = cell.number() as usize;
            bins[at] += dispensability(cell.class());
            newest[at] = newest[at].max(bin.number());
        }
        let roots = &mut bins[Cell::new(EventClass::Root, 1).number() as usize];
        if *roots <= dispensability(EventClass::Root) * self.geometry.bins as u64 / 2 {
            *roots = 0;
        }
        let cells = (0..CELLS).filter_map(Cell::from_number);
        let cell = cells.max_by_key(|cell| (bins[cell.number() as usize], cell.depth()))?;
        let newest = newest[cell.number() as usize];
        let open = self.open_number(of);
        let is_of_cell = |bin: &usize| self.bin(*bin).cell() == Some(cell) && Some(*bin) != open;
        let rank = |bin: &usize| {
            let number = self.bin(*bin).number();
            (number == 0 || number == newest, round(cell, number), number)
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

/// Returns in which round a bin of a cell is given up, so that those that stay are equally far from
/// each other: every second one in round 0, of those left every second one in round 1, and so on.
/// Three kinds of cells keep bins a third of that distance apart, because visits of different cells
/// often come side by side, and so would what is lost.
fn round(cell: Cell, number: u32) -> u32 {
    const KEPT: [u32; 3] = [0, 0x5555_5555, 0xaaaa_aaaa];
    let kept = KEPT[(cell.class() as usize + cell.depth() as usize) % KEPT.len()];
    (number ^ kept).trailing_zeros()
}
