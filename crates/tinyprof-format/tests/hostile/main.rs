//! Files that claim more than they contain: no reader exceeds its memory limit, and every reader
//! terminates.

mod allocator;
mod files;
mod segment;
mod versions;

use allocator::peak_bytes;
use files::{Files, constant, dictionary, facts, profile, sections, varint, whole};
use tinyprof_format::error::ReadError;
use tinyprof_format::file::{ProfileReader, ReadOptions, decode_callpaths};

const METRICS: u32 = 1 << 31;
/// The maximum that one column may claim.
const MOST: u64 = 1 << 27;
const LIMIT_BYTES: u64 = 16 << 20;

/// Reads hostile files in every way within the limit, and returns the error of reading them as a
/// whole.
fn refused(files: &Files) -> ReadError {
    let options = ReadOptions::default().with_memory_bytes(LIMIT_BYTES);
    let within = |what: &str, peak: usize| {
        assert!(
            peak as u64 <= LIMIT_BYTES,
            "{what} took {peak} bytes at a time, {LIMIT_BYTES} are allowed"
        );
    };
    let (salvaged, peak) = peak_bytes(|| options.salvage_of(files).map(drop));
    within("to salvage", peak);
    drop(salvaged);
    let ((), peak) = peak_bytes(|| {
        if let Ok(reader) = ProfileReader::of_source(files.clone(), options) {
            for (index, _) in reader.callpaths().iter().take(3) {
                drop((reader.callpath(index), reader.callpath_of_rank(index, 0)));
            }
        }
    });
    let held: usize = files.values().map(Vec::len).sum();
    within("to read callpath by callpath", peak - held);
    let ((), peak) = peak_bytes(|| {
        if let Ok(reader) = ProfileReader::of_source(files.clone(), options) {
            let children = reader.callpaths().children();
            let passed = reader.each_callpath(children.roots(), |_, _| Ok::<(), ReadError>(()));
            drop(passed);
        }
    });
    within("to pass over all callpaths", peak - held);
    let (read, peak) = peak_bytes(|| options.read_of(files).map(drop));
    within("to read", peak);
    read.expect_err("such a profile is refused")
}

fn is_over_limit(files: &Files) {
    let error = refused(files);
    assert!(matches!(error, ReadError::OverLimit { limit_bytes: LIMIT_BYTES, .. }), "{error}");
    assert!(error.to_string().contains("--memory"), "{error}");
}

#[test]
fn a_profile_of_this_making_is_read() {
    // Kind 0: one summary on each rank, of execution 0, with a sum of 5.
    let times = [&[16][..], &constant(1), &constant(0), &constant(5), &[0]].concat();
    let files = profile(3, 2, vec![(0, times.clone()), (1, times)]);
    let read = ReadOptions::default().read_of(&files).expect("it is read");
    assert!(read.values.iter().flatten().all(|values| values.inclusive_ns() == 5));
}

#[test]
fn equal_summaries_in_few_bytes() {
    let single = [&[16][..], &constant(MOST), &constant(0), &constant(5), &[0]].concat();
    is_over_limit(&profile(1, 1, vec![(0, single)]));
    let exclusive = [&[16 | 32][..], &constant(1 << 19), &constant(0), &constant(5), &[0]].concat();
    is_over_limit(&profile(1, 2, vec![(0, exclusive.clone()), (1, exclusive)]));
    let timed = [&[17][..], &constant(1 << 20), &constant(0).repeat(7), &[0]].concat();
    is_over_limit(&profile(1, 1, vec![(0, timed)]));
}

#[test]
fn equal_visits_of_a_series_in_few_bytes() {
    let no_summaries = [&[16][..], &constant(0), &constant(0), &constant(0)].concat();
    let series =
        [varint(MOST), varint(1), constant(0), constant(MOST), constant(1), constant(7)].concat();
    let own =
        [no_summaries.clone(), vec![1], constant(series.len() as u64), series.repeat(3)].concat();
    is_over_limit(&profile(3, 1, vec![(0, own)]));
    let ranks = 4096;
    let joined =
        [constant(1), constant(0), constant(1024), constant(1), constant(7), vec![0]].concat();
    is_over_limit(&profile(ranks, 1, vec![(0, [no_summaries, vec![2], joined.clone()].concat())]));
    is_over_limit(&profile(ranks, 1, vec![(0, [vec![19], joined].concat())]));
}

#[test]
fn more_ranks_than_can_be() {
    for (ranks, callpaths) in [(u32::MAX, 0), (u32::MAX, 1), (1 << 20, 5), (1 << 10, 1 << 10)] {
        is_over_limit(&profile(ranks, callpaths, Vec::new()));
    }
}

#[test]
fn more_callpaths_than_can_be() {
    is_over_limit(&profile(1, 100_000, Vec::new()));
    // The bytes of the dictionary exist: the memory that the reader uses for each row must not
    // exceed its own estimate.
    for rows in [10_000, 50_000] {
        let bytes = dictionary(rows, "r");
        let (read, peak) = peak_bytes(|| decode_callpaths(&bytes));
        let table = read.expect("it is read");
        assert_eq!(table.len() as u64, rows);
        assert!(peak as u64 <= rows * 1_024, "{} bytes a row", peak as u64 / rows);
    }
}

#[test]
fn one_long_name_of_many_callpaths() {
    let name = "n".repeat(100_000);
    let part = sections(b"TPRFPART", &[0, 1, 2_000], &[(u32::MAX, facts(1))]);
    is_over_limit(&whole(1, 2_000, dictionary(2_000, &name), part));
}

#[test]
fn one_long_host_of_many_ranks() {
    let host = [varint(1), varint(100_000), vec![b'h'; 100_000], varint(2_000)].concat();
    let facts = [host, constant(1).repeat(3), varint(12), constant(0).repeat(12)].concat();
    let part = sections(b"TPRFPART", &[0, 2_000, 0], &[(u32::MAX, facts)]);
    is_over_limit(&whole(2_000, 0, dictionary(0, ""), part));
}

#[test]
fn one_long_key_on_many_ranks_and_many_keys() {
    let metric = |key: &[u8]| {
        let columns =
            [constant(1), constant(0), constant(1), constant(1), constant(5), vec![0], constant(0)];
        [varint(key.len() as u64), key.to_vec(), columns.concat()].concat()
    };
    let long = [varint(1), metric(&[b'k'; 100_000])].concat();
    is_over_limit(&profile(2_000, 1, vec![(METRICS, long)]));
    let keys: Vec<u8> =
        (0..2_000_u32).flat_map(|key| metric(&format!("{key:05}").into_bytes())).collect();
    is_over_limit(&profile(1_000, 1, vec![(METRICS, [varint(2_000), keys].concat())]));
    let many = [
        constant(1 << 25),
        constant(0),
        constant(1),
        constant(1),
        constant(5),
        vec![0],
        constant(0),
    ];
    is_over_limit(&profile(1, 1, vec![(METRICS, [vec![1, 1, b'k'], many.concat()].concat())]));
    let values =
        [varint(MOST), varint(1), constant(0), constant(MOST), constant(1), constant(7)].concat();
    let none = [constant(0).repeat(5), vec![0], constant(values.len() as u64), values].concat();
    is_over_limit(&profile(1, 1, vec![(METRICS, [vec![1, 1, b'k'], none].concat())]));
}

#[test]
fn work_that_leaves_nothing_behind_comes_to_an_end() {
    // 20,000 sections of 9 bytes, for each of which a column of 12,000 ranks is filled in vain.
    let nothing = [&[16][..], &constant(0), &constant(0), &constant(0), &[0]].concat();
    let ranks = 12_000;
    let sections = (0..1_u32).map(|row| (row, nothing.clone())).collect();
    let options = ReadOptions::default().with_memory_bytes(LIMIT_BYTES);
    options.read_of(&profile(ranks, 1, sections)).expect("one is read");
    let rows = 20_000;
    let sections = (0..rows).map(|row| (row, nothing.clone())).collect();
    is_over_limit(&profile(ranks, rows, sections));
}

#[test]
fn sections_that_overlap_or_are_there_twice() {
    let part = |entries: &[(u32, u64, u64)]| {
        let mut file = sections(b"TPRFPART", &[0, 1, 1], &[]);
        file.truncate(file.len() - 24);
        file.extend([0; 40]);
        let offset = file.len() as u64;
        let index: Vec<u8> = entries
            .iter()
            .flat_map(|&(key, at, length)| {
                let checksum = crc32fast::hash(
                    &file[usize::try_from(at).expect("small")..]
                        [..usize::try_from(length).expect("small")],
                );
                [
                    &key.to_le_bytes()[..],
                    &at.to_le_bytes(),
                    &length.to_le_bytes(),
                    &checksum.to_le_bytes(),
                ]
                .concat()
            })
            .collect();
        let count = u32::try_from(entries.len()).expect("few sections");
        let end = [
            &offset.to_le_bytes()[..],
            &count.to_le_bytes(),
            &crc32fast::hash(&index).to_le_bytes(),
        ];
        [file, index, end.concat(), b"TPRFEND\n".to_vec()].concat()
    };
    for (entries, expected) in [
        ([(u32::MAX, 28, 10), (0, 37, 5)], "overlaps another"),
        ([(u32::MAX, 38, 10), (0, 28, 5)], "overlaps another"),
        ([(u32::MAX, 20, 10), (0, 38, 5)], "overlaps another"),
        ([(0, 28, 10), (0, 38, 5)], "there twice"),
    ] {
        let error = refused(&whole(1, 1, dictionary(1, "r"), part(&entries))).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_manifest_of_many_empty_names() {
    let mut files = profile(1, 1, Vec::new());
    let manifest = String::from_utf8(files["manifest.json"].clone()).expect("JSON is UTF-8");
    let hosts = "\"\",".repeat(500_000);
    let hosts = format!("\"metadata\":{{\"hostlist\":[{}]}}", hosts.trim_end_matches(','));
    files.insert("manifest.json", manifest.replace("\"metadata\":{}", &hosts).into_bytes());
    is_over_limit(&files);
}
