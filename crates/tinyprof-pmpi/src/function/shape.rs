//! Who waits for whom in an operation of several ranks.

use tinyprof::__calls::EdgeKind;
use tinyprof_messages::waiting::Collective;

/// Who waits for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Of(Collective),
    /// Each rank waits for those whose data it gets.
    Neighbors,
    /// All wait for all, between accesses to a window.
    Fence,
}

impl Shape {
    const ALL: [Self; 7] = [
        Self::Of(Collective::Barrier),
        Self::Of(Collective::AllToAll),
        Self::Of(Collective::FromRoot),
        Self::Of(Collective::ToRoot),
        Self::Of(Collective::Scan),
        Self::Neighbors,
        Self::Fence,
    ];

    /// Returns the number of the shape, for a word in memory.
    pub(crate) fn to_number(self) -> u32 {
        (0..).zip(Self::ALL).find(|(_, shape)| *shape == self).map_or(0, |(number, _)| number)
    }

    /// Returns the shape with a number.
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }

    /// Returns the kind of the edges of such an operation.
    pub(crate) fn edge(self) -> EdgeKind {
        match self {
            Self::Of(Collective::Barrier) => EdgeKind::Barrier,
            Self::Of(Collective::AllToAll) => EdgeKind::AllToAll,
            Self::Of(Collective::FromRoot) => EdgeKind::FromRoot,
            Self::Of(Collective::ToRoot) => EdgeKind::ToRoot,
            Self::Of(Collective::Scan) => EdgeKind::Scan,
            Self::Neighbors => EdgeKind::Message,
            Self::Fence => EdgeKind::Fence,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_of_one_shape() {
        for (number, shape) in (0..).zip(Shape::ALL) {
            assert_eq!((shape.to_number(), Shape::from_number(number)), (number, Some(shape)));
        }
        assert_eq!(Shape::from_number(7), None);
    }
}
