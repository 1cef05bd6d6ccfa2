//! Transfers of a callpath by kind, and the regions that are MPI functions.

use tinyprof_format::model::{
    CallpathIndex, CallpathTable, CallpathValues, MessageKey, MessageKind, Profile, Region, Traffic,
};

use crate::facts::numbers::ratio;

/// The module of the regions of MPI's functions.
const MODULE: &str = "mpi";
/// The beginning of the names of MPI's functions.
const PREFIX: &str = "MPI_";
/// The beginning of a function's name behind those of its callers.
const BEHIND_PATH: &str = "<MPI_";
/// The text between a function's name and its call site, in the name of a region.
const AT: &str = " at ";

/// The number of kinds of transfers.
const KINDS: usize = MessageKind::ALL.len();

/// Transfers by kind: messages, collective and one-sided operations, and file accesses.
///
/// ```
/// use std::collections::BTreeMap;
/// use tinyprof_format::model::{MessageKey, MessageKind, Traffic};
/// use tinyprof_report::Transfers;
///
/// let sent = MessageKey::new(MessageKind::MessageOut, 1, 1_000);
/// let read = MessageKey::new(MessageKind::FileIn, 0, 50);
/// let messages = BTreeMap::from([
///     (sent, Traffic { count: 2, bytes: 2_000 }),
///     (read, Traffic { count: 1, bytes: 50 }),
/// ]);
/// let transfers = Transfers::of_messages(&messages);
/// assert_eq!((transfers.out().bytes, transfers.into_rank().bytes), (2_000, 50));
/// assert_eq!(transfers.of_kind(MessageKind::FileIn).count, 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfers {
    by_kind: [Traffic; KINDS],
}

impl Transfers {
    /// Returns the sum of these messages of a callpath.
    #[must_use]
    pub fn of_messages<'a>(
        messages: impl IntoIterator<Item = (&'a MessageKey, &'a Traffic)>,
    ) -> Self {
        let mut transfers = Self::default();
        for (key, traffic) in messages {
            transfers.by_kind[key.kind as usize].absorb(*traffic);
        }
        transfers
    }

    /// Returns the sum over ranks, of the values that each rank has of a callpath.
    #[must_use]
    pub fn of_ranks(ranks: &[CallpathValues]) -> Self {
        Self::of_messages(ranks.iter().flat_map(|values| &values.messages))
    }

    /// Adds other transfers.
    pub fn absorb(&mut self, other: &Self) {
        for (ours, theirs) in self.by_kind.iter_mut().zip(other.by_kind) {
            ours.absorb(theirs);
        }
    }

    /// Returns the transfers of one kind.
    #[must_use]
    pub const fn of_kind(&self, kind: MessageKind) -> Traffic {
        self.by_kind[kind as usize]
    }

    /// Returns the transfers whose bytes leave the rank, including those written to files.
    #[must_use]
    pub fn out(&self) -> Traffic {
        self.sum(|kind| kind.is_out())
    }

    /// Returns the transfers whose bytes come to the rank, including those read from files.
    #[must_use]
    pub fn into_rank(&self) -> Traffic {
        self.sum(|kind| !kind.is_out())
    }

    /// Returns the number of transfers of all kinds, and their bytes.
    #[must_use]
    pub fn total(&self) -> Traffic {
        self.sum(|_| true)
    }

    /// Returns true if there are no transfers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the transfers of these kinds.
    #[must_use]
    pub fn sum(&self, is_counted: impl Fn(MessageKind) -> bool) -> Traffic {
        let mut sum = Traffic::default();
        for kind in MessageKind::ALL.into_iter().filter(|kind| is_counted(*kind)) {
            sum.absorb(self.of_kind(kind));
        }
        sum
    }
}

/// Returns true if any callpath of the profile has messages or other transfers.
///
/// # Cost
/// Linear in the numbers of callpaths and ranks.
#[must_use]
pub fn has_messages(profile: &Profile) -> bool {
    profile.values.iter().flatten().any(|values| !values.messages.is_empty())
}

/// Returns the mean size of a transfer, in bytes; none if there is none.
#[must_use]
pub fn mean_bytes(traffic: Traffic) -> Option<f64> {
    (traffic.count > 0).then(|| ratio(traffic.bytes.into(), traffic.count.into()))
}

/// Returns the partner of a transfer of `rank`: of a message the other rank in the world, of a
/// collective operation the number of ranks. None for other transfers, and where it is not known.
///
/// Messages of the profile are not trusted: the rank may be beyond the last one.
///
/// ```
/// use tinyprof_format::model::{MessageKey, MessageKind};
///
/// let to_the_left = MessageKey::new(MessageKind::MessageOut, -1, 8);
/// assert_eq!(tinyprof_report::partner(to_the_left, 3), Some(2));
/// assert_eq!(tinyprof_report::partner(to_the_left, 0), None);
/// ```
#[must_use]
pub fn partner(key: MessageKey, rank: usize) -> Option<i64> {
    if key.partner == MessageKey::ANY_PARTNER {
        return None;
    }
    let partner = i64::from(key.partner);
    match key.kind {
        MessageKind::MessageOut | MessageKind::MessageIn => {
            i64::try_from(rank).ok()?.checked_add(partner).filter(|&rank| rank >= 0)
        }
        MessageKind::CollectiveOut | MessageKind::CollectiveIn => Some(partner),
        _ => None,
    }
}

/// Returns the rank at an offset from `rank`, if there is one among this many ranks.
#[must_use]
pub fn world_rank(offset: i32, rank: u32, ranks: usize) -> Option<u32> {
    if offset == MessageKey::ANY_PARTNER {
        return None;
    }
    rank.checked_add_signed(offset).filter(|&rank| (rank as usize) < ranks)
}

/// A region that is a call of an MPI function: one of the module `mpi` that is named `MPI_...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MpiCall<'a> {
    /// The function: `MPI_Send`.
    pub function: &'a str,
    /// The call site, if the region's name has it: `solve (lu.f:123)`.
    pub call_site: Option<&'a str>,
}

impl<'a> MpiCall<'a> {
    /// Returns the call that a region is. None if it is another region.
    #[must_use]
    pub fn of_region(region: &'a Region) -> Option<Self> {
        if region.module != MODULE {
            return None;
        }
        // The root of a selected part of the tree has its whole path as its name.
        // Call sites of other tools may contain `<`, so the last one need not be the path's.
        let start = region.name.rfind(BEHIND_PATH).map_or(0, |path_end| path_end + 1);
        let name = &region.name[start..];
        let (function, call_site) = match name.split_once(AT) {
            Some((function, call_site)) => (function, Some(call_site)),
            None => (name, None),
        };
        function.starts_with(PREFIX).then_some(Self { function, call_site })
    }
}

/// Returns the callpaths that end in an MPI function, and the function.
pub fn mpi_callpaths(callpaths: &CallpathTable) -> impl Iterator<Item = (CallpathIndex, &str)> {
    callpaths.iter().filter_map(|(index, callpath)| {
        Some((index, MpiCall::of_region(&callpath.region)?.function))
    })
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::SiteId;

    use super::*;

    #[test]
    fn partners_are_ranks_or_numbers_of_ranks() {
        let of = |kind, partner| super::partner(MessageKey::new(kind, partner, 8), 3);
        assert_eq!(of(MessageKind::MessageOut, -3), Some(0));
        assert_eq!(of(MessageKind::MessageIn, 1), Some(4));
        assert_eq!(of(MessageKind::MessageIn, -4), None, "there is no such rank");
        assert_eq!(of(MessageKind::MessageIn, MessageKey::ANY_PARTNER), None);
        assert_eq!(of(MessageKind::CollectiveOut, 16), Some(16));
        assert_eq!(of(MessageKind::FileOut, 0), None);
    }

    #[test]
    fn a_function_is_the_text_before_its_call_site_and_behind_a_path() {
        let check = |module: &str, name: &str, expected: Option<(&str, Option<&str>)>| {
            let region =
                Region { module: module.into(), ..Region::named(SiteId::from_bits(1), name) };
            let found = MpiCall::of_region(&region);
            assert_eq!(found.map(|call| (call.function, call.call_site)), expected, "{name}");
        };
        let solve = Some("solve (lu.f:123)");
        check("mpi", "MPI_Send", Some(("MPI_Send", None)));
        check("mpi", "MPI_Send at solve (lu.f:123)", Some(("MPI_Send", solve)));
        check("mpi", "main<MPI_Send at solve (lu.f:123)", Some(("MPI_Send", solve)));
        check("mpi", "look at me<MPI_Send", Some(("MPI_Send", None)));
        let of_template = Some("f<int> (a.cpp:3)");
        check("mpi", "main<MPI_Send at f<int> (a.cpp:3)", Some(("MPI_Send", of_template)));
        check("mpi", "exchange", None);
        check("solver", "MPI_Send", None);
    }
}
