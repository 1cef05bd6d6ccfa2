//! Taking the snapshot of this rank.

use tinyprof::__mpi as recorder;
use tinyprof::collect;
use tinyprof_flush::phases::{Measured, Workplace};

/// Takes a snapshot of this rank and encodes it. If that fails, the rank has nothing to bring.
pub(crate) fn measure(workplace: &Workplace) -> Measured {
    let precision = recorder::precision();
    workplace
        .run(move || Measured::of(collect::snapshot(), precision))
        .unwrap_or_else(Measured::missing)
}
