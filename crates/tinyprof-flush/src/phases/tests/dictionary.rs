//! Tests of the dictionary of phase 1: equal on every rank, byte for byte, whatever the hints and
//! ids are, and its cost.

use tinyprof_format::file::encode_callpaths;
use tinyprof_format::model::CallpathTable;

use super::*;
use crate::communicator::virtual_ranks::Sent;
use crate::phases::synchronise::agree;

/// Returns the dictionary that all ranks have after phase 1, and the messages that were sent for
/// it.
#[track_caller]
fn dictionary(ranks: &[EventMap]) -> (CallpathTable, Vec<Sent>) {
    let plan = plan(Path::new("nowhere"), None, UNLIMITED);
    let size = u32::try_from(ranks.len()).unwrap();
    let (agreed, sent) = virtual_ranks::run_counted(size, |communicator| {
        let (map, plan) = (&ranks[communicator.rank() as usize], &plan);
        async move {
            let mut measured = Measured::of(map.clone(), Precision::Exact);
            agree(&communicator, &mut measured, plan).await.unwrap()
        }
    });
    let bytes: Vec<_> = agreed.iter().map(|agreed| encode_callpaths(&agreed.dictionary)).collect();
    assert!(bytes.iter().all(|other| *other == bytes[0]), "byte for byte on every rank");
    (agreed.into_iter().next().unwrap().dictionary, sent)
}

/// Creates a rank that visits these callpaths once, each under the root 0: `(site, id bits, hint)`.
fn visited(callpaths: &[(u64, u64, bool)]) -> EventMap {
    let root = (CallpathId::from_bits(0), None, region(0), CallpathValues::default());
    let below = callpaths.iter().map(|&(site, bits, rank_local)| {
        let executions = vec![ExecutionSummary::of_one_visit(0, site)];
        let values = CallpathValues { executions, ..CallpathValues::default() };
        let region = Region { rank_local, ..region(site) };
        (CallpathId::from_bits(bits), Some(CallpathId::from_bits(0)), region, values)
    });
    EventMap::from_records([root].into_iter().chain(below), RankFacts::default())
}

#[test]
fn wrong_hints_cost_nothing_but_time() {
    let everywhere = visited(&[(4, 1, false), (8, 2, false)]);
    let hinted = |hint| visited(&[(4, 1, hint), (8, 2, hint)]);
    // Common to all, and called local by all; local, and called common; and different on every
    // rank.
    let cases = [
        vec![hinted(true), hinted(true), hinted(true)],
        vec![visited(&[(4, 1, false)]), visited(&[(8, 2, false)]), visited(&[])],
        vec![hinted(true), hinted(false), hinted(true), visited(&[(8, 2, true)])],
        vec![visited(&[(4, 1, true), (8, 2, false)]), visited(&[(4, 1, false), (8, 2, true)])],
    ];
    for ranks in cases {
        let (table, _) = dictionary(&ranks);
        assert_eq!(table.identities(), everywhere.callpaths.identities());
        check(&ranks, None, UNLIMITED);
    }
}

#[test]
fn callpaths_whose_ids_collide_on_one_rank_or_on_several_are_kept_apart() {
    // All have the id 7: two on one rank and another on a second; one each on several ranks; and
    // equal on all.
    let cases = [
        vec![visited(&[(4, 7, false), (8, 7, false)]), visited(&[(12, 7, false)]), visited(&[])],
        vec![visited(&[(4, 7, false)]), visited(&[(8, 7, false)]), visited(&[(12, 7, false)])],
        vec![visited(&[(4, 7, false), (8, 7, false), (12, 7, false)]); 3],
    ];
    let dictionaries = cases.map(|ranks| {
        check(&ranks, None, UNLIMITED);
        dictionary(&ranks).0
    });
    assert_eq!(dictionaries[0].len(), 4);
    assert!(dictionaries.iter().all(|other| *other == dictionaries[0]), "whoever visited what");
}

#[test]
fn ranks_that_agree_send_no_name() {
    let ranks = vec![rank(0, &[3, 3, 3], 1, 1); 64];
    let (_, sent) = dictionary(&ranks);
    assert!(sent.iter().all(|message| message.bytes <= FIXED_BYTES), "one Allreduce");
    assert_eq!(sent.len(), 2 * 63);
}

#[test]
fn names_go_only_to_ranks_that_lack_them() {
    // Region 3 has a name of 16 KiB, and a single rank has visited it below 1.
    let mut ranks = vec![rank(0, &[0, 3, 3], 1, 1); 64];
    ranks[63] = rank(63, &[1, 3], 1, 1);
    let (table, sent) = dictionary(&ranks);
    assert_eq!(table.len(), 5);
    // From rank 63 to 62, 60, 56, 48, 32 and 0, and from there to all, each from one below it.
    let long = |message: &&Sent| message.bytes > 4096;
    let up: Vec<_> =
        sent.iter().filter(|m| m.from > m.to).filter(long).map(|m| (m.from, m.to)).collect();
    assert_eq!(up, [(63, 62), (62, 60), (60, 56), (56, 48), (48, 32), (32, 0)]);
    // The others send nothing longer than a digest per row, besides the Allreduce.
    let rest = sent.iter().filter(|m| m.from > m.to && m.bytes <= 4096).map(|m| m.bytes);
    assert!(rest.max() <= Some(FIXED_BYTES), "{:?}", sent.iter().map(|m| m.bytes).max());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn ids_of_few_bits_are_kept_apart_on_all_ranks_alike(
        ranks in prop::collection::vec(prop::collection::vec((0_u64..12, any::<bool>()), 0..8), 1..20),
        bits in 0_u64..4,
    ) {
        // The id of a site is its lowest bits: many sites have equal ids.
        let of = |callpaths: &Vec<(u64, bool)>| {
            let truncated = callpaths.iter().map(|&(site, hint)| (site, 1 + (site & bits), hint));
            visited(&truncated.collect::<Vec<_>>())
        };
        let ranks: Vec<_> = ranks.iter().map(of).collect();
        let (table, _) = dictionary(&ranks);
        let united = ranks.iter().rev().fold(CallpathTable::default(), |all, map| all.union(&map.callpaths));
        prop_assert_eq!(table, united.with_distinct_ids(), "in whatever order they are united");
        check_series(&ranks, Some(2), UNLIMITED, SeriesGather::Auto);
    }
}
