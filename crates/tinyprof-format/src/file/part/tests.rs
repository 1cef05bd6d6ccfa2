//! Parts that are damaged, hostile, or of another version.

use super::*;
use crate::file::section::FRAME_BYTES;
use crate::file::series;
use crate::file::{EncodedCallpath, EncodedMetric, ReadOptions};
use crate::model::{
    CallpathId, CallpathValues, ClockFacts, Edge, EdgeKey, EdgeKind, ExecutionSummary,
    FormatVersion, MessageKey, MessageKind, MetricBucket, MetricSummary, ProcessorFacts, Region,
    SiteId, Traffic,
};

#[derive(Debug)]
struct Part {
    facts: Vec<RankFacts>,
    values: Vec<Vec<CallpathValues>>,
}

/// Decodes a part of ranks starting at `first_rank`.
fn decode(
    bytes: &[u8],
    callpaths: usize,
    ranks: usize,
    first_rank: u32,
) -> Result<Part, FrameError> {
    let memory_limit = ReadOptions::default().memory_limit(bytes.len() as u64);
    let mut values = vec![vec![CallpathValues::default(); ranks]; callpaths];
    let mut rows: Vec<&mut [CallpathValues]> = values.iter_mut().map(Vec::as_mut_slice).collect();
    let roots = (1..).map(|site| Region::named(SiteId::from_bits(site), "")).take(callpaths);
    let id = |region: &Region| CallpathId::from_bits(region.site.to_bits());
    let roots = roots.map(|region| (id(&region), None, region));
    let table = CallpathTable::from_parents(roots);
    let dictionary = (&table, &table.children());
    let facts = super::decode(bytes, (first_rank, ranks), dictionary, &mut rows, &memory_limit)?;
    Ok(Part { facts, values })
}

/// Returns a dictionary of two callpaths.
fn two() -> CallpathTable {
    let region = |site| Region::named(SiteId::from_bits(site), "");
    CallpathTable::from_parents([1, 2].map(|id| (CallpathId::from_bits(id), None, region(id))))
}

fn messages() -> Vec<(MessageKey, Traffic)> {
    vec![(MessageKey::new(MessageKind::MessageOut, -1, 8), Traffic { count: 2, bytes: 16 })]
}

fn edges() -> Vec<(EdgeKey, Edge)> {
    let key = EdgeKey { kind: EdgeKind::Message, partner: -1, from: CallpathId::from_bits(7) };
    vec![(key, Edge { compensated_ns: 90, ..Edge::of_one_instance(100) })]
}

/// Returns the facts of a clock that all differ.
fn clock() -> ClockFacts {
    ClockFacts::from_numbers(std::array::from_fn(|at| 1 + at as u64))
}

fn rank(metrics: Vec<EncodedMetric>) -> EncodedRank {
    let executions =
        vec![ExecutionSummary::of_one_visit(0, 100), ExecutionSummary::of_one_visit(1, 120)];
    EncodedRank {
        facts: RankFacts { host: "a".into(), ..RankFacts::default() },
        callpaths: vec![EncodedCallpath {
            row: 1,
            executions,
            series: Vec::new(),
            metrics,
            messages: Vec::new(),
            edges: Vec::new(),
        }],
        events: Vec::new(),
    }
}

fn metric(key: &str) -> EncodedMetric {
    EncodedMetric {
        key: key.into(),
        executions: vec![MetricSummary::of_one_value(0, 1.5), MetricSummary::of_one_value(1, -2.0)],
        series: series::encode_metric(&[MetricBucket::of_one_value(0, 1.5)]),
    }
}

/// Returns the positions of the frames of the sections. The index repeats their contents.
fn frames(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let file = Sections::<3>::open(bytes, MAGIC).unwrap();
    let entries = file.entries().iter().map(|entry| usize::try_from(entry.offset).unwrap());
    entries.map(|offset| offset - FRAME_BYTES..offset).collect()
}

/// Returns the file with another minor version.
fn of_minor(mut bytes: Vec<u8>, minor: u8) -> Vec<u8> {
    let checksum_at = MAGIC.len() + 4 + 3 * 4;
    bytes[MAGIC.len() + 2] = minor;
    let checksum = crc32fast::hash(&bytes[..checksum_at]);
    bytes[checksum_at..checksum_at + 4].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

#[test]
fn every_cut_and_every_flipped_byte_is_an_error() {
    let mut rank = rank(vec![metric("mem")]);
    rank.callpaths[0].messages = messages();
    rank.callpaths[0].edges = edges();
    rank.facts.clock = clock();
    let bytes = encode_part(4, &two(), &[rank.clone(), rank]);
    let part = decode(&bytes, 2, 2, 4).unwrap();
    assert_eq!((part.values[0][1].is_absent(), part.values[1][1].visits()), (true, 2));
    assert_eq!(part.values[1][1].metrics["mem"].sum().to_bits(), (-0.5_f64).to_bits());
    assert_eq!(part.values[1][1].messages, messages().into_iter().collect());
    assert_eq!(part.values[1][1].edges, edges().into_iter().collect());
    assert_eq!(part.facts[1].clock, clock());
    for cut in 0..bytes.len() {
        assert!(decode(&bytes[..cut], 2, 2, 4).is_err(), "cut at {cut}");
    }
    let frames = frames(&bytes);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let in_frame = frames.iter().any(|frame| frame.contains(&at));
        assert_eq!(decode(&damaged, 2, 2, 4).is_ok(), in_frame, "flipped byte {at}");
    }
}

#[test]
fn metrics_and_variances_cost_nothing_where_there_are_none() {
    let plain = encode_part(0, &two(), &[rank(Vec::new())]);
    assert_eq!(
        Sections::<3>::open(&plain, MAGIC).unwrap().keys().collect::<Vec<_>>(),
        [RANKS_KEY, 1]
    );
    let timed = |variance: f64| {
        let mut rank = rank(Vec::new());
        rank.callpaths[0].executions[0].visits = 2;
        rank.callpaths[0].executions[1].sum_variance_ns2 = variance;
        rank
    };
    let (exact, sampled) =
        (encode_part(0, &two(), &[timed(0.0)]), encode_part(0, &two(), &[timed(1.0)]));
    assert!(exact.len() < sampled.len());
    let variance = |bytes| decode(bytes, 2, 1, 0).unwrap().values[1][0].sum_variance_ns2();
    assert_eq!([variance(&exact), variance(&sampled)], [0.0, 1.0]);
}

#[test]
fn metrics_are_found_by_their_key_without_times() {
    let mut rank = rank(vec![metric(""), metric("mem")]);
    rank.callpaths[0].executions.clear();
    let bytes = encode_part(0, &two(), &[rank]);
    let keys: Vec<u32> = Sections::<3>::open(&bytes, MAGIC).unwrap().keys().collect();
    assert_eq!(keys, [RANKS_KEY, 1 | METRICS_KEY]);
    let values = &decode(&bytes, 2, 1, 0).unwrap().values[1][0];
    assert!(values.executions.is_empty() && !values.is_absent());
    assert_eq!(values.metrics.keys().collect::<Vec<_>>(), ["", "mem"]);
}

#[test]
fn messages_and_edges_are_found_by_their_key_without_times() {
    for (messages, edges) in
        [(messages(), Vec::new()), (Vec::new(), edges()), (messages(), edges())]
    {
        let mut rank = rank(Vec::new());
        rank.callpaths[0].executions.clear();
        (rank.callpaths[0].messages, rank.callpaths[0].edges) = (messages.clone(), edges.clone());
        let bytes = encode_part(0, &two(), &[rank]);
        let keys: Vec<u32> = Sections::<3>::open(&bytes, MAGIC).unwrap().keys().collect();
        assert_eq!(keys, [RANKS_KEY, 1 | COMMUNICATION_KEY]);
        let is_unknown_to_version_1_0 = keys[1] & !METRICS_KEY >= 2;
        assert!(is_unknown_to_version_1_0, "it skips what is of no row");
        let values = &decode(&bytes, 2, 1, 0).unwrap().values[1][0];
        assert_eq!(values.messages, messages.into_iter().collect());
        assert_eq!(values.edges, edges.into_iter().collect());
        assert!(values.executions.is_empty() && !values.is_absent());
        let name = section_name(keys[1], 2, |row| row.to_string()).unwrap();
        assert_eq!(name, "the messages and edges of callpaths up to 1");
    }
    assert_eq!(section_name(5, 2, |row| row.to_string()), None);
}

#[test]
fn clocks_take_no_bytes_where_there_are_none() {
    let (without, mut with) = (rank(Vec::new()), rank(Vec::new()));
    with.facts.clock = ClockFacts { ideal_ns: 7, ..ClockFacts::default() };
    let section = |ranks: &[&EncodedRank]| {
        encode_facts(&ranks.iter().map(|rank| rank.facts.clone()).collect::<Vec<_>>())
    };
    let clocks = section(&[&without, &with]).split_off(section(&[&without, &without]).len());
    assert_eq!(clocks, [5, 0, 0, 0, 0, 0, 0, 0, 0, 3, 7, 1, 0, 1], "up to the last that is not 0");
    let facts = decode(&encode_part(0, &two(), &[without, with]), 2, 2, 0).unwrap().facts;
    assert_eq!(facts.iter().map(|facts| facts.clock.ideal_ns).collect::<Vec<_>>(), [0, 7]);
}

#[test]
fn clocks_with_facts_of_a_later_version_are_read() {
    let with_facts = |count: u8, columns: usize| {
        let mut file = SectionWriter::new(MAGIC, FormatVersion::USUAL, &[0, 1, 2]);
        let clocks = [&[count][..], &[0, 5].repeat(columns)].concat();
        file.section(RANKS_KEY, &[encode_facts(&[rank(Vec::new()).facts]), clocks].concat());
        decode(&file.finish(), 2, 1, 0).map(|part| part.facts[0].clock)
    };
    let more = with_facts(14, 14).unwrap();
    assert_eq!(more, ClockFacts::from_numbers([5; ClockFacts::COUNT]));
    assert_eq!(with_facts(1, 1).unwrap(), ClockFacts { companions: 5, ..ClockFacts::default() });
    assert_eq!(with_facts(0, 0).unwrap(), ClockFacts::default());
    assert!(
        with_facts(14, 13).is_err() && with_facts(65, 65).is_err() && with_facts(0, 1).is_err()
    );
}

#[test]
fn processor_times_come_after_the_clocks_and_take_no_bytes_where_there_are_none() {
    let (without, mut with) = (rank(Vec::new()), rank(Vec::new()));
    with.facts.processor = ProcessorFacts { cpu_ns: 7, ..ProcessorFacts::default() };
    let section = |ranks: &[&EncodedRank]| {
        encode_facts(&ranks.iter().map(|rank| rank.facts.clone()).collect::<Vec<_>>())
    };
    let added = section(&[&without, &with]).split_off(section(&[&without, &without]).len());
    assert_eq!(added, [0, 2, 0, 0, 3, 7, 1, 0, 1], "no clock, then up to the last that is not 0");
    with.facts.clock = clock();
    let facts = decode(&encode_part(0, &two(), &[without, with.clone()]), 2, 2, 0).unwrap().facts;
    assert_eq!((facts[1].clock, facts[1].processor), (clock(), with.facts.processor));
    assert!(facts[0].processor.is_empty());
}

#[test]
fn processor_facts_of_a_later_version_are_read() {
    let with_facts = |count: u8, columns: usize| {
        let mut file = SectionWriter::new(MAGIC, FormatVersion::USUAL, &[0, 1, 2]);
        let added = [&[0, count][..], &[0, 5].repeat(columns)].concat();
        file.section(RANKS_KEY, &[encode_facts(&[rank(Vec::new()).facts]), added].concat());
        decode(&file.finish(), 2, 1, 0).map(|part| part.facts[0].processor)
    };
    let known = ProcessorFacts::COUNT;
    let more = with_facts(u8::try_from(known).unwrap() + 1, known + 1).unwrap();
    assert_eq!(more, ProcessorFacts::from_numbers([5; ProcessorFacts::COUNT]));
    assert_eq!(with_facts(0, 0).unwrap(), ProcessorFacts::default());
    assert!(with_facts(2, 1).is_err() && with_facts(65, 65).is_err() && with_facts(1, 2).is_err());
}

/// Returns rank `number` of a square of 64 ranks a side that exchanges the faces of its cells with
/// its neighbours, 1,000 times. `bytes` gives the size of a message.
fn of_halo(number: i32, bytes: fn(i32) -> u64) -> EncodedRank {
    const SIDE: i32 = 64;
    let (x, y) = (number % SIDE, number / SIDE);
    let neighbours = [(x > 0, -1), (x < SIDE - 1, 1), (y > 0, -SIDE), (y < SIDE - 1, SIDE)];
    let partners = neighbours.into_iter().filter(|(is_there, _)| *is_there).map(|(_, at)| at);
    let kinds = [MessageKind::MessageOut, MessageKind::MessageIn];
    let messages = partners.flat_map(|partner| kinds.map(|kind| (kind, partner)));
    let messages = messages.map(|(kind, partner)| {
        let bytes = bytes(number);
        let traffic = Traffic { count: 1_000, bytes: 1_000 * bytes };
        (MessageKey::new(kind, partner, bytes), traffic)
    });
    let mut rank = rank(Vec::new());
    rank.callpaths[0].messages = messages.collect();
    rank.callpaths[0].messages.sort_by_key(|(key, _)| *key);
    rank
}

#[test]
fn the_messages_of_thousands_of_ranks_take_few_bytes() {
    let part_bytes = |ranks: &[EncodedRank]| encode_part(0, &two(), ranks).len();
    let halo = |bytes: fn(i32) -> u64| (0..4096).map(|n| of_halo(n, bytes)).collect::<Vec<_>>();
    let mut ranks = halo(|_| 8_000);
    let equal = part_bytes(&ranks);
    let decoded = decode(&encode_part(0, &two(), &ranks), 2, 4096, 0).unwrap();
    for (rank, values) in ranks.iter().zip(&decoded.values[1]) {
        assert!(rank.callpaths[0].messages.iter().copied().eq(values.messages.clone()));
    }
    ranks.iter_mut().for_each(|rank| rank.callpaths[0].messages.clear());
    let without = part_bytes(&ranks);
    let unequal = part_bytes(&halo(|number| 8_000 + u64::from(number.unsigned_abs() * 37 % 1_000)));
    println!("a halo exchange takes {without}, {equal}, {unequal} bytes");
    assert!(equal - without < 1_000, "{equal} bytes, {without} without messages");
}

/// Returns a rank of [`of_halo`] with its edges: the computation between its five calls, and a late
/// sender for each neighbour. `noise` gives a number of ns for each edge.
fn of_halo_with_edges(number: i32, noise: fn(i32) -> u64) -> EncodedRank {
    let mut rank = of_halo(number, |_| 8_000);
    let edge = |ns: u64, order| {
        let ns = ns + noise(number * 16 + i32::try_from(order).unwrap());
        let mut all = Edge { bytes: 8_000_000, order, ..Edge::of_one_instance(ns) };
        (1..1_000).for_each(|_| all.absorb(&Edge { order, ..Edge::of_one_instance(ns) }));
        all
    };
    let flow =
        |from| EdgeKey { kind: EdgeKind::Flow, partner: 0, from: CallpathId::from_bits(from) };
    let received = rank.callpaths[0].messages.iter().map(|(key, _)| *key);
    let received = received.filter(|key| key.kind == MessageKind::MessageIn);
    let late = (10..).zip(received).map(|(order, key)| {
        let from = CallpathId::from_bits(77);
        let key = EdgeKey { kind: EdgeKind::Message, partner: key.partner, from };
        let edge = edge(90, order);
        (key, Edge { compensated_ns: edge.sum_ns, transfer_ns: 3_000_000, ..edge })
    });
    let late: Vec<_> = late.collect();
    rank.callpaths[0].edges =
        (1..=5).map(|from| (flow(from.into()), edge(500, from))).chain(late).collect();
    rank.facts.clock = ClockFacts { companions: 4_000, ..ClockFacts::default() };
    rank
}

#[test]
fn the_edges_of_thousands_of_ranks_take_few_bytes() {
    let part_bytes = |ranks: &[EncodedRank]| encode_part(0, &two(), ranks).len();
    let halo =
        |noise: fn(i32) -> u64| (0..4096).map(|n| of_halo_with_edges(n, noise)).collect::<Vec<_>>();
    let mut ranks = halo(|_| 0);
    let equal = part_bytes(&ranks);
    let decoded = decode(&encode_part(0, &two(), &ranks), 2, 4096, 0).unwrap();
    for (rank, values) in ranks.iter().zip(&decoded.values[1]) {
        let equal = |squares: f64, edge: Edge| Edge { sum_squares_ns2: squares, ..edge };
        assert_eq!(rank.callpaths[0].edges.len(), values.edges.len());
        for ((key, edge), (found_key, found)) in rank.callpaths[0].edges.iter().zip(&values.edges) {
            assert_eq!((key, *edge), (found_key, equal(edge.sum_squares_ns2, *found)));
            let deviation = found.sum_squares_ns2 - edge.sum_squares_ns2;
            assert!(deviation.abs() < 1e-12 * edge.sum_squares_ns2, "{found:?}");
        }
    }
    ranks.iter_mut().for_each(|rank| rank.callpaths[0].edges.clear());
    let without = part_bytes(&ranks);
    let unequal = part_bytes(&halo(|number| u64::from(number.unsigned_abs() * 37 % 100)));
    println!("a halo exchange takes {without}, {equal}, {unequal} bytes");
    assert!(equal - without < 3_000, "{equal} bytes, {without} without edges");
}

#[test]
fn a_part_without_messages_of_version_1_0_is_read() {
    let bytes = of_minor(encode_part(0, &two(), &[rank(vec![metric("mem")])]), 0);
    assert_eq!(decode(&bytes, 2, 1, 0).unwrap().values[1][0].visits(), 2);
}

#[test]
fn a_row_of_an_old_and_long_dictionary_is_no_row_of_messages() {
    let long = (COMMUNICATION_KEY + 9) as usize;
    let section = |key, callpaths| PartSection::of_key(key, callpaths);
    let row = COMMUNICATION_KEY as usize + 8;
    assert_eq!(section(COMMUNICATION_KEY + 8, long), Some(PartSection::Times(row)));
    assert_eq!(section(COMMUNICATION_KEY + 8, 9), Some(PartSection::Communication(8)));
    assert_eq!(section(COMMUNICATION_KEY + 9, 9), None);
    assert_eq!(section(METRICS_KEY + COMMUNICATION_KEY + 8, 9), None);
}

#[test]
fn a_newer_minor_version_is_read_as_far_as_it_is_known() {
    let facts = encode_facts(&[rank(Vec::new()).facts]);
    let mut file = SectionWriter::new(MAGIC, FormatVersion::USUAL, &[0, 1, 2]);
    file.section(RANKS_KEY, &[facts.as_slice(), b"\0\0more"].concat());
    file.section(5, b"of a later version");
    let bytes = file.finish();
    assert!(decode(&bytes, 2, 1, 0).is_err(), "of our own version, this is damage");
    let newer = of_minor(bytes, u8::try_from(FormatVersion::CURRENT.minor).unwrap() + 1);
    assert_eq!(decode(&newer, 2, 1, 0).unwrap().facts[0].host, "a");
}

#[test]
fn a_part_of_hostile_counts_is_an_error() {
    let mut file = SectionWriter::new(MAGIC, FormatVersion::USUAL, &[0, 1, 2]);
    file.section(RANKS_KEY, &encode_facts(&[rank(Vec::new()).facts]));
    // One key whose only rank claims 2^35 - 1 summaries.
    file.section(
        1 | METRICS_KEY,
        &[&[1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f][..], &[0; 40]].concat(),
    );
    let error = decode(&file.finish(), 2, 1, 0).expect_err("a hostile part");
    assert!(format!("{error:?}").contains("more summaries than can be"), "{error:?}");
    let mut first = SectionWriter::new(MAGIC, FormatVersion::USUAL, &[0, 1, 2]);
    first.section(1, &[]);
    assert!(decode(&first.finish(), 2, 1, 0).is_err(), "the ranks come first");
}

#[test]
fn sections_stand_in_their_order() {
    let mut sent = rank(vec![metric("mem")]);
    sent.callpaths[0].messages = messages();
    sent.callpaths[0].edges = edges();
    sent.facts.clock = clock();
    let bytes = encode_part(0, &two(), &[sent]);
    let file = Sections::<3>::open(&bytes, MAGIC).unwrap();
    let of_position = |position: usize| {
        let mut section = file.section(position).unwrap();
        (file.entries()[position].key, section.take(section.remaining(), "all").unwrap())
    };
    let [ranks, times, metrics, messages] = [0, 1, 2, 3].map(of_position);
    let error = |order: &[(u32, &[u8])]| {
        let mut file = SectionWriter::new(MAGIC, FormatVersion::USUAL, &[0, 1, 2]);
        order.iter().for_each(|(key, bytes)| file.section(*key, bytes));
        decode(&file.finish(), 2, 1, 0).err().map(|error| format!("{error:?}"))
    };
    assert_eq!(error(&[ranks, times, metrics, messages]), None);
    let (of_row_0, of_row_1) = ((0, times.1), times);
    assert_eq!(error(&[ranks, of_row_0, of_row_1, metrics]), None);
    for wrong in [
        [ranks, metrics, times],
        [ranks, messages, metrics],
        [ranks, messages, times],
        [ranks, of_row_1, of_row_0],
    ] {
        assert!(error(&wrong).unwrap().contains("is not in its place"));
    }
    assert!(error(&[times, ranks, metrics]).unwrap().contains("missing"));
}
