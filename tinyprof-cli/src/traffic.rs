//! Sums over the messages of callpaths, for the page and for exports.

#[cfg(test)]
pub(crate) mod example;

use std::ops::AddAssign;

use tinyprof_format::model::{CallpathValues, MessageKey, MessageKind, Profile, Region, Traffic};

/// The module of the regions that are MPI functions.
const MODULE: &str = "mpi";

/// The transfers in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BothWays {
    /// What leaves the rank.
    pub(crate) out: Traffic,
    /// What reaches the rank.
    pub(crate) into: Traffic,
}

impl BothWays {
    /// Returns the sum of one rank at a callpath, over all kinds.
    pub(crate) fn of_values(values: &CallpathValues) -> Self {
        Self::of_kinds(values, &MessageKind::ALL)
    }

    /// Returns the sum of one rank at a callpath, over these kinds.
    pub(crate) fn of_kinds(values: &CallpathValues, kinds: &[MessageKind]) -> Self {
        let mut sum = Self::default();
        for (key, &traffic) in values.messages.iter().filter(|(key, _)| kinds.contains(&key.kind)) {
            let side = if key.kind.is_out() { &mut sum.out } else { &mut sum.into };
            side.absorb(traffic);
        }
        sum
    }
}

impl AddAssign for BothWays {
    fn add_assign(&mut self, other: Self) {
        self.out.absorb(other.out);
        self.into.absorb(other.into);
    }
}

/// Returns whether any callpath of the profile has messages.
pub(crate) fn has_messages(profile: &Profile) -> bool {
    profile.values.iter().flatten().any(|values| !values.messages.is_empty())
}

/// Returns the name of the MPI function that a region is, and where it is called from if its name
/// has that.
pub(crate) fn mpi_function(region: &Region) -> Option<(&str, Option<&str>)> {
    let name = region.name.as_str();
    let parts = name.split_once(" at ");
    (region.module == MODULE)
        .then(|| parts.map_or((name, None), |(function, place)| (function, Some(place))))
}

/// Returns the partner of a transfer: of a message the other rank in the world, of a collective
/// operation the number of ranks. `None` for other transfers, and where it is not known.
pub(crate) fn partner(key: MessageKey, rank: usize) -> Option<i64> {
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
    fn a_function_is_the_text_before_its_place() {
        let of = |module: &str, name: &str| Region {
            module: module.into(),
            ..Region::named(SiteId::from_bits(1), name)
        };
        let check = |name, expected| assert_eq!(mpi_function(&of("mpi", name)), Some(expected));
        check("MPI_Send", ("MPI_Send", None));
        check("MPI_Send at solve (lu.f:123)", ("MPI_Send", Some("solve (lu.f:123)")));
        assert_eq!(mpi_function(&of("solver", "MPI_Send")), None);
    }
}
