//! A pass over a profile, callpath by callpath: the values of the whole, in little memory.

#[path = "hostile/allocator.rs"]
mod allocator;

use std::path::{Path, PathBuf};

use allocator::peak_bytes;
use proptest::prelude::*;
use tinyprof_format::error::ReadError;
use tinyprof_format::file::{
    BufferedDirectory, Directory, ProfileReader, ProfileWriter, ReadOptions, Source, read_profile,
};
use tinyprof_format::model::{
    CallpathId, CallpathIndex, CallpathValues, EventMap, ExecutionSummary, MessageKey, MessageKind,
    RankFacts, Region, SiteId, Traffic,
};

/// One callpath of a random tree on one rank: the executions that it skips, and its own times.
type Own = (u8, Vec<u16>);

/// Returns a rank with a tree in which row n hangs below row `parents[n] % n`.
fn rank(parents: &[usize], own: &[Own]) -> EventMap {
    let executions = own.iter().map(|(_, times)| times.len()).max().unwrap_or(0);
    let mut sums = vec![vec![None; executions]; own.len()];
    for (row, (skipped, times)) in own.iter().enumerate().rev() {
        for (execution, &ns) in times.iter().enumerate() {
            let below: u64 = sums[row][execution].unwrap_or(0);
            let is_there = skipped >> (execution % 8) & 1 == 0 || below > 0;
            if !is_there {
                continue;
            }
            sums[row][execution] = Some(below + u64::from(ns));
            if let Some(parent) = parents[row].checked_rem(row) {
                let above = sums[parent][execution].get_or_insert(0);
                *above += below + u64::from(ns);
            }
        }
    }
    let mut ids: Vec<CallpathId> = Vec::new();
    let records = (0..own.len()).map(|row| {
        let site = SiteId::from_bits(row as u64 + 1);
        let parent = parents[row].checked_rem(row).map(|parent| ids[parent]);
        let id = parent.map_or_else(|| CallpathId::root(site), |parent| parent.child(site));
        ids.push(id);
        let one = |(execution, ns): (u32, &Option<u64>)| {
            ns.map(|ns| ExecutionSummary::of_one_visit(execution, ns))
        };
        let executions = (0..).zip(&sums[row]).filter_map(one).collect();
        let values = CallpathValues { executions, ..CallpathValues::default() };
        (id, parent, Region::named(site, format!("r{row}")), values)
    });
    EventMap::from_records(records.collect::<Vec<_>>(), RankFacts::default())
}

fn written(scratch: &Path, ranks: &[EventMap], per_part: usize) -> PathBuf {
    let writer = ProfileWriter::new().with_ranks_per_part(per_part);
    writer.write(&scratch.join("run"), ranks).expect("it is written")
}

/// Returns all values, in the order of the pass.
fn passed<S: Source>(reader: &ProfileReader<S>) -> Vec<(CallpathIndex, Vec<CallpathValues>)> {
    let mut all = Vec::new();
    let found: Result<(), ReadError> =
        reader.each_callpath(reader.callpaths().children().roots(), |index, values| {
            all.push((index, values.to_vec()));
            Ok(())
        });
    found.expect("it is read");
    all
}

/// Checks that a pass gives every callpath once, after its callees, with the values of the whole.
fn check(path: &Path) {
    let whole = read_profile(path).expect("it is read");
    let options = ReadOptions::default();
    for room_bytes in [0, 2_000, 1 << 20] {
        let source = BufferedDirectory::new(path, room_bytes);
        let reader = ProfileReader::of_source(source, options).expect("it is opened");
        let mut rest: Vec<Option<&Vec<CallpathValues>>> = whole.values.iter().map(Some).collect();
        for (index, values) in passed(&reader) {
            assert_eq!(rest[index.row()].take(), Some(&values), "{index:?}");
            if let Some(parent) = whole.callpaths.get(index).parent {
                assert!(rest[parent.row()].is_some(), "the caller comes later");
            }
        }
        assert!(rest.iter().all(Option::is_none), "every callpath comes");
    }
}

#[test]
fn frozen_profiles_pass_as_they_are_read() {
    let profiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles");
    let mut found = 0;
    for entry in std::fs::read_dir(profiles).expect("the profiles").flatten() {
        if entry.path().join("manifest.json").exists() {
            check(&entry.path());
            found += 1;
        }
    }
    assert!(found >= 5, "{found} profiles");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_tree_passes_as_it_is_read(
        parents in prop::collection::vec(0_usize..20, 12),
        ranks in prop::collection::vec(
            prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u16>(), 0..9)), 12),
            1..7,
        ),
        per_part in 1_usize..4,
    ) {
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let ranks: Vec<EventMap> = ranks.iter().map(|own| rank(&parents, own)).collect();
        check(&written(scratch.path(), &ranks, per_part));
    }
}

/// A small run of many calls: a section holds the messages of hundreds of callpaths, and the memory
/// limit of so short files is far below that of the command.
#[test]
fn many_callpaths_with_messages_pass_in_the_memory_of_short_files() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let parents: Vec<usize> = (0..1_500_usize).map(|row| row.saturating_sub(1) / 9).collect();
    let ranks = (0..3_u64).map(|number| {
        let mut map = rank(&parents, &vec![(0, vec![7]); parents.len()]);
        for values in &mut map.values {
            for partner in [1, -1] {
                let key = MessageKey::new(MessageKind::MessageOut, partner, 8);
                values.messages.insert(key, Traffic { count: number + 1, bytes: 8 * number + 8 });
            }
        }
        map
    });
    let path = written(scratch.path(), &ranks.collect::<Vec<_>>(), 16);
    check(&path);
    let options = ReadOptions::default();
    let source = BufferedDirectory::new(&path, options.memory_bytes() / 8);
    let reader = ProfileReader::of_source(source, options).expect("it is opened");
    assert_eq!(passed(&reader).len(), parents.len());
}

/// 256 ranks x 64 callpaths x 16 executions.
fn wide(scratch: &Path) -> PathBuf {
    let parents: Vec<usize> = (0..64_usize).map(|row| row.saturating_sub(1) / 3).collect();
    let ranks = (0..256_u16).map(|number| {
        let times = |row: u16| (0..16).map(|i| number * 7 + row * 31 + i * 1_009).collect();
        rank(&parents, &(0..64).map(|row| (0, times(row))).collect::<Vec<Own>>())
    });
    written(scratch, &ranks.collect::<Vec<_>>(), 16)
}

#[test]
fn a_pass_takes_the_memory_of_a_few_callpaths() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let path = wide(scratch.path());
    let (whole, peak_of_all) = peak_bytes(|| read_profile(&path).expect("it is read"));
    drop(whole);
    let (count, peak) = peak_bytes(|| {
        let reader = ProfileReader::open(&path).expect("it is opened");
        let mut count = 0;
        let roots = reader.callpaths().children();
        let found: Result<(), ReadError> = reader.each_callpath(roots.roots(), |_, _| {
            count += 1;
            Ok(())
        });
        found.map(|()| count).expect("it is read")
    });
    assert_eq!(count, 64);
    assert!(peak * 8 < peak_of_all, "{peak} of {peak_of_all} bytes");
}

#[test]
fn a_pass_stays_within_its_limit_or_is_refused() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let path = wide(scratch.path());
    let mut outcomes = [0, 0];
    for limit in (10..28).map(|bits| 1_u64 << bits) {
        let options = ReadOptions::default().with_memory_bytes(limit);
        let (refused, peak) = peak_bytes(|| {
            let reader = match ProfileReader::of_source(Directory::new(&path), options) {
                Ok(reader) => reader,
                Err(error) => return Some(error),
            };
            let roots = reader.callpaths().children();
            reader.each_callpath(roots.roots(), |_, _| Ok::<(), ReadError>(())).err()
        });
        assert!(peak as u64 <= limit + (64 << 10), "{peak} bytes, {limit} are allowed");
        match refused {
            None => outcomes[1] += 1,
            Some(ReadError::OverLimit { .. }) => outcomes[0] += 1,
            Some(other) => panic!("{other}"),
        }
    }
    assert!(outcomes[0] > 3 && outcomes[1] > 3, "{outcomes:?}");
}

#[test]
fn damage_between_sections_is_found_by_the_checksums_of_parts() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let path = wide(scratch.path());
    let open = || ProfileReader::open(&path).expect("it is opened");
    open().verify_parts().expect("it is intact");
    let file = path.join("part-00003");
    let mut bytes = std::fs::read(&file).expect("a part");
    // The frame of the first section, behind the header of 28 bytes.
    bytes[30] ^= 1;
    std::fs::write(&file, bytes).expect("it is damaged");
    assert_eq!(passed(&open()).len(), 64, "a pass does not need it");
    let error = open().verify_parts().expect_err("it is damaged");
    assert!(error.to_string().contains("part-00003"), "{error}");
    let whole = read_profile(&path).expect_err("it is damaged");
    assert_eq!(error.to_string(), whole.to_string());
}
