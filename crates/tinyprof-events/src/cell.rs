//! Cells: visits of one class at one depth; and messages.
//!
//! Visits of one depth on one thread follow each other without overlap. So a cell needs only the
//! gap between two of them, and one cell can be given up while the others stay complete.

use tinyprof_vocabulary::EventClass;

/// The depths that have cells of their own. All deeper visits share the last one.
pub const DEPTHS: u32 = 16;

/// The number of cells.
#[expect(clippy::cast_possible_truncation, reason = "there are five classes")]
pub const CELLS: u32 = EventClass::ALL.len() as u32 * DEPTHS;

/// Returns by how much sooner bins of a class are given up than those of others.
pub(crate) const fn dispensability(class: EventClass) -> u64 {
    match class {
        EventClass::Root | EventClass::Call | EventClass::Message => 1,
        EventClass::AroundCalls => 2,
        EventClass::Computation => 4,
    }
}

/// The visits of a class at a depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell(u32);

impl Cell {
    /// The cell of messages.
    pub const MESSAGES: Self = Self::new(EventClass::Message, 1);

    /// Returns the cell of a class at a depth; roots have depth 1.
    #[must_use]
    #[inline]
    pub const fn new(class: EventClass, depth: u32) -> Self {
        let depth = if depth < DEPTHS { depth } else { DEPTHS };
        Self(class as u32 * DEPTHS + depth.saturating_sub(1))
    }

    /// Returns the cell with a number below [`CELLS`].
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        if number < CELLS { Some(Self(number)) } else { None }
    }

    /// Returns the number of the cell.
    #[must_use]
    #[inline]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns the class of its visits.
    #[must_use]
    pub const fn class(self) -> EventClass {
        EventClass::ALL[(self.0 / DEPTHS) as usize]
    }

    /// Returns the depth of its visits, from 1 on. In the last cell of a class it is the least.
    #[must_use]
    pub const fn depth(self) -> u32 {
        self.0 % DEPTHS + 1
    }

    /// Returns whether visits of the cell may be inside of each other.
    #[must_use]
    #[inline]
    pub const fn is_mixed(self) -> bool {
        self.0 % DEPTHS == DEPTHS - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_a_class_and_a_depth() {
        for class in EventClass::ALL {
            for depth in 1..=DEPTHS + 3 {
                let cell = Cell::new(class, depth);
                assert_eq!((cell.class(), cell.depth()), (class, depth.min(DEPTHS)));
                assert_eq!(cell.is_mixed(), depth >= DEPTHS);
                assert_eq!(Cell::from_number(cell.number()), Some(cell));
            }
        }
        assert_eq!(Cell::from_number(CELLS), None);
    }
}
