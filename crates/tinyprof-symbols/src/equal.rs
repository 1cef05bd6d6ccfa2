//! Sites that are one to the user: the same function, file and line below the same callpath.
//!
//! The compiler copies calls, and a line has many instructions of which each may be sampled. The
//! recorder tells all of them apart by their addresses.

use std::collections::HashMap;

use tinyprof_format::model::{CallpathTable, EventMap, MergedRows, Mode, Region};
use tinyprof_settings::Wrappers;

use super::{ADDRESS, Named, with_names};

/// Names the call sites of the ranks of a job, and gives equal ones one row.
///
/// # Cost
/// That of [`with_names`], and a copy of the values where some are equal.
pub fn name_and_merge(ranks: &mut [EventMap], wrappers: &Wrappers) {
    let tables = ranks.iter().map(|map| &map.callpaths);
    let all = tables.fold(CallpathTable::default(), |all, table| all.union(table));
    let Some(Named { callpaths, equal }) = with_names(&all, wrappers) else { return };
    if equal.is_empty() {
        let names = |map: &EventMap| with_names(&map.callpaths, wrappers);
        for map in ranks {
            map.callpaths = names(map).map_or_else(|| map.callpaths.clone(), |of| of.callpaths);
        }
        return;
    }
    // Rows stay where they are when they get names, and a rank may lack the first of equal ones.
    let (merged, named) = (MergedRows::new(&all, &equal), MergedRows::new(&callpaths, &equal));
    for map in ranks {
        *map = merged.event_map(std::mem::take(map));
        map.callpaths = named_as(&map.callpaths, merged.dictionary(), named.dictionary());
    }
}

/// Returns a table with the regions that `named` has in place of those of `all`.
fn named_as(table: &CallpathTable, all: &CallpathTable, named: &CallpathTable) -> CallpathTable {
    let rows = all.rows().iter().zip(named.rows());
    let of: HashMap<&Region, &Region> =
        rows.map(|(all, named)| (&*all.region, &*named.region)).collect();
    table.with_regions(|region| of.get(region).map(|&named| named.clone()))
}

/// Returns each row of a dictionary with names whose site equals that of an earlier row, and that
/// row: none where ids do not tell callpaths apart.
pub(super) fn rows(dictionary: &CallpathTable) -> Vec<(u32, u32)> {
    if !dictionary.has_distinct_ids() {
        return Vec::new();
    }
    let mut first: Vec<u32> = Vec::with_capacity(dictionary.len());
    let mut known: HashMap<(Option<u32>, &str, &str, u32), u32> = HashMap::new();
    for (row, callpath) in (0..).zip(dictionary.rows()) {
        let region = &*callpath.region;
        let earlier = if is_told_by_its_name(region) {
            let parent = callpath.parent.map(|parent| first[parent.row()]);
            *known.entry((parent, &region.name, &region.file, region.line)).or_insert(row)
        } else {
            row
        };
        first.push(earlier);
    }
    (0..).zip(first).filter(|(row, first)| row != first).collect()
}

/// Returns whether the site was found by its address and has a name that tells it from others. A
/// series of visits is that of one place.
fn is_told_by_its_name(region: &Region) -> bool {
    region.constants.contains_key(ADDRESS) && region.mode == Mode::Total
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{
        CallpathId, CallpathValues, ExecutionSummary, RankFacts, SAMPLES_MODULE, SAMPLES_PERIOD,
        SiteId,
    };

    use super::*;

    fn region(site: u64, name: &str, line: u32) -> Region {
        let constants = [(ADDRESS.to_owned(), format!("a.out+{site:#x}"))].into();
        let (module, file) = ("mpi".to_owned(), "lu.c".to_owned());
        Region { module, file, line, constants, ..Region::named(SiteId::from_bits(site), name) }
    }

    fn table(regions: &[Region]) -> CallpathTable {
        let of = |region: &Region| (CallpathId::root(region.site), None, region.clone());
        CallpathTable::from_parents(regions.iter().map(of))
    }

    fn pairs(regions: &[Region]) -> usize {
        rows(&table(regions)).len()
    }

    #[test]
    fn function_file_and_line_make_a_site() {
        let send = |site, line| region(site, "MPI_Send at f (lu.c:3)", line);
        assert_eq!(pairs(&[send(1, 3), send(2, 3), send(3, 3)]), 2);
        assert_eq!(pairs(&[send(1, 3), region(2, "MPI_Send at g (lu.c:3)", 3)]), 0, "a function");
        assert_eq!(pairs(&[send(1, 3), region(2, "MPI_Recv at f (lu.c:3)", 3)]), 0, "a call");
        let elsewhere = Region { file: "old/lu.c".into(), ..send(2, 3) };
        assert_eq!(pairs(&[send(1, 3), elsewhere]), 0, "a file");
        let column = |site, at| region(site, &format!("MPI_Send at f (lu.c:3:{at})"), 3);
        assert_eq!(pairs(&[column(1, 5), column(2, 9), column(3, 9)]), 1, "a column");
        let own = |site| Region { constants: [].into(), ..send(site, 3) };
        assert_eq!(pairs(&[own(1), own(2)]), 0, "regions of the program");
    }

    #[test]
    fn sites_below_equal_sites_are_equal_too() {
        let (above, below) = ("MPI_Send at f (a.c:1)", "MPI_Recv at g (a.c:2)");
        let id = CallpathId::from_bits;
        let rows = [
            (id(1), None, region(1, above, 1)),
            (id(2), None, region(2, above, 1)),
            (id(3), Some(id(1)), region(3, below, 2)),
            (id(4), Some(id(2)), region(4, below, 2)),
        ];
        assert_eq!(super::rows(&CallpathTable::from_parents(rows)), [(1, 0), (3, 2)]);
    }

    #[test]
    fn samples_of_a_line_become_one_on_all_ranks() {
        let executable = std::env::current_exe().expect("it has a path");
        let address = crate::tests::address_in_file();
        let record = |address: usize, visits: u64| {
            let site = SiteId::from_bits(address as u64);
            let region = Region {
                module: SAMPLES_MODULE.to_owned(),
                file: executable.to_str().expect("the build's path is text").to_owned(),
                constants: [(SAMPLES_PERIOD.to_owned(), "10".to_owned())].into(),
                ..Region::named(site, format!("test+{address:#x}"))
            };
            let one = ExecutionSummary { visits, ..ExecutionSummary::of_one_visit(0, 10) };
            let values = CallpathValues { executions: vec![one], ..CallpathValues::default() };
            (CallpathId::root(site), None, region, values)
        };
        let map = |records: &[(usize, u64)]| {
            let records = records.iter().map(|&(at, visits)| record(address + at, visits));
            EventMap::from_records(records, RankFacts::default())
        };
        let mut ranks = [map(&[(1, 5), (2, 7)]), map(&[(2, 2)]), EventMap::default()];
        name_and_merge(&mut ranks, &Wrappers::default());
        let visits: Vec<u64> =
            ranks.iter().map(|map| map.values.iter().map(|v| v.visits()).sum()).collect();
        assert_eq!(visits, [12, 2, 0]);
        let [first, second, _] = &ranks;
        assert_eq!(first.callpaths, second.callpaths);
        assert_eq!(first.callpaths.len(), 1, "{:?}", first.callpaths);
        let region = &first.callpaths.rows()[0].region;
        assert!(region.name.contains("marked") && region.line > 0, "{region:?}");
    }
}
