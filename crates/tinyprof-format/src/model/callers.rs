//! The functions around a call of MPI, which become callpaths of their own.
//!
//! Recorders visit the call alone: it is told apart by the chain of its callers, which its region
//! names. A caller has the visits and the times of the calls below it.

use std::sync::Arc;

use super::{CallpathId, CallpathValues, Region, SiteId};

/// The constant of a call that names the functions around it, from the innermost on: executable or
/// library and address, `/home/u/a.out+0x1234`, one a line.
pub const CALLERS: &str = "callers";

/// The module of the regions of callers.
pub const CALLERS_MODULE: &str = "caller";

/// The constant that callers have from their calls: what kind of time it is.
const TAG: &str = "tag";

/// The record of a callpath: its id, that of its parent, its region and its values.
pub type CallpathRecord = (CallpathId, Option<CallpathId>, Arc<Region>, CallpathValues);

impl Region {
    /// Returns whether the region is a function around calls of MPI, whose visits are theirs.
    #[must_use]
    pub fn is_caller(&self) -> bool {
        self.module == CALLERS_MODULE
    }
}

/// Returns the record below those of its callers, which precede it. Outside of all regions, where
/// there is no whole to which they belong, it stays alone. Records of equal callers have equal ids.
#[must_use]
pub fn with_callers(record: CallpathRecord) -> Vec<CallpathRecord> {
    let (id, parent, region, values) = record;
    let Some(callers) = region.constants.get(CALLERS) else {
        return vec![(id, parent, region, values)];
    };
    let mut records = Vec::new();
    let mut above = parent;
    if let Some(mut around) = parent {
        for place in callers.lines().rev() {
            let caller = caller(place, &region);
            let own = around.child(caller.site);
            let of_calls = CallpathValues {
                executions: values.executions.clone(),
                ..CallpathValues::default()
            };
            records.push((own, Some(around), Arc::new(caller), of_calls));
            around = own;
        }
        above = Some(around);
    }
    let mut call = Region::clone(&region);
    call.constants.remove(CALLERS);
    records.push((id, above, Arc::new(call), values));
    records
}

/// Returns the region of a caller at a place.
fn caller(place: &str, call: &Region) -> Region {
    let (path, offset) = place.rsplit_once("+0x").unwrap_or((place, ""));
    let name = format!("{}+0x{offset}", path.rsplit('/').next().unwrap_or_default());
    let tag = call.constants.get_key_value(TAG);
    Region {
        module: CALLERS_MODULE.to_owned(),
        file: path.to_owned(),
        rank_local: true,
        constants: tag.map(|(key, tag)| (key.clone(), tag.clone())).into_iter().collect(),
        ..Region::named(SiteId::from_bits(hash(&name)), &name)
    }
}

/// Returns a hash of a text: FNV-1a with 64 bits.
fn hash(text: &str) -> u64 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EventMap, ExecutionSummary, RankFacts};

    fn record(site: u64, parent: Option<CallpathId>, callers: &str, ns: u64) -> CallpathRecord {
        let site = SiteId::from_bits(site);
        let mut region = Region::named(site, format!("MPI_Send at a.out+{:#x}", site.to_bits()));
        region.constants.insert(TAG.to_owned(), "COMM".to_owned());
        if !callers.is_empty() {
            region.constants.insert(CALLERS.to_owned(), callers.to_owned());
        }
        let values = CallpathValues {
            executions: vec![ExecutionSummary::of_one_visit(0, ns)],
            ..CallpathValues::default()
        };
        let id = parent.map_or_else(|| CallpathId::root(site), |parent| parent.child(site));
        (id, parent, Arc::new(region), values)
    }

    #[test]
    fn callers_have_the_visits_and_the_time_of_their_calls() {
        let main = CallpathId::root(SiteId::from_bits(1));
        let (step, run) = ("/home/u/a.out+0x20", "/home/u/a.out+0x30");
        let records = [
            record(1, None, "", 1000),
            record(2, Some(main), &format!("{step}\n{run}"), 100),
            record(3, Some(main), &format!("{step}\n{run}"), 20),
            record(4, Some(main), run, 3),
            record(5, None, run, 7),
        ];
        let ids: Vec<CallpathId> = records.iter().map(|(id, ..)| *id).collect();
        let records = records.into_iter().flat_map(with_callers);
        let map = EventMap::from_records(records, RankFacts::default());
        let sums = map.callpaths.iter().map(|(at, row)| {
            assert!(!row.region.constants.contains_key(CALLERS));
            assert_eq!(row.region.constants[TAG], "COMM");
            assert_eq!(row.region.is_caller(), !row.region.name.contains(" at "));
            let values = &map.values[at.row()];
            (
                map.callpaths.path(at).replace("MPI_Send at ", ""),
                values.visits(),
                values.inclusive_ns(),
            )
        });
        let mut sums: Vec<_> = sums.collect();
        sums.sort();
        let under = |path: &str| format!("a.out+0x1<a.out+0x30{path}");
        let expected = [
            ("a.out+0x1".to_owned(), 1, 1000),
            (under(""), 3, 123),
            (under("<a.out+0x20"), 2, 120),
            (under("<a.out+0x20<a.out+0x2"), 1, 100),
            (under("<a.out+0x20<a.out+0x3"), 1, 20),
            (under("<a.out+0x4"), 1, 3),
            ("a.out+0x5".to_owned(), 1, 7),
        ];
        assert_eq!(sums, expected);
        let known = map.callpaths.index_by_id();
        assert!(ids.iter().all(|id| known.contains_key(id)), "ids of calls stay");
    }
}
