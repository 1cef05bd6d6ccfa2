//! The order of callpaths, their union, and the callpaths that must be kept apart.

use super::*;
use crate::model::SiteId;

fn region(site: u64) -> Region {
    Region::named(SiteId::from_bits(site), format!("r{site}"))
}

fn chain(sites: &[u64]) -> Vec<(CallpathId, Option<CallpathId>, Region)> {
    let mut parent = None;
    sites
        .iter()
        .map(|&site| {
            let s = SiteId::from_bits(site);
            let id = parent.map_or(CallpathId::root(s), |p: CallpathId| p.child(s));
            (id, parent.replace(id), region(site))
        })
        .collect()
}

#[test]
fn the_order_of_arrival_does_not_matter() {
    let mut triples = chain(&[1, 2, 3]);
    triples.extend(chain(&[1, 4]));
    let forward = CallpathTable::from_parents(triples.clone());
    triples.reverse();
    let backward = CallpathTable::from_parents(triples);
    assert_eq!(forward, backward);
    assert_eq!(forward.fingerprint(), backward.fingerprint());
    assert_eq!(forward.len(), 4);
    for (index, callpath) in forward.iter() {
        assert!(callpath.parent.is_none_or(|p| p < index));
    }
}

#[test]
fn a_union_holds_every_callpath_once() {
    let left = CallpathTable::from_parents(chain(&[1, 2]));
    let right = CallpathTable::from_parents(chain(&[1, 3]));
    let both = left.union(&right);
    assert_eq!(both, right.union(&left));
    let mut paths: Vec<_> = both.iter().map(|(i, _)| both.path(i)).collect();
    paths.sort();
    assert_eq!(paths, ["r1", "r1<r2", "r1<r3"]);
    assert_ne!(left.fingerprint(), right.fingerprint());
}

#[test]
fn orphans_and_circles_are_dropped() {
    let id = CallpathId::from_bits;
    let table = CallpathTable::from_parents([
        (id(1), None, region(1)),
        (id(2), Some(id(9)), region(2)),
        (id(3), Some(id(4)), region(3)),
        (id(4), Some(id(3)), region(4)),
    ]);
    assert_eq!(table.rows().iter().map(|c| c.id).collect::<Vec<_>>(), [id(1)]);
}

/// Returns every pair of sites below every root. The ids have so few bits that many collide.
fn with_collisions(sites: &[u64]) -> Vec<Link> {
    let few = |id: CallpathId| CallpathId::from_bits(id.to_bits() & 3);
    let mut links = Vec::new();
    for &root in sites {
        let id = CallpathId::root(SiteId::from_bits(root));
        let parent = CallpathIndex::new(links.len()).number();
        links.push(Link { id: few(id), parent: None, region: region(root).into() });
        links.extend(sites.iter().map(|&site| Link {
            id: few(id.child(SiteId::from_bits(site))),
            parent: Some(parent),
            region: region(site).into(),
        }));
    }
    links
}

#[test]
fn callpaths_whose_ids_collide_are_kept_apart_and_get_ids_of_their_own() {
    let table = CallpathTable::place(&with_collisions(&[1, 2, 3, 4, 5])).0;
    assert_eq!(table.len(), 30);
    let all: HashSet<Identity> = table.identities().iter().copied().collect();
    assert_eq!(all.len(), 30);
    let distinct = table.clone().with_distinct_ids();
    assert_eq!(distinct.index_by_id().len(), 30);
    assert_eq!(distinct.identities().iter().copied().collect::<HashSet<_>>(), all);
    let paths = |table: &CallpathTable| {
        let mut paths: Vec<_> = table.iter().map(|(i, _)| table.path(i)).collect();
        paths.sort();
        paths
    };
    assert_eq!(paths(&distinct), paths(&table));
    assert_eq!(distinct.clone().with_distinct_ids(), distinct);
    // The result is the same in any order of union, including the ids.
    let (left, right) = (with_collisions(&[5, 1, 3]), with_collisions(&[4, 3, 2]));
    let (left, right) = (CallpathTable::place(&left).0, CallpathTable::place(&right).0);
    assert_eq!(left.union(&right).with_distinct_ids(), right.union(&left).with_distinct_ids());
    assert_eq!(table.union(&left).union(&right).with_distinct_ids(), distinct);
}

#[test]
fn ids_that_collide_are_noticed_by_the_fingerprint() {
    let one = |site| {
        let id = CallpathId::from_bits(7);
        CallpathTable::place(&[Link { id, parent: None, region: region(site).into() }]).0
    };
    assert_ne!(one(1).fingerprint(), one(2).fingerprint());
    assert_eq!(one(1).union(&one(2)).len(), 2);
}

#[test]
fn what_is_said_of_a_callpath_is_part_of_the_fingerprint_and_united_alike() {
    let said = |rank_local| {
        let region = Region { rank_local, ..region(1) };
        CallpathTable::from_parents([(CallpathId::root(region.site), None, region)])
    };
    assert_ne!(said(true).fingerprint(), said(false).fingerprint());
    assert_eq!(said(true).union(&said(false)), said(false).union(&said(true)));
    assert_eq!(said(true).union(&said(false)).len(), 1);
}

#[test]
fn a_subset_has_what_is_above_it() {
    let mut triples = chain(&[1, 2, 3]);
    triples.extend(chain(&[1, 4]));
    let table = CallpathTable::from_parents(triples);
    let wanted = table.iter().find(|(_, c)| c.region.name == "r3").unwrap().0;
    let subset = table.subset(|index| index == wanted);
    let paths: Vec<_> = subset.iter().map(|(i, _)| subset.path(i)).collect();
    assert_eq!(paths, ["r1", "r1<r2", "r1<r2<r3"]);
    assert_eq!(table.union(&subset), table);
    assert!(table.subset(|_| false).is_empty());
}
