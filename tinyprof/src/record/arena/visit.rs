//! What a thread holds of a region that is open.

use tinyprof_segment::words::{Line, low};

/// The result of [`Arena::enter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// The region is open; this node must be left.
    Node(Line),
    /// The region calls itself: only the visit is counted, because the time is in the outer visit.
    Recursion(Line),
    /// The visit is not recorded: a filter excludes the region, or there is no memory and the visit
    /// was counted as lost.
    Lost,
}

/// An [`Entered`] in one register. Functions that return an enum cannot be tail-called, and save
/// registers for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visit(u64);

impl Visit {
    /// The visit that does not have to be left.
    pub(crate) const LOST: Self = Self(0);
    const RECURSION: u64 = 1 << 63;

    /// Returns the node that must be left, if there is one.
    #[inline(always)]
    pub(crate) fn to_leave(self) -> Option<Line> {
        (self.0.cast_signed() > 0).then_some(Line::from_number(low(self.0)))
    }

    /// Returns the node that values belong to, if there is one.
    #[inline]
    pub(crate) fn node(self) -> Option<Line> {
        (self.0 != 0).then_some(Line::from_number(low(self.0)))
    }

    /// Returns the visit as an enum.
    #[cfg(any(test, feature = "tracing"))]
    pub(crate) fn entered(self) -> Entered {
        match (self.to_leave(), self.node()) {
            (Some(line), _) => Entered::Node(line),
            (None, Some(line)) => Entered::Recursion(line),
            (None, None) => Entered::Lost,
        }
    }

    #[inline(always)]
    pub(super) const fn of_node(line: Line) -> Self {
        Self(line.number() as u64)
    }
}

impl From<Entered> for Visit {
    #[inline]
    fn from(entered: Entered) -> Self {
        match entered {
            Entered::Node(line) => Self::of_node(line),
            Entered::Recursion(line) => Self(Self::RECURSION | u64::from(line.number())),
            Entered::Lost => Self::LOST,
        }
    }
}
