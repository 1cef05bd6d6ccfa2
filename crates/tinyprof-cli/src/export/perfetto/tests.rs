//! The packets of known events, read back by a decoder of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use tinyprof_format::model::{
    EventCell, EventClass, EventMap, EventPolicy, MessageEvent, RankFacts, Region, SiteId,
    VisitEvent,
};

use super::*;

/// The fields of a message: their numbers, with a number or bytes.
#[derive(Clone, Debug)]
enum Value {
    Number(u64),
    Bytes(Vec<u8>),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first().expect("a number ends");
        *bytes = rest;
        number |= u64::from(byte & 127) << shift;
        shift += 7;
        if *byte < 128 {
            return number;
        }
    }
}

fn fields(mut bytes: &[u8]) -> BTreeMap<u64, Value> {
    let mut found = BTreeMap::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = match key & 7 {
            0 => Value::Number(varint(&mut bytes)),
            1 => {
                let (own, rest) = bytes.split_at(8);
                bytes = rest;
                Value::Number(u64::from_le_bytes(own.try_into().unwrap()))
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                let (own, rest) = bytes.split_at(length);
                bytes = rest;
                Value::Bytes(own.to_vec())
            }
            kind => panic!("field of kind {kind}"),
        };
        let is_first = found.insert(key >> 3, value).is_none();
        // Of annotations the last is read.
        assert!(is_first || key >> 3 == field::ANNOTATIONS, "field {} is there once", key >> 3);
    }
    found
}

fn number(fields: &BTreeMap<u64, Value>, field: u64) -> u64 {
    match fields.get(&field) {
        Some(Value::Number(number)) => *number,
        None => 0,
        Some(Value::Bytes(_)) => panic!("field {field} is no number"),
    }
}

fn message(fields: &BTreeMap<u64, Value>, field: u64) -> Option<BTreeMap<u64, Value>> {
    match fields.get(&field)? {
        Value::Bytes(bytes) => Some(self::fields(bytes)),
        Value::Number(_) => panic!("field {field} is a number"),
    }
}

fn text(fields: &BTreeMap<u64, Value>, field: u64) -> String {
    match fields.get(&field) {
        Some(Value::Bytes(bytes)) => String::from_utf8(bytes.clone()).unwrap(),
        _ => String::new(),
    }
}

/// Returns a line for each packet of a trace.
fn lines(mut bytes: &[u8]) -> Vec<String> {
    let mut names: BTreeMap<(u64, u64), String> = BTreeMap::new();
    let mut lines = Vec::new();
    while !bytes.is_empty() {
        assert_eq!(varint(&mut bytes), field::PACKET << 3 | 2);
        let length = usize::try_from(varint(&mut bytes)).unwrap();
        let (own, rest) = bytes.split_at(length);
        bytes = rest;
        let packet = fields(own);
        let (at, sequence) =
            (number(&packet, field::TIMESTAMP), number(&packet, field::SEQUENCE_ID));
        if let Some(data) = message(&packet, field::INTERNED_DATA) {
            let entry = message(&data, field::EVENT_NAMES).unwrap();
            names.insert((sequence, number(&entry, field::IID)), text(&entry, field::TEXT));
        }
        if let Some(track) = message(&packet, field::TRACK_DESCRIPTOR) {
            let process = message(&track, field::PROCESS).unwrap_or_default();
            lines.push(format!(
                "track {:x} in {:x} {}{}",
                number(&track, field::UUID),
                number(&track, field::PARENT_UUID),
                text(&track, field::TRACK_NAME),
                text(&process, field::PROCESS_NAME)
            ));
        } else if let Some(defaults) = message(&packet, field::DEFAULTS) {
            assert_eq!(number(&packet, field::SEQUENCE_FLAGS), STATE_CLEARED);
            let event = message(&defaults, field::TRACK_EVENT).unwrap();
            lines.push(format!("{sequence}: on {:x}", number(&event, field::TRACK_UUID)));
        } else {
            let event = message(&packet, field::TRACK_EVENT).unwrap();
            lines.push(match number(&event, field::TYPE) {
                SLICE_BEGIN => {
                    let name = &names[&(sequence, number(&event, field::NAME_IID))];
                    format!("{sequence}: {at} {name} (")
                }
                SLICE_END => format!("{sequence}: {at} )"),
                _ if event.contains_key(&field::NAME_IID) => {
                    let name = &names[&(sequence, number(&event, field::NAME_IID))];
                    let last = message(&event, field::ANNOTATIONS).unwrap();
                    let (tag, value) =
                        (text(&last, field::ANNOTATION_NAME), number(&last, field::INT_VALUE));
                    let ids = [field::FLOWS, field::ENDING_FLOWS].map(|of| number(&event, of));
                    format!("{sequence}: {at} {name}, {tag} {value}, flow {ids:?}")
                }
                _ => format!("{sequence}: {at} {}", text(&event, field::NAME)),
            });
        }
    }
    lines
}

/// Returns a profile of two ranks with these events.
pub(in crate::export) fn request(ranks: [Option<RankEvents>; 2]) -> Request<'static> {
    let [main, solve] = callpaths();
    let region = |name: &str| Region::named(SiteId::from_bits(name.len() as u64), name);
    let maps = ranks.map(|events| {
        let records = [
            (main, None, region("main"), Default::default()),
            (solve, Some(main), region("solve"), Default::default()),
        ];
        let events = events.map(Arc::new);
        EventMap::from_records(records, RankFacts { events, ..RankFacts::default() })
    });
    let scratch = tempfile::tempdir().unwrap();
    let writer = tinyprof_format::file::ProfileWriter::new();
    let path = writer.write(&scratch.path().join("run"), &maps).unwrap();
    Request::of_profile("run", tinyprof_format::file::read_profile(&path).unwrap())
}

fn callpaths() -> [CallpathId; 2] {
    let main = CallpathId::root(SiteId::from_bits(4));
    [main, main.child(SiteId::from_bits(5))]
}

pub(in crate::export) fn events(origin_ns: u64, lost: u64) -> RankEvents {
    let [main, solve] = callpaths();
    let visit = |callpath, depth, begin_ns, duration_ns| VisitEvent {
        callpath,
        depth,
        begin_ns,
        duration_ns,
    };
    let (class, lost_last_ns) = (EventClass::Computation, if lost > 0 { 19 } else { 0 });
    let cell = EventCell { class, depth: 2, kept: 2, lost, lost_first_ns: 0, lost_last_ns };
    let thread = ThreadEvents {
        thread: 0,
        policy: EventPolicy::Ring,
        memory_bytes: 1 << 20,
        stopped_ns: None,
        cut: 1,
        cells: vec![cell],
        visits: vec![visit(main, 1, 10, 90), visit(solve, 2, 20, 5), visit(solve, 2, 25, 75)],
        messages: Vec::new(),
    };
    RankEvents { origin_ns, threads_without_memory: 0, threads: vec![thread] }
}

/// Adds a message of rank 0, sent when it began to solve, which rank 1 has got when that ended.
pub(in crate::export) fn add_message(ranks: &mut [RankEvents; 2]) {
    let [_, callpath] = callpaths();
    let sent = MessageEnd {
        is_receive: false,
        partner: 1,
        communicator: 0,
        tag: 7,
        number: 3,
        bytes: 4096,
    };
    let received = MessageEnd { is_receive: true, partner: -1, ..sent };
    for (of, (at_ns, end)) in ranks.iter_mut().zip([(20, sent), (100, received)]) {
        of.threads[0].messages.push(MessageEvent { callpath, at_ns, end });
    }
}

fn exported(request: &Request<'_>) -> (Vec<String>, Notes) {
    let mut bytes = Vec::new();
    let notes = Perfetto.export(request, &mut bytes).unwrap();
    (lines(&bytes), notes)
}

#[test]
fn each_thread_has_a_track_with_nested_slices() {
    let (lines, notes) = exported(&request([Some(events(5_000, 0)), Some(events(7_000, 4))]));
    let expected = [
        "track 100000000 in 0 rank 0",
        "track 100000001 in 100000000 thread 0",
        "1: on 100000001",
        "1: 10 main (",
        "1: 20 solve (",
        "1: 25 )",
        "1: 25 solve (",
        "1: 100 )",
        "1: 100 )",
        "track 200000000 in 0 rank 1",
        "track 200000001 in 200000000 thread 0",
        "2: on 200000001",
        "2: 2010 main (",
        "2: 2020 complete from here on",
        "2: 2020 solve (",
        "2: 2025 )",
        "2: 2025 solve (",
        "2: 2100 )",
        "2: 2100 )",
    ];
    assert_eq!(lines, expected);
    assert!(notes.len() == 1 && notes[0].starts_with("4 of 10 visits were not kept"), "{notes:?}");
}

#[test]
fn a_flow_leads_from_one_end_of_a_message_to_the_other() {
    let mut ranks = [events(5_000, 0), events(5_000, 0)];
    add_message(&mut ranks);
    let pair = Pair::of(0, &ranks[0].threads[0].messages[0].end).unwrap().id();
    let (lines, _) = exported(&request(ranks.map(Some)));
    let about = |name: &str| {
        let at = lines.iter().position(|line| line.contains(name)).unwrap();
        [lines[at - 1].as_str(), &lines[at], &lines[at + 1]]
    };
    let sent = format!("1: 20 sent, tag 7, flow [{pair}, 0]");
    assert_eq!(about("sent"), ["1: 20 solve (", &sent, "1: 25 )"]);
    let received = format!("2: 100 received, tag 7, flow [0, {pair}]");
    assert_eq!(about("received"), ["2: 25 solve (", &received, "2: 100 )"]);
}

#[test]
fn without_events_there_is_no_trace() {
    let error = Perfetto.export(&request([None, None]), &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("no events in this profile"), "{error}");
    let (lines, notes) = exported(&request([None, Some(events(1, 0))]));
    assert_eq!((lines[0].as_str(), notes.len()), ("track 200000000 in 0 rank 1", 0));
}
