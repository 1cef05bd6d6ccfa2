//! The events of a part's ranks: visits and messages that were kept one by one.

use crate::cursor::{Cursor, Damage};
use crate::keys::{integers, un_zigzag};

/// The largest number of cells, of visits and of messages.
const LARGEST: usize = 1 << 27;
/// The largest numbers of a policy and of a class.
const POLICY_MAX: u64 = 2;
const CLASS_MAX: u64 = 4;

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
    pub(crate) messages: MessageEvents,
}

/// The messages of all ranks: rank, origin and thread of each, and the id of its callpath.
#[derive(Debug, Default)]
pub(crate) struct MessageEvents {
    pub(crate) ranks: Vec<u32>,
    pub(crate) origins_ns: Vec<u64>,
    pub(crate) threads: Vec<u64>,
    pub(crate) callpaths: Vec<u64>,
    pub(crate) times_ns: Vec<u64>,
    /// 1 where it was received, 0 where it was sent.
    pub(crate) received: Vec<u64>,
    /// The rank at the other end, relative to the own one.
    pub(crate) partners: Vec<i64>,
    pub(crate) communicators: Vec<u64>,
    pub(crate) tags: Vec<i64>,
    pub(crate) numbers: Vec<u64>,
    pub(crate) bytes: Vec<u64>,
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
        let numbers = (0..threads).map(|_| read_thread(cursor, (rank, origin_ns), to));
        let numbers: Vec<u64> = numbers.collect::<Result<_, _>>()?;
        if cursor.remaining() > left {
            for thread in numbers {
                let to = &mut to.messages;
                let messages = read_messages(cursor, to)?;
                to.ranks.extend(std::iter::repeat_n(rank, messages));
                to.origins_ns.extend(std::iter::repeat_n(origin_ns, messages));
                to.threads.extend(std::iter::repeat_n(thread, messages));
            }
        }
        if cursor.remaining() != left {
            return Err(cursor.damage("the events of a rank have another length"));
        }
    }
    cursor.finish("a section")
}

/// Reads a thread, and returns its number.
fn read_thread(
    cursor: &mut Cursor<'_>,
    (rank, origin_ns): (u32, u64),
    to: &mut Events,
) -> Result<u64, Damage> {
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
    Ok(thread)
}

fn read_ids(cursor: &mut Cursor<'_>) -> Result<Vec<u64>, Damage> {
    let start = cursor.clone();
    let count = cursor.count(cursor.remaining() / 8, "the number of callpaths of events")?;
    start.charge(count.saturating_mul(8), "the callpaths of events")?;
    (0..count).map(|_| cursor.u64("a callpath of events")).collect()
}

fn read_visits(cursor: &mut Cursor<'_>, to: &mut Events) -> Result<usize, Damage> {
    let start = cursor.clone();
    let ids = read_ids(cursor)?;
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
    add_ids(&start, &ids, positions, &mut to.callpaths)?;
    to.begins_ns.append(&mut begins_ns);
    to.durations_ns.append(&mut durations_ns);
    Ok(visits)
}

fn add_ids(
    start: &Cursor<'_>,
    ids: &[u64],
    positions: Vec<u64>,
    to: &mut Vec<u64>,
) -> Result<(), Damage> {
    for position in positions {
        let id = usize::try_from(position).ok().and_then(|position| ids.get(position));
        to.push(*id.ok_or_else(|| start.damage("an event is of no callpath"))?);
    }
    Ok(())
}

fn read_messages(cursor: &mut Cursor<'_>, to: &mut MessageEvents) -> Result<usize, Damage> {
    let start = cursor.clone();
    let ids = read_ids(cursor)?;
    let count = cursor.count(LARGEST, "the number of messages of events")?;
    start.charge(count.saturating_mul(84), "the messages of events")?;
    let positions = integers(cursor, count, "the callpaths of messages")?;
    add_ids(&start, &ids, positions, &mut to.callpaths)?;
    let mut at_ns = 0_u64;
    for time in integers(cursor, count, "the times of messages")? {
        let sum = at_ns.checked_add(time);
        at_ns = sum.ok_or_else(|| start.damage("a message is after all time"))?;
        to.times_ns.push(at_ns);
    }
    let mut received = integers(cursor, count, "the ends of messages")?;
    let partners = integers(cursor, count, "the partners of messages")?;
    let mut communicators = integers(cursor, count, "the communicators of messages")?;
    let tags = integers(cursor, count, "the tags of messages")?;
    let numbers = integers(cursor, count, "the numbers of messages")?;
    let narrow = u64::from(u32::MAX);
    let is_wide = |numbers: &[u64]| numbers.iter().any(|&number| number > narrow);
    if received.iter().any(|&end| end > 1)
        || is_wide(&partners)
        || is_wide(&communicators)
        || is_wide(&tags)
    {
        return Err(start.damage("a message has no such end, partner, communicator or tag"));
    }
    to.received.append(&mut received);
    to.partners.extend(partners.into_iter().map(un_zigzag));
    to.communicators.append(&mut communicators);
    to.tags.extend(tags.into_iter().map(un_zigzag));
    let mut number = 0_u64;
    for difference in numbers {
        number = number.wrapping_add_signed(un_zigzag(difference));
        to.numbers.push(number);
    }
    to.bytes.append(&mut integers(cursor, count, "the sizes of messages")?);
    Ok(count)
}
