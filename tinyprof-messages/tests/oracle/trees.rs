//! Which members of a rooted collective matter: the root, or also those that pass data on.

use crate::program::Kind;
use crate::replay::{Called, Heard, Of};

/// What a rank has seen of the ways of collectives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trees {
    /// For each kind of collective: data were seen not to go along a tree.
    is_direct: [bool; 9],
}

impl Trees {
    /// Returns the members that may matter; for other calls, all partners.
    ///
    /// A rank that left before an assumed forwarder had entered, or its data can have come, has
    /// shown that there is no such tree. `entered_ns` is the time of a note.
    pub(crate) fn relevant<Note: Copy>(
        &mut self,
        called: &Called<'_, Note>,
        latency_ns: i64,
        entered_ns: impl Fn(&Note) -> i64,
    ) -> Vec<Heard<Note>> {
        let Some(Heard { of: Of::Member(kind), .. }) = called.heard.first() else {
            return called.heard.to_vec();
        };
        let left = called.call.left_ns.cast_signed();
        let earliest = latency_ns * 8 / 10;
        let is_late = |heard: &Heard<Note>| entered_ns(&heard.note) + earliest > left;
        let is_direct = &mut self.is_direct[*kind as usize];
        *is_direct |= called.is_absent || called.heard.iter().any(|h| !h.needed && is_late(h));
        let is_direct = *is_direct;
        let is_rooted = matches!(kind, Kind::Bcast | Kind::Scatter | Kind::Reduce | Kind::Gather);
        let heard = called.heard.iter().filter(|heard| heard.needed || !is_direct);
        let hops = |hops: u32| if is_direct && is_rooted { 1 } else { hops };
        heard.map(|heard| Heard { hops: hops(heard.hops), ..*heard }).collect()
    }
}
