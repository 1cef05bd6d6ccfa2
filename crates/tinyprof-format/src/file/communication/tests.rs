//! Sections of messages and edges: any come back, equal ranks are cheap, hostile bytes are errors.

use std::ops::RangeInclusive;

use proptest::prelude::*;

use super::super::{edges, messages};
use super::*;
use crate::bytes::{Cursor, Malformed};
use crate::model::{
    CallpathId, CallpathTable, CallpathValues, Edge, EdgeKey, EdgeKind, MessageKey, MessageKind,
    Region, SiteId, Traffic,
};

/// The messages and edges of a rank at a callpath.
type Records = (Vec<messages::Record>, Vec<edges::Record>);

const CALLPATHS: u32 = 6;

/// Returns a dictionary of six callpaths with the ids 100 to 105.
fn dictionary() -> CallpathTable {
    let rows = (0..u64::from(CALLPATHS)).map(|row| {
        let region = Region::named(SiteId::from_bits(row + 1), "");
        (CallpathId::from_bits(100 + row), None, region)
    });
    CallpathTable::from_parents(rows)
}

/// Encodes rows of the dictionary, each with the records by rank, as one section of the last row.
fn encoded(rows: &[(u32, Vec<Records>)]) -> Option<Vec<u8>> {
    let mut communication = Communication::of(&dictionary());
    for (row, ranks) in rows {
        let messages: Vec<&[_]> = ranks.iter().map(|(messages, _)| messages.as_slice()).collect();
        let edges: Vec<&[_]> = ranks.iter().map(|(_, edges)| edges.as_slice()).collect();
        communication.add(*row, &messages, &edges);
    }
    communication.take_section(CALLPATHS - 1)
}

/// Decodes a section into all rows of the dictionary, or into those of `first` alone.
fn decoded(
    section: &[u8],
    ranks: usize,
    (rows, first): (RangeInclusive<usize>, Option<usize>),
) -> Result<Vec<Vec<Records>>, Malformed> {
    let mut cursor = Cursor::new(section, 0);
    let count = if first.is_some() { 1 } else { CALLPATHS as usize };
    let mut values = vec![vec![CallpathValues::default(); ranks]; count];
    let mut slices: Vec<&mut [CallpathValues]> = values.iter_mut().map(Vec::as_mut_slice).collect();
    let mut targets = Slices { first: first.unwrap_or(0), values: &mut slices };
    decode_section(&mut cursor, rows, &dictionary(), &mut targets)?;
    cursor.finish("the section")?;
    let records = |values: CallpathValues| {
        (values.messages.into_iter().collect(), values.edges.into_iter().collect())
    };
    Ok(values.into_iter().map(|ranks| ranks.into_iter().map(records).collect()).collect())
}

fn all() -> (RangeInclusive<usize>, Option<usize>) {
    (0..=CALLPATHS as usize - 1, None)
}

/// Generates any edge: the record of a killed thread need not make sense.
fn edge() -> impl Strategy<Value = Edge> {
    let numbers = prop::array::uniform9(prop_oneof![0..9_u64, any::<u64>()]);
    let squares = prop::num::f64::ANY.prop_filter("equal to itself", |float| !float.is_nan());
    (numbers, squares, any::<u32>()).prop_map(|(n, sum_squares_ns2, order)| {
        let edge = Edge {
            count: n[0],
            bytes: n[1],
            sum_ns: n[2],
            min_ns: n[3],
            max_ns: n[4],
            sum_squares_ns2,
            compensated_ns: n[5],
            transfer_ns: n[6],
            wrong_order_ns: n[7],
            late_receiver_ns: n[8],
            order,
        };
        as_stored(edge)
    })
}

/// Returns the edge with squares of the precision of a section.
fn as_stored(edge: Edge) -> Edge {
    let squares = squares::from_number(&edge, squares::to_number(&edge));
    Edge { sum_squares_ns2: squares.expect("its own number"), ..edge }
}

fn of_edges() -> impl Strategy<Value = Vec<edges::Record>> {
    let partner = prop_oneof![3 => -2..2_i32, 1 => any::<i32>()];
    let from = prop_oneof![1 => Just(0), 3 => 100..106_u64, 1 => 200..203_u64];
    let key = (prop::sample::select(&EdgeKind::ALL[..]), partner, from).prop_map(
        |(kind, partner, from)| EdgeKey { kind, partner, from: CallpathId::from_bits(from) },
    );
    prop::collection::btree_map(key, edge(), 0..8).prop_map(|of| of.into_iter().collect())
}

fn of_messages() -> impl Strategy<Value = Vec<messages::Record>> {
    let record =
        (0_u8..8, -2..2_i32, any::<u32>(), 0..100_u64).prop_map(|(kind, partner, size, count)| {
            let size = u64::from(size);
            let key = MessageKey::new(MessageKind::from_number(kind).unwrap(), partner, size);
            (key, Traffic { count, bytes: count * size })
        });
    prop::collection::vec(record, 0..8).prop_map(|records| {
        let by_key: std::collections::BTreeMap<_, _> = records.into_iter().collect();
        by_key.into_iter().collect()
    })
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        of_rows in prop::collection::vec(prop::collection::vec((of_messages(), of_edges()), 4), 0..6),
    ) {
        let rows: Vec<_> = (0..).zip(of_rows.clone()).collect();
        let Some(section) = encoded(&rows) else {
            prop_assert!(of_rows.iter().flatten().all(|(m, e)| m.is_empty() && e.is_empty()));
            return Ok(());
        };
        let found = decoded(&section, 4, all()).unwrap();
        prop_assert_eq!(&found[..of_rows.len()], &of_rows);
        for (row, expected) in of_rows.iter().enumerate() {
            let alone = decoded(&section, 4, (all().0, Some(row))).unwrap();
            prop_assert_eq!(&alone[0], expected);
        }
    }
}

const FROM: CallpathId = CallpathId::from_bits(101);

fn key(kind: EdgeKind, partner: i32) -> EdgeKey {
    EdgeKey { kind, partner, from: FROM }
}

#[test]
fn ranks_that_do_the_same_cost_no_more_than_one() {
    let edge = |ns| {
        let mut edge = Edge { bytes: 8_000, ..Edge::of_one_instance(ns) };
        (0..999).for_each(|_| edge.absorb(&Edge { bytes: 8_000, ..Edge::of_one_instance(ns) }));
        as_stored(Edge { compensated_ns: edge.sum_ns, transfer_ns: 5_000, ..edge })
    };
    let edges = vec![(key(EdgeKind::Flow, 0), edge(700)), (key(EdgeKind::Message, -1), edge(90))];
    let traffic = Traffic { count: 1_000, bytes: 8_000_000 };
    let messages = vec![(MessageKey::new(MessageKind::MessageIn, -1, 8_000), traffic)];
    let one = (messages, edges);
    let section = encoded(&[(0, vec![one.clone(); 4096])]).unwrap();
    let of_one = encoded(&[(0, vec![one.clone()])]).unwrap();
    assert_eq!(decoded(&section, 4096, all()).unwrap()[0][4095], one);
    assert!(section.len() < of_one.len() + 12, "{}, {}", section.len(), of_one.len());
    assert!(of_one.len() < 90, "{} bytes", of_one.len());
}

#[test]
fn sections_are_long_enough() {
    let one = [(key(EdgeKind::Scan, 9), Edge::of_one_instance(28))];
    let mut communication = Communication::of(&dictionary());
    let edges: Vec<&[_]> = vec![&one; 3_000];
    let messages: Vec<&[messages::Record]> = vec![&[]; 3_000];
    for (row, is_enough) in (0..).zip([false, false, true]) {
        communication.add(row, &messages, &edges);
        assert_eq!(communication.is_enough(), is_enough, "after row {row}");
    }
    assert!(communication.take_section(2).is_some());
    assert!(!communication.is_enough() && communication.take_section(3).is_none());
}

#[test]
fn a_hostile_section_is_an_error() {
    let check = |section: &[u8], expected: &str| {
        let error = decoded(section, 2, all()).expect_err("a hostile section");
        assert!(error.reason.contains(expected), "{error:?}");
    };
    let edges = vec![
        (key(EdgeKind::Scan, 9), Edge::of_one_instance(28)),
        (EdgeKey { from: CallpathId::from_bits(9), ..key(EdgeKind::Scan, 9) }, Edge::default()),
    ];
    let messages =
        vec![(MessageKey::new(MessageKind::FileIn, 0, 9), Traffic { count: 3, bytes: 28 })];
    let one = (messages, edges);
    let good =
        encoded(&[(1, vec![one.clone(), one.clone()]), (5, vec![one.clone(), one])]).unwrap();
    assert!(decoded(&good, 2, all()).is_ok());
    for cut in 0..good.len() {
        assert!(decoded(&good[..cut], 2, all()).is_err(), "cut at {cut}");
    }
    for (at, bit) in (0..good.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut damaged = good.clone();
        damaged[at] ^= 1 << bit;
        drop(decoded(&damaged, 2, all()));
    }
    assert!(decoded(&good, 1, all()).is_err(), "more ranks than the part has");
    assert!(decoded(&good, 2, (2..=5, None)).is_err(), "a callpath of the section before");
    // One callpath with a key of each; the set of rank 0.
    let start: &[u8] = &[1, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1];
    let keyed = |messages: [u8; 4], edges: [u8; 4]| {
        let columns = [messages, edges].map(|keys| keys.map(|number| [0, number]));
        [start, columns.as_flattened().as_flattened(), &[0], &[0; 15]].concat()
    };
    let good = keyed([0; 4], [0, 0, 3, 0]);
    assert_eq!(decoded(&good, 2, all()).unwrap()[5][0].1[0].0.from, CallpathId::from_bits(102));
    check(&keyed([8, 0, 0, 0], [0; 4]), "not a key");
    check(&keyed([0, 0, 65, 0], [0; 4]), "not a key");
    check(&keyed([0; 4], [14, 0, 0, 0]), "not a key");
    check(&keyed([0; 4], [0, 0, 7, 0]), "not a key");
    check(&keyed([0, 0, 0, 1], [0; 4]), "no set");
    // Two equal keys.
    let twice = [&[1, 0, 0, 0, 2][..], &start[5..], &[0; 16], &[0; 16]].concat();
    check(&twice, "ascending");
    // A partner and an order of 2^32, bytes of 2^64, and squares of no code.
    let large = |at: usize, number: &[u8]| [&good[..at], number, &good[at + 2..]].concat();
    let wide = [0, 0x80, 0x80, 0x80, 0x80, 0x10];
    check(&large(16, &wide), "fit 32 bits");
    let numbers_at = start.len() + 17;
    let with = |at: usize, number: &[u8]| {
        [&good[..numbers_at + at], &[1, 0], number, &good[numbers_at + at + 1..]].concat()
    };
    let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    check(&with(3 + 11, &wide[1..]), "does not fit");
    check(&with(3 + 6, &[2]), "does not fit");
    assert!(decoded(&with(1, &most), 2, all()).is_ok());
    check(&[&with(1, &most)[..numbers_at + 13], &[1, 0, 1], &[0; 12]].concat(), "do not fit");
}

#[test]
fn the_document_names_the_numbers() {
    let document =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/format.md"));
    let document = document.expect("the document is there").replace('\n', " ");
    let named = |what: &str| {
        let (_, list) = document.split_once(&format!("numbers of {what}: ")).expect("a list");
        let list = list.split(" numbers of ").next().and_then(|list| list.split("```").next());
        let names = list.into_iter().flat_map(|list| list.split(','));
        let name = |name: &str| {
            let words: Vec<&str> = name.split_whitespace().collect();
            format!("the {} of {what}", words.join(" "))
        };
        names.map(name).collect::<Vec<_>>()
    };
    assert_eq!(named("messages"), rows::OF_MESSAGES);
    assert_eq!(named("edges"), rows::OF_EDGES);
}
