//! Taking the snapshot of this rank.

use std::sync::Arc;

use tinyprof::__mpi as recorder;
use tinyprof::collect;
use tinyprof_flush::phases::{Measured, Workplace};
use tinyprof_format::model::EventMap;

/// Takes a snapshot of this rank and encodes it. If that fails, the rank has nothing to bring.
pub(crate) fn measure(workplace: &Workplace) -> Measured {
    let precision = recorder::precision();
    workplace
        .run(move || Measured::of(named(collect::snapshot()), precision))
        .unwrap_or_else(Measured::missing)
}

/// Takes a snapshot of this rank, and encodes what it has that an earlier one has not. Returns the
/// snapshot as well; the earlier one if that fails.
pub(crate) fn measure_since(
    workplace: &Workplace,
    earlier: &Arc<EventMap>,
) -> (Measured, Arc<EventMap>) {
    let precision = recorder::precision();
    let before = Arc::clone(earlier);
    let measured = workplace.run(move || {
        let all = collect::snapshot();
        (Measured::of(named(all.since(&before)), precision), Arc::new(all))
    });
    measured.unwrap_or_else(|failure| (Measured::missing(failure), Arc::clone(earlier)))
}

/// Names what only this process can name. Samples are compared before, by their addresses.
fn named(mut map: EventMap) -> EventMap {
    tinyprof_symbols::name_made_code(&mut map, recorder::launch_date_s());
    map
}
