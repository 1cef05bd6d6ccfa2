//! Causes of ranks, through messages and through a section.

use std::sync::Arc;

use super::*;
use crate::bytes::Cursor;
use crate::model::{CauseFacts, Region, SiteId, Waited};

/// Returns a table of three root regions, and their ids.
fn dictionary() -> (CallpathTable, [CallpathId; 3]) {
    let regions = [1, 2, 3].map(|site| {
        let site = SiteId::from_bits(site);
        let region = Region::named(site, format!("r{}", site.to_bits()));
        (CallpathId::root(site), None, region, crate::model::CallpathValues::default())
    });
    let ids = [0, 1, 2].map(|at| regions[at].0);
    let map = crate::model::EventMap::from_records(regions, RankFacts::default());
    (map.callpaths, ids)
}

/// Returns causes with every kind of activity and of cause.
pub(in crate::file) fn some_causes(factor: u64) -> RankCauses {
    let (_, [one, two, three]) = dictionary();
    let gap = |from, to| Activity::Gap { from, to };
    let activities = [
        (3 * factor, gap(EdgeKey::UNKNOWN, one)),
        (1 << 39, gap(one, two)),
        (1 << 33, Activity::Call(two)),
        (5, Activity::Exclusive(three)),
    ];
    let waited = |ns| Waited { ns, count: ns.div_ceil(3) };
    let causes = [
        Cause::Activity { rank: 3, number: 1 << 39 },
        Cause::Activity { rank: 3, number: 0 },
        Cause::Activity { rank: u32::MAX, number: 77 },
        Cause::Unexplained,
    ];
    let costs = causes.into_iter().zip(1..).map(|(cause, at)| DelayCost {
        callpath: if at == 2 { one } else { two },
        cause,
        direct: waited(100 * at * factor),
        propagated: waited(at - 1),
    });
    RankCauses {
        activities: Arc::new(activities.into()),
        costs: costs.collect(),
        path: [causes[0], Cause::Other, causes[1]].map(|cause| PathPart { cause, ns: 9 }).into(),
        facts: CauseFacts::from_numbers(std::array::from_fn(|at| at as u64 * factor)),
    }
}

fn ranks() -> Vec<RankFacts> {
    let of = |causes| RankFacts { causes, ..RankFacts::default() };
    [None, Some(some_causes(1)), Some(RankCauses::default()), Some(some_causes(4))]
        .map(|causes| of(causes.map(Box::new)))
        .into()
}

fn decoded(bytes: &[u8]) -> Result<Vec<Option<Box<RankCauses>>>, crate::bytes::Malformed> {
    let mut cursor = Cursor::new(bytes, 0);
    let found = decode_section(&mut cursor, 4, &dictionary().0)?;
    cursor.finish("the section")?;
    Ok(found)
}

#[test]
fn ranks_get_back_their_causes_and_the_activities_of_all() {
    let mut ranks = ranks();
    let bytes = encode_section(&ranks, &dictionary().0).expect("there are causes");
    let found = decoded(&bytes).unwrap();
    share_activities(&mut ranks);
    let expected: Vec<_> = ranks.into_iter().map(|facts| facts.causes).collect();
    assert_eq!(found, expected);
    let causes = found[1].as_deref().unwrap();
    assert_eq!(causes.activity(causes.costs[0].cause).map(Activity::kind), Some("gap"));
    assert_eq!(causes.activity(causes.costs[2].cause), None, "no rank has described it");
    assert_eq!(causes.activities.len(), 5);
}

#[test]
fn no_causes_are_no_section() {
    let none = vec![RankFacts::default(); 3];
    assert_eq!(encode_section(&none, &dictionary().0), None);
}

#[test]
fn a_message_is_as_long_as_it_says_and_comes_back() {
    let causes = some_causes(2);
    let mut sink = Sink::default();
    write_message(&mut sink, &causes);
    let bytes = sink.into_vec();
    assert_eq!(bytes.len(), length(&causes));
    assert_eq!(read_message(&mut Cursor::new(&bytes, 0)), Ok(causes));
    for cut in 0..bytes.len() {
        assert!(read_message(&mut Cursor::new(&bytes[..cut], 0)).is_err(), "cut at {cut}");
    }
}

#[test]
fn hostile_sections_are_errors() {
    let bytes = encode_section(&ranks(), &dictionary().0).expect("there are causes");
    for cut in 0..bytes.len() {
        assert!(decoded(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    for at in 0..bytes.len() {
        for flip in [1, 0x40, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            // It may be other numbers, but nothing worse.
            drop(decoded(&damaged));
        }
    }
    let descending = [2, 1, 9, 9, 0, 0, 0, 0, 0, 0];
    assert!(decoded(&descending).is_err_and(|error| error.reason.contains("ascending")));
    let of_no_callpath = [1, 0, 5, 0, 3, 0, 0, 0, 9];
    assert!(decoded(&of_no_callpath).is_err_and(|error| error.reason.contains("no callpath")));
}
