//! The reader of the section.

use std::sync::Arc;

use crate::bytes::{Cursor, Malformed, column};
use crate::file::keys::un_zigzag;
use crate::model::{
    CallpathId, EventCell, EventClass, EventPolicy, MessageEnd, MessageEvent, RankEvents,
    ThreadEvents, VisitEvent,
};

/// Reads the section of a part of this number of ranks. Passes the events of each rank that is
/// wanted and has any to `visit`, with its position in the part; those of others are not decoded.
pub(in crate::file) fn decode_section(
    cursor: &mut Cursor<'_>,
    ranks: usize,
    is_wanted: &dyn Fn(usize) -> bool,
    visit: &mut dyn FnMut(usize, Arc<RankEvents>),
) -> Result<(), Malformed> {
    for rank in 0..ranks {
        let length = cursor.count(cursor.remaining(), "the length of a rank's events")?;
        let start = cursor.clone();
        let bytes = cursor.take(length, "the events of a rank")?;
        if length > 0 && is_wanted(rank) {
            let mut own = start.sub(bytes);
            let events = decode(&mut own)?;
            own.finish("the events of a rank")?;
            visit(rank, Arc::new(events));
        }
    }
    Ok(())
}

/// Reads the events of a rank.
fn decode(cursor: &mut Cursor<'_>) -> Result<RankEvents, Malformed> {
    let origin_ns = cursor.varint("the origin of events")?;
    let threads_without_memory = cursor.varint("the threads without memory for events")?;
    let count = cursor.count(cursor.remaining(), "the number of threads with events")?;
    cursor.claim_kept(count, size_of::<ThreadEvents>(), "the threads with events")?;
    let mut threads: Vec<ThreadEvents> =
        (0..count).map(|_| decode_thread(cursor)).collect::<Result<_, _>>()?;
    if cursor.remaining() > 0 {
        for thread in &mut threads {
            thread.messages = decode_messages(cursor)?;
        }
    }
    Ok(RankEvents { origin_ns, threads_without_memory, threads })
}

fn decode_thread(cursor: &mut Cursor<'_>) -> Result<ThreadEvents, Malformed> {
    let thread = cursor.varint_u32("the number of a thread")?;
    let start = cursor.clone();
    let policy = EventPolicy::from_number(cursor.varint("the policy of events")?)
        .ok_or_else(|| start.malformed("events were kept under an unknown policy"))?;
    let memory_bytes = cursor.varint("the memory of events")?;
    let stopped_ns = cursor.varint("the end of a window")?.checked_sub(1);
    let cut = cursor.varint("the visits that had not ended")?;
    let cells = decode_cells(cursor)?;
    let visits = decode_visits(cursor)?;
    let messages = Vec::new();
    Ok(ThreadEvents { thread, policy, memory_bytes, stopped_ns, cut, cells, visits, messages })
}

fn decode_cells(cursor: &mut Cursor<'_>) -> Result<Vec<EventCell>, Malformed> {
    let start = cursor.clone();
    let count = cursor.count(column::MAX_VALUES, "the number of cells of events")?;
    cursor.claim_kept(count, size_of::<EventCell>(), "the cells of events")?;
    cursor.passing(|cursor| {
        let classes = column::read_u64(cursor, count, "the classes of events")?;
        let depths = column::read_u64(cursor, count, "the depths of events")?;
        let kept = column::read_u64(cursor, count, "the visits kept")?;
        let lost = column::read_u64(cursor, count, "the visits lost")?;
        let first = column::read_u64(cursor, count, "the first losses of events")?;
        let last = column::read_u64(cursor, count, "the last losses of events")?;
        let cell = |at: usize| {
            Some(EventCell {
                class: EventClass::from_number(classes[at])?,
                depth: u32::try_from(depths[at]).ok()?,
                kept: kept[at],
                lost: lost[at],
                lost_first_ns: first[at],
                lost_last_ns: last[at],
            })
        };
        let cells: Option<Vec<_>> = (0..count).map(cell).collect();
        cells.ok_or_else(|| start.malformed("events are of an unknown class, or too deep"))
    })
}

fn decode_callpaths(cursor: &mut Cursor<'_>) -> Result<Vec<CallpathId>, Malformed> {
    let count = cursor.count(cursor.remaining() / 8, "the number of callpaths of events")?;
    cursor.claim_temporary(count, size_of::<CallpathId>(), "the callpaths of events")?;
    let mut callpaths = Vec::with_capacity(count);
    for _ in 0..count {
        callpaths.push(CallpathId::from_bits(cursor.u64("a callpath of events")?));
    }
    Ok(callpaths)
}

fn decode_visits(cursor: &mut Cursor<'_>) -> Result<Vec<VisitEvent>, Malformed> {
    let start = cursor.clone();
    let callpaths = decode_callpaths(cursor)?;
    let count = cursor.count(column::MAX_VALUES, "the number of visits")?;
    cursor.claim_kept(count, size_of::<VisitEvent>(), "the visits")?;
    cursor.passing(|cursor| {
        let positions = column::read_u64(cursor, count, "the callpaths of visits")?;
        let depths = column::read_u64(cursor, count, "the depths of visits")?;
        let begins = column::read_u64(cursor, count, "the begins of visits")?;
        let durations = column::read_u64(cursor, count, "the durations of visits")?;
        let mut begin_ns = 0_u64;
        let visit = |at: usize| {
            begin_ns = begin_ns.checked_add(begins[at])?;
            begin_ns.checked_add(durations[at])?;
            Some(VisitEvent {
                callpath: *callpaths.get(usize::try_from(positions[at]).ok()?)?,
                depth: u32::try_from(depths[at]).ok()?,
                begin_ns,
                duration_ns: durations[at],
            })
        };
        let visits: Option<Vec<_>> = (0..count).map(visit).collect();
        visits.ok_or_else(|| start.malformed("a visit is of no callpath, or ends after all time"))
    })
}

fn decode_messages(cursor: &mut Cursor<'_>) -> Result<Vec<MessageEvent>, Malformed> {
    let start = cursor.clone();
    let callpaths = decode_callpaths(cursor)?;
    let count = cursor.count(column::MAX_VALUES, "the number of messages of events")?;
    cursor.claim_kept(count, size_of::<MessageEvent>(), "the messages of events")?;
    cursor.passing(|cursor| {
        let positions = column::read_u64(cursor, count, "the callpaths of messages")?;
        let times = column::read_u64(cursor, count, "the times of messages")?;
        let received = column::read_u64(cursor, count, "the ends of messages")?;
        let partners = column::read_u64(cursor, count, "the partners of messages")?;
        let communicators = column::read_u64(cursor, count, "the communicators of messages")?;
        let tags = column::read_u64(cursor, count, "the tags of messages")?;
        let numbers = column::read_u64(cursor, count, "the numbers of messages")?;
        let bytes = column::read_u64(cursor, count, "the sizes of messages")?;
        let (mut at_ns, mut number) = (0_u64, 0_u64);
        let message = |at: usize| {
            at_ns = at_ns.checked_add(times[at])?;
            number = number.wrapping_add_signed(un_zigzag(numbers[at]));
            let end = MessageEnd {
                is_receive: match received[at] {
                    0 => false,
                    1 => true,
                    _ => return None,
                },
                partner: i32::try_from(un_zigzag(partners[at])).ok()?,
                communicator: u32::try_from(communicators[at]).ok()?,
                tag: i32::try_from(un_zigzag(tags[at])).ok()?,
                number,
                bytes: bytes[at],
            };
            let callpath = *callpaths.get(usize::try_from(positions[at]).ok()?)?;
            Some(MessageEvent { callpath, at_ns, end })
        };
        let messages: Option<Vec<_>> = (0..count).map(message).collect();
        messages.ok_or_else(|| start.malformed("a message is of no callpath, end, rank or time"))
    })
}
