//! Sections of a graph: straight parts, loops, and loops in loops.

/// A part of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The straight part after this many loops.
    Straight(u32),
    /// The loop with this callpath.
    Loop(u64),
}

/// The place of a node: the loops around it, from the outermost on, and the straight part.
///
/// A node that is visited in several places belongs to the first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Section {
    /// The loops around, and a straight part at the end. In a loop that has no other loop in it
    /// all is one part, 0.
    pub places: Vec<Place>,
}

impl Section {
    /// Returns the section that is a phase of the program: the outermost loop, or the straight part
    /// outside of all loops.
    #[must_use]
    pub fn phase(&self) -> Option<Place> {
        self.places.first().copied()
    }

    /// Returns whether the section lies within the other, or is it.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.places.starts_with(&other.places)
    }
}
