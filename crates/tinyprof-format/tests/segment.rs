//! The segment of a killed program may contain anything: it is read without a panic, in bounded
//! time and memory.
#![expect(clippy::unwrap_used, reason = "the numbers of this test are small")]

use proptest::prelude::*;
use tinyprof_format::model::{
    CallpathId, CallpathValues, ClockFacts, Edge, EdgeKey, EdgeKind, EventMap, Losses, MessageKey,
    MessageKind, ProcessorFacts, SiteId, Traffic,
};
use tinyprof_format::segment::{ProcessDescription, Segment, recovered_map};
use tinyprof_segment::clock::Moment;
use tinyprof_segment::layout::{
    HEADER_LINES, LINE_BYTES, MAGIC, PAST_WORDS, SERIES_WORDS, VERSION, edge, header, message,
    node, site,
};

const NOW: Moment = Moment { ticks: 1 << 40, monotonic_ns: 1 << 40 };
/// The number of nodes of the valid segment, a chain of visits of as many sites.
const NODES: u32 = 5;
/// The number of elements of each of its lists.
const ELEMENTS: u32 = 3;

/// The number of records of messages of its last node.
const MESSAGES: u32 = 3;

/// The number of edge records of its last node, which are the last records of the segment.
const EDGES: u32 = 3;

/// A writer of words into lines, as in the recorder.
struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn put(&mut self, line: u32, word: usize, value: u64) {
        let begin = line as usize * LINE_BYTES + word * 8;
        self.bytes[begin..begin + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// Appends new lines with these bytes, starting at word `word`, and returns the number of the
    /// first line.
    fn block(&mut self, word: usize, content: &[u8]) -> u32 {
        let line = u32::try_from(self.bytes.len() / LINE_BYTES).unwrap();
        self.bytes.extend(vec![0; word * 8]);
        self.bytes.extend(content);
        self.bytes.resize(self.bytes.len().next_multiple_of(LINE_BYTES), 0);
        line
    }
}

const fn halves(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

/// Appends a list of equal elements, and returns the two words by which a node refers to it.
fn list(writer: &mut Writer, element: &[u64]) -> (u64, u64) {
    let elements = vec![element; ELEMENTS as usize].concat();
    let bytes: Vec<u8> = elements.iter().flat_map(|word| word.to_le_bytes()).collect();
    let block = writer.block(0, &bytes);
    (halves(ELEMENTS, block), halves(1, ELEMENTS.next_power_of_two()))
}

fn origin(number: u32) -> CallpathId {
    CallpathId::from_bits(1000 + u64::from(number))
}

/// Returns the facts of the clock of the segment, which all differ.
fn clock() -> ClockFacts {
    ClockFacts::from_numbers(std::array::from_fn(|fact| 1 + fact as u64))
}

/// Returns the processor time of the segment, whose facts all differ; those that it has no words
/// for are unknown.
fn processor() -> ProcessorFacts {
    let fact = |fact| if fact < header::PROCESSOR_WORDS { 100 + fact as u64 } else { 0 };
    ProcessorFacts::from_numbers(std::array::from_fn(fact))
}

/// Returns a segment of a thread that visited a chain of regions, the innermost of which is open.
fn valid() -> Vec<u8> {
    let mut writer = Writer { bytes: vec![0; HEADER_LINES as usize * LINE_BYTES] };
    writer.put(0, header::MAGIC, MAGIC);
    writer.put(0, header::VERSION, VERSION);
    writer.put(0, header::PROCESS, halves(42, 1000));
    let description =
        ProcessDescription { host: "node001".into(), ..ProcessDescription::default() }.to_json();
    let line = writer.block(0, description.as_bytes());
    writer.put(0, header::DESCRIPTION, halves(line, u32::try_from(description.len()).unwrap()));
    let (mut last_site, mut last_node, mut parent) = (0, 0, None);
    for number in 0..NODES {
        let name = format!("region {number}");
        let text = [(site::NAME, name.as_str()), (site::KEY, "tag"), (site::VALUE, "COMP")];
        let fields: Vec<u8> = text
            .iter()
            .flat_map(|(tag, text)| {
                let length = u32::try_from(text.len()).unwrap().to_le_bytes();
                [&[*tag][..], &length, text.as_bytes()].concat()
            })
            .collect();
        let (address, id) = (u64::from(number + 1) * 64, SiteId::from_bits(u64::from(number)));
        let line = writer.block(site::FIELDS, &fields);
        writer.put(line, site::BEFORE, u64::from(last_site));
        writer.put(line, site::ADDRESS, address);
        writer.put(line, site::ID, id.to_bits());
        writer.put(line, site::PLACE, halves(3, 1));
        writer.put(line, site::KIND, halves(u32::try_from(fields.len()).unwrap(), 1 << 8));
        last_site = line;

        let mut past = [0; PAST_WORDS];
        past[..5].copy_from_slice(&[halves(0, 1), 2, 300, 100, 200]);
        let past = list(&mut writer, &past);
        let mut visit = [0; SERIES_WORDS];
        visit[..4].copy_from_slice(&[halves(0, 1), 100, 100, 100]);
        let series = list(&mut writer, &visit);
        let callpath = parent.map_or(CallpathId::root(id), |parent: CallpathId| parent.child(id));
        let line = writer.block(0, &[0; node::WORDS * 8]);
        writer.put(line, node::SITE, address);
        writer.put(line, node::PARENT, halves(last_node, last_node));
        writer.put(line, node::START, if number == NODES - 1 { 900 } else { 0 });
        writer.put(line, node::EXECUTION, halves(ELEMENTS, 0));
        for (word, number) in (node::VISITS..).zip([2, 300, 100, 200]) {
            writer.put(line, word, number);
        }
        for (word, number) in [(node::PAST, past), (node::SERIES, series)] {
            writer.put(line, word, number.0);
            writer.put(line, word + 1, number.1);
        }
        (last_node, parent) = (line, Some(callpath));
    }
    let mut last_message = 0;
    for partner in 0..i32::try_from(MESSAGES).unwrap() {
        let key = MessageKey::new(MessageKind::MessageIn, partner, 10);
        let line = writer.block(0, &[0; message::WORDS * 8]);
        writer.put(line, message::CALLPATH, halves(last_node, last_message));
        writer.put(line, message::KEY, key.to_bits());
        writer.put(line, message::COUNT, 7);
        writer.put(line, message::BYTES, 70);
        last_message = line;
    }
    let mut last_edge = 0;
    for number in 0..EDGES {
        let key = EdgeKey { kind: EdgeKind::Message, partner: -1, from: origin(number) };
        let line = writer.block(0, &[0; edge::WORDS * 8]);
        writer.put(line, edge::CALLPATH, halves(last_node, last_edge));
        writer.put(line, edge::KEY, key.to_bits());
        writer.put(line, edge::FROM, key.from.to_bits());
        for (word, number) in (edge::COUNT..).zip([2, 16, 30, 10, 20]) {
            writer.put(line, word, number);
        }
        writer.put(line, edge::SQUARES, 500.0_f64.to_bits());
        for (word, number) in (edge::COMPENSATED..).zip([25, 40, 5, 3, u64::from(number)]) {
            writer.put(line, word, number);
        }
        last_edge = line;
    }
    writer.put(0, header::LAST_EDGE, u64::from(last_edge));
    writer.put(0, header::EDGES_LOST, 4);
    for (fact, (_, number)) in (0..).zip(clock().named()) {
        writer.put(0, header::CLOCK + fact, number);
    }
    let numbers = processor().named().into_iter().take(header::PROCESSOR_WORDS);
    for (fact, (_, number)) in (0..).zip(numbers) {
        writer.put(0, header::PROCESSOR + fact, number);
    }
    writer.put(0, header::LAST_MESSAGE, u64::from(last_message));
    writer.put(0, header::MESSAGES_LOST, 3);
    writer.put(0, header::LAST_NODE, u64::from(last_node));
    writer.put(0, header::LAST_SITE, u64::from(last_site));
    writer.bytes
}

/// Returns the event map of the bytes, if they are a segment. Checks that the map is not much
/// larger than the bytes, whatever they are.
fn read(bytes: &[u8]) -> Option<EventMap> {
    let segment = Segment::parse(bytes).ok()?;
    let map = recovered_map(&[segment], NOW);
    let texts = map.callpaths.rows().iter().map(|c| {
        let constants = c.region.constants.iter().map(|(key, value)| key.len() + value.len());
        c.region.name.len() + c.region.module.len() + c.region.file.len() + constants.sum::<usize>()
    });
    let lists = map
        .values
        .iter()
        .map(|v| v.executions.len() * PAST_WORDS * 8 + v.series.len() * SERIES_WORDS * 8);
    // Past executions and visits do not overlap, and the live execution and the open visit are in
    // the node.
    let nodes_max = bytes.len() / LINE_BYTES;
    assert!(lists.sum::<usize>() <= bytes.len() + 2 * nodes_max * PAST_WORDS * 8);
    assert!(map.callpaths.len() <= nodes_max);
    assert!(map.values.iter().map(|values| values.messages.len()).sum::<usize>() <= nodes_max);
    assert!(map.values.iter().map(|values| values.edges.len()).sum::<usize>() <= nodes_max);
    assert!(texts.max().unwrap_or(0) <= bytes.len());
    Some(map)
}

#[test]
fn the_segment_that_is_damaged_here_is_whole() {
    let map = read(&valid()).unwrap();
    assert_eq!(map.callpaths.len(), NODES as usize);
    assert_eq!(map.facts.host, "node001");
    let losses = map.losses();
    assert_eq!((losses.records_unreadable, losses.records_torn, losses.visits_open), (0, 0, 1));
    let elements = map.values.iter().map(|values| values.series.len()).sum::<usize>();
    assert_eq!(elements, (NODES * ELEMENTS) as usize);
    let messages = &map.values[NODES as usize - 1].messages;
    assert_eq!(messages.len(), MESSAGES as usize);
    assert!(messages.values().all(|&traffic| traffic == Traffic { count: 7, bytes: 70 }));
    assert_eq!((losses.messages_without_partner, losses.edges_without_partner), (3, 4));
    let edges = (0..EDGES).map(|order| {
        let key = EdgeKey { kind: EdgeKind::Message, partner: -1, from: origin(order) };
        let (bytes, compensated_ns, transfer_ns) = (16, 25, 40);
        let (wrong_order_ns, late_receiver_ns) = (5, 3);
        let mut edge = Edge { bytes, order, ..Edge::of_one_instance(10) };
        edge.absorb(&Edge { order, ..Edge::of_one_instance(20) });
        (key, Edge { compensated_ns, transfer_ns, wrong_order_ns, late_receiver_ns, ..edge })
    });
    assert!(edges.eq(map.values[NODES as usize - 1].edges.clone()));
    assert_eq!(map.facts.clock, clock());
    assert_eq!(map.facts.processor, processor());
}

#[test]
fn clocks_of_threads_are_those_of_a_rank() {
    let bytes = valid();
    let segment = || Segment::parse(&bytes).unwrap();
    let facts = recovered_map(&[segment(), segment()], NOW).facts.clock;
    let mut expected = clock();
    expected.absorb(&clock());
    assert_eq!(facts, expected);
}

/// Returns the losses of the valid segment with this value in a word of a line, and the numbers of
/// records of messages and edges that are read.
fn with_word(line: u32, word: usize, value: u64) -> (Losses, [usize; 2]) {
    let mut writer = Writer { bytes: valid() };
    writer.put(line, word, value);
    let map = read(&writer.bytes).unwrap();
    let count = |of: fn(&CallpathValues) -> usize| map.values.iter().map(of).sum();
    (map.losses(), [count(|values| values.messages.len()), count(|values| values.edges.len())])
}

/// Damages the newest record of a chain of records of `lines` lines, which is named in word
/// `newest` of the header. `read` gives the numbers of records that are read if as many are
/// lost.
fn check_damaged_records(
    newest: usize,
    lines: u32,
    (sequence, callpath, key): (usize, usize, usize),
    read: impl Fn(usize) -> [usize; 2],
) {
    let whole = valid();
    let end = u32::try_from(whole.len() / LINE_BYTES).unwrap();
    let newest = low_half(&whole, 0, newest);
    let (node, before) = (low_half(&whole, newest, callpath), newest - lines);
    let check = |word, value, unreadable, torn, lost| {
        let (losses, found) = with_word(newest, word, value);
        let counted = (losses.records_unreadable, losses.records_torn, found);
        assert_eq!(counted, (unreadable, torn, read(lost)), "word {word}: {value:#x}");
    };
    check(sequence, 2, 0, 0, 0);
    check(sequence, 3, 0, 1, 0);
    check(key, 99, 1, 0, 1);
    // The callpath is none, or a record of the chain; the chain has a cycle, or leaves the file.
    check(callpath, halves(0, before), 1, 0, 1);
    check(callpath, halves(newest, before), 1, 0, 1);
    check(callpath, halves(node, newest), 1, 0, 2);
    check(callpath, halves(node, end), 1, 0, 2);
    check(callpath, halves(node, u32::MAX), 1, 0, 2);
}

#[test]
fn damaged_records_of_messages_are_counted() {
    let words = (message::SEQUENCE, message::CALLPATH, message::KEY);
    let read = |lost| [MESSAGES as usize - lost, EDGES as usize];
    check_damaged_records(header::LAST_MESSAGE, 1, words, read);
}

#[test]
fn damaged_records_of_edges_are_counted() {
    let words = (edge::SEQUENCE, edge::CALLPATH, edge::KEY);
    let read = |lost| [MESSAGES as usize, EDGES as usize - lost];
    check_damaged_records(header::LAST_EDGE, 2, words, read);
    // The chain begins in the last line, which has no room for a record, and what looks like its
    // link leaves the file.
    let last = u64::try_from(valid().len() / LINE_BYTES).unwrap() - 1;
    let (losses, found) = with_word(0, header::LAST_EDGE, last);
    assert_eq!((losses.records_unreadable, found), (2, read(EDGES as usize)));
}

fn low_half(bytes: &[u8], line: u32, word: usize) -> u32 {
    let begin = line as usize * LINE_BYTES + word * 8;
    u32::from_le_bytes(bytes[begin..begin + 4].try_into().unwrap())
}

#[test]
fn a_circle_of_nodes_or_sites_ends() {
    let whole = valid();
    let lines = u32::try_from(whole.len() / LINE_BYTES).unwrap();
    for line in HEADER_LINES..lines {
        for target in [HEADER_LINES, line, lines - 2, lines - 1, lines, u32::MAX] {
            let mut writer = Writer { bytes: whole.clone() };
            // Depending on the line, this changes the link of a node or that of a site.
            writer.put(line, node::PARENT, halves(target, target));
            writer.put(line, site::BEFORE, u64::from(target));
            read(&writer.bytes).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn any_bytes_behind_a_header_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..4096), keep in 0..300_usize) {
        drop(read(&bytes));
        let mut segment = valid();
        segment.truncate(keep.max(2 * 8));
        segment.extend(bytes);
        drop(read(&segment));
    }

    #[test]
    fn a_segment_with_flips_and_a_cut_is_survived(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u32), 0..24),
        words in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![0..64_u64, any::<u64>()]), 0..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = valid();
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        for (at, word) in words {
            let at = at.index(bytes.len() / 8) * 8;
            bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        drop(read(&bytes));
    }

    #[test]
    fn what_is_left_of_a_cut_segment_is_read(cut in HEADER_LINES as usize * LINE_BYTES..4096) {
        let mut bytes = valid();
        bytes.truncate(cut);
        let map = read(&bytes);
        prop_assert!(map.is_some(), "the header is whole");
    }
}
