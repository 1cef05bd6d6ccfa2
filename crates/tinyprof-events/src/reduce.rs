//! When all bins are in use, one of them is given up. Nothing blocks or grows.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::primitive::AtomicU64;
use tinyprof_segment::sequence::{begin_update, end_update};
use tinyprof_segment::words::{high, low, pack};
use tinyprof_vocabulary::{EventClass, EventPolicy};

use crate::bin::word;
use crate::buffer::{Buffer, add};
use crate::cell::{CELLS, Cell, DEPTHS, dispensability};
use crate::layout::{cell, header, index};

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

    /// Returns the bin whose last event ended first.
    fn oldest(&self, of: Cell) -> Option<usize> {
        for cell in (0..CELLS).filter_map(Cell::from_number) {
            if let Some(open) = self.open_number(cell) {
                self.note_last(open);
            }
        }
        let open = self.open_number(of);
        let entries = (0..).zip(self.index().as_chunks::<{ index::WORDS }>().0);
        let entries = entries.filter(|(bin, _)| Some(*bin) != open);
        entries.min_by_key(|(_, entry)| entry[index::LAST].load(Relaxed)).map(|(bin, _)| bin)
    }

    /// Returns a bin of the cell that has the most bins, weighed by its class, and of these cells
    /// the deepest. Roots are left alone as long as they take at most half of the buffer.
    fn most_dispensable(&self, of: Cell) -> Option<usize> {
        let roots = Cell::new(EventClass::Root, 1);
        let weight = |cell: Cell| {
            let bins = self.of_cell(cell, cell::BINS).load(Relaxed);
            let is_spared = cell == roots && bins <= self.geometry.bins as u64 / 2;
            if is_spared { 0 } else { bins * dispensability(cell.class()) }
        };
        let cells = (0..CELLS).filter_map(Cell::from_number);
        let cell = cells.max_by_key(|&cell| (weight(cell), cell.depth()))?;
        let newest = high(self.of_cell(cell, cell::OPEN).load(Relaxed)).wrapping_sub(1);
        let open = self.open_number(of);
        let entries = (0..).zip(self.index().as_chunks::<{ index::WORDS }>().0);
        let ranks = entries.filter_map(|(bin, entry)| {
            let word = entry[index::CELL].load(Relaxed);
            let is_candidate = low(word) == cell.number() + 1 && Some(bin) != open;
            is_candidate.then(|| (rank(cell, high(word), newest), bin))
        });
        ranks.min().map(|(_, bin)| bin)
    }

    fn index(&self) -> &[AtomicU64] {
        let first = self.geometry.index_at(0);
        &self.words[first..first + self.geometry.bins * index::WORDS]
    }

    /// Enters a bin that has just begun into the index, and counts it in its cell.
    pub(crate) fn enter_into_index(&self, bin: usize, of: Cell, number: u32) {
        self.of_index(bin, index::CELL).store(pack(of.number() + 1, number), Relaxed);
        self.note_last(bin);
        add(self.of_cell(of, cell::BINS), 1);
    }

    /// Tells the index the end of the last event of a bin.
    pub(crate) fn note_last(&self, bin: usize) {
        self.of_index(bin, index::LAST).store(self.bin(bin).get(word::LAST), Relaxed);
    }

    fn of_index(&self, bin: usize, word: usize) -> &AtomicU64 {
        &self.words[self.geometry.index_at(bin) + word]
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
        let bins = self.of_cell(of, cell::BINS);
        bins.store(bins.load(Relaxed).saturating_sub(1), Relaxed);
        // Until the bin is begun anew, readers find its visits, and count them as kept.
        end_update(self.of_cell(of, cell::SEQUENCE));
        true
    }
}

/// Returns a number by which the bins of a cell are given up, the smallest first: the first and the
/// newest last.
fn rank(of: Cell, number: u32, newest: u32) -> u64 {
    let is_end = number == 0 || number == newest;
    u64::from(is_end) << 40 | u64::from(round(of, number)) << 32 | u64::from(number)
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
