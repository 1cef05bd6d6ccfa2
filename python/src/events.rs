//! The events of a part's ranks: visits that were kept one by one.

use crate::cursor::{Cursor, Damage};
use crate::keys::integers;

/// The largest number of cells, and of visits.
const LARGEST: usize = 1 << 27;
/// The largest numbers of a policy and of a class.
const POLICY_MAX: u64 = 2;
const CLASS_MAX: u64 = 3;

/// The events of all ranks, thread by thread.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// Rank, number and policy of the thread of each cell; then class, depth, kept, lost, first and
    /// last loss.
    pub(crate) cell_ranks: Vec<u32>,
    pub(crate) cell_threads: Vec<u64>,
    pub(crate) cell_policies: Vec<u64>,
    pub(crate) cells: [Vec<u64>; 6],
    /// Rank, origin and thread of each visit, and the id of its callpath.
    pub(crate) ranks: Vec<u32>,
    pub(crate) origins_ns: Vec<u64>,
    pub(crate) threads: Vec<u64>,
    pub(crate) callpaths: Vec<u64>,
    pub(crate) depths: Vec<u64>,
    pub(crate) begins_ns: Vec<u64>,
    pub(crate) durations_ns: Vec<u64>,
}

/// Adds the events of a part of this number of ranks.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    (first_rank, ranks): (u32, usize),
    to: &mut Events,
) -> Result<(), Damage> {
    for rank in (first_rank..).take(ranks) {
        let length = cursor.count(cursor.remaining(), "the length of a rank's events")?;
        let left = cursor.remaining() - length;
        if length == 0 {
            continue;
        }
        let origin_ns = cursor.varint("the origin of events")?;
        cursor.varint("the threads without memory for events")?;
        let threads = cursor.count(cursor.remaining(), "the number of threads with events")?;
        for _ in 0..threads {
            read_thread(cursor, (rank, origin_ns), to)?;
        }
        if cursor.remaining() != left {
            return Err(cursor.damage("the events of a rank have another length"));
        }
    }
    cursor.finish("a section")
}

fn read_thread(
    cursor: &mut Cursor<'_>,
    (rank, origin_ns): (u32, u64),
    to: &mut Events,
) -> Result<(), Damage> {
    let start = cursor.clone();
    let thread = cursor.varint("the number of a thread")?;
    let policy = cursor.varint("the policy of events")?;
    if policy > POLICY_MAX || thread > u32::MAX.into() {
        return Err(start.damage("events are of no thread, or under an unknown policy"));
    }
    for what in ["the memory of events", "the end of a window", "the visits that had not ended"] {
        cursor.varint(what)?;
    }
    let cells = cursor.count(LARGEST, "the number of cells of events")?;
    for (at, column) in to.cells.iter_mut().enumerate() {
        let mut found = integers(cursor, cells, "the cells of events")?;
        let most = if at == 0 { CLASS_MAX } else { u64::MAX };
        if found.iter().any(|&number| number > most) {
            return Err(start.damage("events are of an unknown class"));
        }
        column.append(&mut found);
    }
    start.charge(cells.saturating_mul(20), "the cells of events")?;
    to.cell_ranks.extend(std::iter::repeat_n(rank, cells));
    to.cell_threads.extend(std::iter::repeat_n(thread, cells));
    to.cell_policies.extend(std::iter::repeat_n(policy, cells));
    let visits = read_visits(cursor, to)?;
    start.charge(visits.saturating_mul(28), "the visits")?;
    to.ranks.extend(std::iter::repeat_n(rank, visits));
    to.origins_ns.extend(std::iter::repeat_n(origin_ns, visits));
    to.threads.extend(std::iter::repeat_n(thread, visits));
    Ok(())
}

fn read_visits(cursor: &mut Cursor<'_>, to: &mut Events) -> Result<usize, Damage> {
    let start = cursor.clone();
    let count = cursor.count(cursor.remaining() / 8, "the number of callpaths of events")?;
    start.charge(count.saturating_mul(8), "the callpaths of events")?;
    let ids = (0..count).map(|_| cursor.u64("a callpath of events"));
    let ids: Vec<u64> = ids.collect::<Result<_, _>>()?;
    let visits = cursor.count(LARGEST, "the number of visits")?;
    let positions = integers(cursor, visits, "the callpaths of visits")?;
    to.depths.append(&mut integers(cursor, visits, "the depths of visits")?);
    let mut begins_ns = integers(cursor, visits, "the begins of visits")?;
    let mut durations_ns = integers(cursor, visits, "the durations of visits")?;
    let mut begin_ns = 0_u64;
    for (begin, &duration_ns) in begins_ns.iter_mut().zip(&durations_ns) {
        let sum = begin_ns.checked_add(*begin);
        match sum.filter(|sum| sum.checked_add(duration_ns).is_some()) {
            Some(sum) => (*begin, begin_ns) = (sum, sum),
            None => return Err(start.damage("a visit ends after all time")),
        }
    }
    start.charge(visits.saturating_mul(8), "the callpaths of visits")?;
    for position in positions {
        let id = usize::try_from(position).ok().and_then(|position| ids.get(position));
        to.callpaths.push(*id.ok_or_else(|| start.damage("a visit is of no callpath"))?);
    }
    to.begins_ns.append(&mut begins_ns);
    to.durations_ns.append(&mut durations_ns);
    Ok(visits)
}
