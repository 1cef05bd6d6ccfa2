//! The mixes: which calls a random program makes, in which shapes.

use crate::generate::{self, Builder};
use crate::program::{Kind, Program};
use crate::shapes;

/// A mix of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mix {
    Eager,
    Rendezvous,
    Irecv,
    Isend,
    Waitall,
    Waitany,
    Probe,
    Test,
    Overlap,
    Sendrecv,
    Collective(Kind),
    Collectives,
    NonBlocking,
    Wildcards,
    All,
}

impl Mix {
    pub(crate) const SINGLE: [Self; 13] = [
        Self::Eager,
        Self::Rendezvous,
        Self::Irecv,
        Self::Isend,
        Self::Waitall,
        Self::Waitany,
        Self::Probe,
        Self::Sendrecv,
        Self::Collectives,
        Self::NonBlocking,
        Self::Wildcards,
        Self::Overlap,
        Self::Test,
    ];

    /// Those whose messages may go along trees.
    pub(crate) const ROOTED: [Self; 7] = [
        Self::Collective(Kind::Bcast),
        Self::Collective(Kind::Scatter),
        Self::Collective(Kind::Reduce),
        Self::Collective(Kind::Gather),
        Self::Collectives,
        Self::NonBlocking,
        Self::All,
    ];

    /// Those whose large messages meet receives that were posted before.
    pub(crate) const POSTED: [Self; 6] =
        [Self::Irecv, Self::Waitall, Self::Waitany, Self::Overlap, Self::Test, Self::All];

    /// Returns whether the rules of this crate are near the truth on any network: not where a rank
    /// has to find out whom it waits for, nor where its work goes on while it looks.
    pub(crate) fn is_followed(self) -> bool {
        matches!(
            self,
            Self::Eager
                | Self::Rendezvous
                | Self::Irecv
                | Self::Isend
                | Self::Waitall
                | Self::Waitany
                | Self::Probe
                | Self::Sendrecv
                | Self::Wildcards
        )
    }

    /// Returns whether it has collectives alone, whose ways the rules have to find out.
    pub(crate) fn is_collective(self) -> bool {
        matches!(self, Self::Collective(_) | Self::Collectives | Self::NonBlocking)
    }

    /// Returns all mixes, one for each collective among them.
    pub(crate) fn all() -> Vec<Self> {
        let mut mixes = Self::SINGLE.to_vec();
        mixes.extend(Kind::ALL.map(Self::Collective));
        mixes.push(Self::All);
        mixes
    }

    /// Returns the name, for tables.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Collective(kind) => format!("{kind:?}").to_lowercase(),
            Self::NonBlocking => "non-blocking coll.".to_owned(),
            _ => format!("{self:?}").to_lowercase(),
        }
    }

    /// Makes the program of this number.
    pub(crate) fn program(self, seed: u64) -> Program {
        generate::program(seed, |builder| self.step(builder))
    }

    /// Adds a step to a program.
    fn step(self, builder: &mut Builder) {
        match self {
            Self::Eager => match builder.random.below(3) {
                0 => shapes::late_receives(builder),
                1 => shapes::pipeline(builder, false),
                _ => shapes::workers(builder, false),
            },
            Self::Rendezvous => match builder.random.below(3) {
                0 => shapes::pair(builder, true),
                1 => shapes::pipeline(builder, true),
                _ => shapes::workers(builder, true),
            },
            Self::Irecv => shapes::irecv(builder),
            Self::Isend => shapes::isend(builder),
            Self::Waitall => shapes::halo(builder),
            Self::Waitany => shapes::wait_any(builder),
            Self::Probe => shapes::probe(builder),
            Self::Test => shapes::poll(builder),
            Self::Overlap => shapes::overlap(builder),
            Self::Sendrecv => shapes::shift(builder),
            Self::Collective(kind) => shapes::collective(builder, kind),
            Self::Collectives => {
                let kind = builder.kind();
                shapes::collective(builder, kind);
            }
            Self::NonBlocking => shapes::started(builder),
            Self::Wildcards => shapes::wildcards(builder),
            Self::All => {
                let mixes = &Self::SINGLE[..11];
                mixes[builder.random.below(mixes.len())].step(builder);
            }
        }
    }
}
