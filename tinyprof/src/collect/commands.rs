//! The commands that this process has obeyed while it ran.

use tinyprof_format::model::RankCommands;

use super::session::session;
use crate::record::Arena;

/// Returns the commands of these threads so far.
pub(super) fn commands(arenas: &[&Arena]) -> RankCommands {
    let mut all = RankCommands::default();
    let started_ns = session().started.monotonic_ns;
    for reading in arenas.iter().filter_map(|arena| arena.obeyed_reading()) {
        all.add_thread(started_ns, &reading.obeyed, reading.pending.as_ref());
        all.without_room = all.without_room.saturating_add(reading.without_room);
    }
    all.off_ns = arenas.iter().map(|arena| arena.off_ns()).max().unwrap_or(0);
    all
}
