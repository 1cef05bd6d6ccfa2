//! Callpaths that are one to the user: their sites have one function, file and line.
//!
//! Recorders and ranks identify a site by its address. The names are known later, and on one rank.
//! That rank says which rows of the dictionary are equal; every rank then moves its values, with
//! all that refers to them, to the first of them.

use std::collections::HashMap;

use super::{
    Activity, CallpathId, CallpathIndex, CallpathTable, CallpathValues, Cause, DelayCost, EdgeKey,
    EventMap, Identity, Link, RankCauses, RankFacts, Waited,
};

/// A dictionary in which some rows have become one.
#[derive(Clone, Debug)]
pub struct MergedRows {
    /// The dictionary before, by identity.
    before: HashMap<Identity, CallpathIndex>,
    /// The row of the dictionary after, of each row before.
    of_row: Vec<CallpathIndex>,
    /// The ids that have changed.
    ids: HashMap<CallpathId, CallpathId>,
    dictionary: CallpathTable,
}

impl MergedRows {
    /// Merges rows of a dictionary. Each pair is a row, and an earlier one that takes its place.
    /// The parents of the two must be one, too. Equal dictionaries and pairs give equal results on
    /// all ranks.
    ///
    /// Pairs that do not fulfil this are left out.
    #[must_use]
    pub fn new(dictionary: &CallpathTable, pairs: &[(u32, u32)]) -> Self {
        let mut first: Vec<usize> = (0..dictionary.len()).collect();
        for &(row, earlier) in pairs {
            let (row, earlier) = (row as usize, earlier as usize);
            let Some(callpath) = dictionary.rows().get(row).filter(|_| earlier < row) else {
                continue;
            };
            // A parent is an earlier row, and pairs are in the order of rows.
            let above = |parent: Option<CallpathIndex>| parent.map(|parent| first[parent.row()]);
            if above(callpath.parent) == above(dictionary.rows()[earlier].parent) {
                first[row] = first[earlier];
            }
        }
        Self::of_first(dictionary, &first)
    }

    /// Merges each row into the one that `first` has for it.
    fn of_first(dictionary: &CallpathTable, first: &[usize]) -> Self {
        let mut positions: Vec<u32> = vec![0; first.len()];
        let mut links = Vec::new();
        let mut ids = HashMap::new();
        for (row, callpath) in dictionary.rows().iter().enumerate() {
            if first[row] != row {
                ids.insert(callpath.id, dictionary.rows()[first[row]].id);
                continue;
            }
            positions[row] = CallpathIndex::new(links.len()).number();
            let parent = callpath.parent.map(|parent| positions[first[parent.row()]]);
            links.push(Link { id: callpath.id, parent, region: callpath.region.clone() });
        }
        let (after, placed) = CallpathTable::place(&links);
        let of_row = first.iter().filter_map(|&first| placed[positions[first] as usize]);
        Self {
            before: dictionary.index_by_identity(),
            of_row: of_row.collect(),
            ids,
            dictionary: after,
        }
    }

    /// Returns the dictionary with one row for each.
    #[must_use]
    pub fn dictionary(&self) -> &CallpathTable {
        &self.dictionary
    }

    /// Returns the values of a rank by the rows of the merged dictionary that it has visited. Its
    /// callpaths must be in the dictionary before.
    #[must_use]
    pub fn event_map(&self, map: EventMap) -> EventMap {
        let EventMap { callpaths, values, facts } = map;
        let rows = callpaths.identities().iter().map(|identity| self.before.get(identity));
        let records = rows.zip(values).filter_map(|(before, values)| {
            let callpath = self.dictionary.get(self.of_row[before?.row()]);
            let parent = callpath.parent.map(|parent| self.dictionary.get(parent).id);
            Some((callpath.id, parent, callpath.region.clone(), self.values(values)))
        });
        EventMap::from_records(records, self.facts(facts))
    }

    fn id(&self, id: CallpathId) -> CallpathId {
        self.ids.get(&id).copied().unwrap_or(id)
    }

    fn values(&self, mut values: CallpathValues) -> CallpathValues {
        if values.edges.keys().any(|key| self.ids.contains_key(&key.from)) {
            for (key, edge) in std::mem::take(&mut values.edges) {
                let key = EdgeKey { from: self.id(key.from), ..key };
                values.edges.entry(key).or_default().absorb(&edge);
            }
        }
        values
    }

    fn facts(&self, mut facts: RankFacts) -> RankFacts {
        if let Some(causes) = facts.causes.as_deref_mut() {
            self.change_causes(causes);
        }
        if let Some(events) = facts.events.as_mut().filter(|_| !self.ids.is_empty()) {
            let threads = &mut std::sync::Arc::make_mut(events).threads;
            for visit in threads.iter_mut().flat_map(|thread| &mut thread.visits) {
                visit.callpath = self.id(visit.callpath);
            }
        }
        facts
    }

    fn change_causes(&self, causes: &mut RankCauses) {
        let activities = causes.activities.iter().map(|(number, of)| (*number, self.activity(*of)));
        causes.activities = std::sync::Arc::new(activities.collect());
        let mut places: HashMap<(CallpathId, Cause), usize> = HashMap::new();
        let mut costs: Vec<DelayCost> = Vec::with_capacity(causes.costs.len());
        for cost in &causes.costs {
            let cost = DelayCost { callpath: self.id(cost.callpath), ..*cost };
            let next = costs.len();
            match *places.entry((cost.callpath, cost.cause)).or_insert(next) {
                place if place == next => costs.push(cost),
                place => {
                    add(&mut costs[place].direct, cost.direct);
                    add(&mut costs[place].propagated, cost.propagated);
                }
            }
        }
        causes.costs = costs;
    }

    /// Returns an activity at the callpaths that are left. Its number stays, by which other ranks
    /// name it.
    fn activity(&self, activity: Activity) -> Activity {
        match activity {
            Activity::Exclusive(callpath) => Activity::Exclusive(self.id(callpath)),
            Activity::Call(callpath) => Activity::Call(self.id(callpath)),
            Activity::Gap { from, to } => Activity::Gap { from: self.id(from), to: self.id(to) },
        }
    }
}

fn add(sum: &mut Waited, more: Waited) {
    sum.ns = sum.ns.saturating_add(more.ns);
    sum.count = sum.count.saturating_add(more.count);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Activities, Edge, EdgeKind, ExecutionSummary, Region, SiteId};

    const MAIN: u64 = 1;

    /// Returns the record of a region below main, or of main, with a visit of `ns`.
    fn record(
        site: u64,
        ns: u64,
        from: Option<CallpathId>,
    ) -> (CallpathId, Option<CallpathId>, Region, CallpathValues) {
        let mut values = CallpathValues {
            executions: vec![ExecutionSummary::of_one_visit(0, ns)],
            ..CallpathValues::default()
        };
        if let Some(from) = from {
            let key = EdgeKey { kind: EdgeKind::Flow, partner: 0, from };
            values.edges.insert(key, Edge::of_one_instance(1));
        }
        let region = Region::named(SiteId::from_bits(site), format!("r{site}"));
        let parent = (site != MAIN).then(|| CallpathId::root(SiteId::from_bits(MAIN)));
        (id(site), parent, region, values)
    }

    fn id(site: u64) -> CallpathId {
        let main = CallpathId::root(SiteId::from_bits(MAIN));
        if site == MAIN { main } else { main.child(SiteId::from_bits(site)) }
    }

    fn row(table: &CallpathTable, site: u64) -> u32 {
        table.index_by_id()[&id(site)].number()
    }

    /// Returns the pair that makes two sites one.
    fn pair(table: &CallpathTable, a: u64, b: u64) -> (u32, u32) {
        let (a, b) = (row(table, a), row(table, b));
        (a.max(b), a.min(b))
    }

    #[test]
    fn values_of_equal_sites_add_up_and_what_refers_to_them_follows() {
        let causes = RankCauses {
            activities: Arc::new(Activities::from([
                (7, Activity::Gap { from: id(2), to: id(3) }),
                (8, Activity::Call(id(4))),
            ])),
            costs: [2, 3, 4]
                .map(|site| DelayCost {
                    callpath: id(site),
                    cause: Cause::Unexplained,
                    direct: Waited { ns: 10 * site, count: 1 },
                    propagated: Waited::default(),
                })
                .to_vec(),
            ..RankCauses::default()
        };
        let facts = RankFacts { causes: Some(Box::new(causes)), ..RankFacts::default() };
        let records = [
            record(MAIN, 100, None),
            record(2, 10, Some(id(3))),
            record(3, 20, Some(id(2))),
            record(4, 5, Some(id(3))),
        ];
        let map = EventMap::from_records(records, facts);
        let pairs = [pair(&map.callpaths, 2, 3)];
        let merged = MergedRows::new(&map.callpaths, &pairs);
        let kept = if pairs[0].1 == row(&map.callpaths, 2) { id(2) } else { id(3) };
        let found = merged.event_map(map);
        assert_eq!(&found.callpaths, merged.dictionary());
        assert_eq!(found.callpaths.len(), 3);
        let rows = found.callpaths.index_by_id();
        let one = &found.values[rows[&kept].row()];
        assert_eq!((one.visits(), one.inclusive_ns()), (2, 30));
        let edges: Vec<_> = one.edges.iter().map(|(key, edge)| (key.from, edge.count)).collect();
        assert_eq!(edges, [(kept, 2)]);
        assert!(found.values[rows[&id(4)].row()].edges.keys().all(|key| key.from == kept));
        let causes = found.facts.causes.expect("they are kept");
        assert_eq!(causes.activities[&7], Activity::Gap { from: kept, to: kept });
        assert_eq!(causes.activities[&8], Activity::Call(id(4)));
        let costs: Vec<_> = causes.costs.iter().map(|cost| (cost.callpath, cost.direct)).collect();
        let (both, other) = (Waited { ns: 50, count: 2 }, Waited { ns: 40, count: 1 });
        assert_eq!(costs, [(kept, both), (id(4), other)]);
    }

    #[test]
    fn a_rank_without_the_first_of_equal_sites_has_it_afterwards() {
        let all = EventMap::from_records(
            [record(MAIN, 9, None), record(2, 1, None), record(3, 2, None)],
            RankFacts::default(),
        );
        let merged = MergedRows::new(&all.callpaths, &[pair(&all.callpaths, 2, 3)]);
        for site in [2, 3] {
            let records = [record(MAIN, 9, None), record(site, 7, None)];
            let found = merged.event_map(EventMap::from_records(records, RankFacts::default()));
            assert_eq!(&found.callpaths, merged.dictionary(), "of {site}");
            assert_eq!(found.values[1].inclusive_ns(), 7);
        }
    }

    #[test]
    fn pairs_that_are_none_change_nothing() {
        let map = EventMap::from_records(
            [record(MAIN, 9, None), record(2, 1, None), record(3, 2, None)],
            RankFacts::default(),
        );
        for pair in [(0, 0), (1, 0), (1, 2), (2, 0), (9, 1), (2, 9)] {
            let merged = MergedRows::new(&map.callpaths, &[pair]);
            assert_eq!(merged.event_map(map.clone()), map, "{pair:?}");
        }
    }

    #[test]
    fn what_is_below_equal_sites_can_be_equal_too() {
        let region = |site: u64| Region::named(SiteId::from_bits(site), format!("r{site}"));
        let bits = CallpathId::from_bits;
        let record = |own: u64, parent: Option<u64>, site: u64| {
            let values = CallpathValues {
                executions: vec![ExecutionSummary::of_one_visit(0, own)],
                ..CallpathValues::default()
            };
            (bits(own), parent.map(bits), region(site), values)
        };
        let records =
            [record(1, None, 1), record(2, None, 2), record(3, Some(1), 3), record(4, Some(2), 4)];
        let map = EventMap::from_records(records, RankFacts::default());
        let merged = MergedRows::new(&map.callpaths, &[(1, 0), (3, 2)]);
        let found = merged.event_map(map.clone());
        let sums: Vec<u64> = found.values.iter().map(CallpathValues::inclusive_ns).collect();
        assert_eq!(sums, [3, 7]);
        let apart = MergedRows::new(&map.callpaths, &[(3, 2)]);
        assert_eq!(apart.event_map(map.clone()), map, "their parents are two");
    }
}
