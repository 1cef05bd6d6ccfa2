//! Round trips: a profile that was read is written and read again, and must be equal.

use tinyprof_format::file::{
    EncodedRank, ManifestFacts, ReadOptions, encode_callpaths, encode_part,
};
use tinyprof_format::model::{
    CallpathFile, CallpathTable, EventMap, Losses, Manifest, PartFile, PhaseTimes, Profile,
    RankFacts, RunMetadata,
};

use crate::{Memory, read_in_every_way_within};

/// Limits for reading again: enough for anything that was read within [`LIMITS`](crate::LIMITS), in
/// the bytes of today's writer.
const LIMITS: ReadOptions = ReadOptions::new().with_memory_bytes(256 << 20);

/// Writes a profile that was read, reads it again, and compares.
///
/// # Panics
/// If they differ.
pub fn write_and_read(profile: &Profile) {
    let ranks: Vec<EncodedRank> = (0..profile.ranks.len())
        .map(|rank| {
            let values = profile.values.iter().map(|ranks| ranks[rank].clone()).collect();
            let facts = profile.ranks[rank].clone();
            // The values are in the order of the profile's own table, so its rows need no new
            // numbers.
            EncodedRank::of_event_map(&EventMap {
                callpaths: CallpathTable::default(),
                values,
                facts,
            })
        })
        .collect();
    let files = files(&profile.callpaths, &ranks, |callpaths, parts, ranks| Manifest {
        ranks,
        callpaths,
        parts,
        version: tinyprof_format::model::FormatVersion::CURRENT,
        ..profile.manifest.clone()
    });
    let again = LIMITS.read_of(&files).expect("what was read is written, and read again");
    assert_eq!(again.callpaths.rows(), profile.callpaths.rows());
    again
        .ranks
        .iter()
        .zip(&profile.ranks)
        .for_each(|(again, before)| assert_same_facts(again, before));
    assert_eq!(again.ranks.len(), profile.ranks.len());
    // NaNs are not equal to themselves; their text is.
    assert_eq!(format!("{:?}", again.values), format!("{:?}", profile.values));
}

/// Writes the measurements of ranks, reads them in every way, and compares.
///
/// # Panics
/// If they differ.
pub fn round_trip(ranks: &[EventMap]) {
    let table = ranks.iter().fold(CallpathTable::default(), |all, map| all.union(&map.callpaths));
    let table = table.with_distinct_ids();
    let encoded: Vec<EncodedRank> = ranks.iter().map(|map| sent(map, &table)).collect();
    let facts = ManifestFacts::of_ranks(&encoded);
    let files = files(&table, &encoded, |callpaths, parts, ranks| {
        facts.manifest(ranks, callpaths, parts, RunMetadata::default(), PhaseTimes::default())
    });
    let read = read_in_every_way_within(&files, LIMITS).expect("what was written is read");
    for (rank, map) in ranks.iter().enumerate() {
        let index = map.callpaths.index_by_identity();
        for (at, _) in read.callpaths.iter() {
            let own = index.get(&read.callpaths.identities()[at.row()]);
            let expected = own.map(|own| map.values[own.row()].clone()).unwrap_or_default();
            assert_eq!(format!("{:?}", read.values(at, rank)), format!("{expected:?}"));
        }
        assert_same_facts(&read.ranks[rank], &map.facts);
    }
}

/// Compares the facts of ranks, except the numbers that the writer counts in their values.
fn assert_same_facts(again: &RankFacts, before: &RankFacts) {
    let said = |facts: &RankFacts| {
        let losses = Losses { executions_folded: 0, series_buckets_folded: 0, ..facts.losses };
        RankFacts { losses, ..facts.clone() }
    };
    assert_eq!(said(again), said(before));
}

/// Returns the files of a profile of one part.
fn files(
    table: &CallpathTable,
    ranks: &[EncodedRank],
    manifest: impl FnOnce(CallpathFile, Vec<PartFile>, u32) -> Manifest,
) -> Memory {
    let (callpaths, part) = (encode_callpaths(table), encode_part(0, table, ranks));
    let count = u32::try_from(ranks.len()).expect("few ranks");
    let dictionary = CallpathFile {
        file: "callpaths".to_owned(),
        bytes: callpaths.len() as u64,
        crc32: crc32fast::hash(&callpaths),
        callpaths: u32::try_from(table.len()).expect("few callpaths"),
    };
    let mut parts = vec![PartFile {
        file: "part-00000".to_owned(),
        first_rank: 0,
        ranks: count,
        bytes: part.len() as u64,
        crc32: crc32fast::hash(&part),
    }];
    if ranks.is_empty() {
        parts.clear();
    }
    let manifest = serde_json::to_vec(&manifest(dictionary, parts, count)).expect("JSON");
    Memory::from([("manifest.json", manifest), ("callpaths", callpaths), ("part-00000", part)])
}

/// Returns the data that arrives at the aggregator of a rank.
fn sent(map: &EventMap, table: &CallpathTable) -> EncodedRank {
    let mut rank = EncodedRank::of_event_map(map);
    rank.renumber(&map.callpaths, table);
    let (mut summary, mut series) = (Vec::new(), Vec::new());
    rank.append_summary(&mut summary);
    rank.append_series(&mut series);
    EncodedRank::from_messages(&summary, &series).expect("the messages are whole")
}
