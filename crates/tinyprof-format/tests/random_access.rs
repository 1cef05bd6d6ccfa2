//! Reading one callpath of a wide profile without the others: only its own bytes, and the index.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tinyprof_format::error::ReadError;
use tinyprof_format::file::{
    Directory, ProfileReader, ProfileWriter, ReadOptions, Source, read_profile,
};
use tinyprof_format::model::{
    CallpathId, CallpathIndex, CallpathValues, EventMap, ExecutionSummary, Mode, RankFacts, Region,
    RegionKind, SeriesBucket, SiteId,
};

/// A directory that counts the bytes read from each file.
#[derive(Clone)]
struct Counted {
    directory: Directory,
    read: Rc<RefCell<BTreeMap<String, u64>>>,
}

impl Source for Counted {
    fn path(&self, file: &str) -> PathBuf {
        self.directory.path(file)
    }

    fn length(&self, file: &str) -> io::Result<u64> {
        self.directory.length(file)
    }

    fn read(&self, file: &str, offset: u64, bytes: usize) -> io::Result<Vec<u8>> {
        *self.read.borrow_mut().entry(file.to_owned()).or_default() += bytes as u64;
        self.directory.read(file, offset, bytes)
    }

    fn names(&self) -> Vec<String> {
        self.directory.names()
    }
}

const RANKS: u32 = 64;
const RANKS_PER_PART: u32 = 16;
const CALLPATHS: u64 = 50;

/// Returns a rank with a root and 49 leaves below it. The leaves take nearly all of the root's
/// time, so that its sums are stored as exclusive times.
fn rank(rank: u32) -> EventMap {
    let region = |site: u64| Region {
        site: SiteId::from_bits(site),
        name: format!("r{site}"),
        module: "m".into(),
        file: "f.rs".into(),
        line: 1,
        column: 1,
        kind: RegionKind::Function,
        mode: Mode::Each,
        rank_local: false,
        constants: [].into(),
    };
    let noise =
        |site: u64, i: u64| (site * 7_919 + i * 104_729 + u64::from(rank) * 1_299_709) % 1_000_003;
    let root = CallpathId::root(SiteId::from_bits(0));
    let mut records = Vec::new();
    for site in 0..CALLPATHS {
        let id = if site == 0 { root } else { root.child(SiteId::from_bits(site)) };
        let all = |i: u64| (1..CALLPATHS).map(|site| noise(site, i)).sum::<u64>();
        let ns = |i: u64| if site == 0 { all(i) + 40 } else { noise(site, i) };
        let executions =
            (0..20).map(|i| ExecutionSummary::of_one_visit(u32::try_from(i).expect("few"), ns(i)));
        let series =
            (0..20).map(|i| SeriesBucket::of_one_visit(u32::try_from(i).expect("few"), ns(i) / 2));
        let (executions, series) =
            (executions.collect(), if site == 0 { Vec::new() } else { series.collect() });
        let values = CallpathValues { executions, series, ..CallpathValues::default() };
        let parent = (site > 0).then_some(root);
        records.push((id, parent, region(site), values));
    }
    EventMap::from_records(
        records,
        RankFacts { host: format!("node{}", rank / 8), ..RankFacts::default() },
    )
}

fn written(scratch: &Path) -> PathBuf {
    let ranks: Vec<EventMap> = (0..RANKS).map(rank).collect();
    let per_part = RANKS_PER_PART as usize;
    ProfileWriter::new()
        .with_ranks_per_part(per_part)
        .write(&scratch.join("run"), &ranks)
        .expect("it is written")
}

fn opened(path: &Path) -> (ProfileReader<Counted>, Counted) {
    let source = Counted { directory: Directory::new(path), read: Rc::default() };
    let reader =
        ProfileReader::of_source(source.clone(), ReadOptions::default()).expect("it is opened");
    (reader, source)
}

fn find(reader: &ProfileReader<Counted>, name: &str) -> CallpathIndex {
    let found = reader.callpaths().iter().find(|(_, callpath)| callpath.region.name == name);
    found.expect("the callpath is there").0
}

#[test]
fn every_callpath_alone_is_what_it_is_with_the_others() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let path = written(scratch.path());
    let whole = read_profile(&path).expect("it is read");
    let (reader, _) = opened(&path);
    for (index, _) in whole.callpaths.iter() {
        assert_eq!(reader.callpath(index).expect("it is read"), whole.values[index.row()]);
        for rank in [0, 15, 16, 63] {
            let values = reader.callpath_of_rank(index, rank).expect("it is read");
            assert_eq!(&values, whole.values(index, rank as usize));
        }
    }
}

#[test]
fn a_callpath_reads_its_own_bytes_and_the_index_only() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let path = written(scratch.path());
    let (reader, source) = opened(&path);
    let read = || std::mem::take(&mut *source.read.borrow_mut());
    assert_eq!(read().keys().collect::<Vec<_>>(), ["callpaths", "manifest.json"]);
    let leaf = find(&reader, "r7");
    reader.callpath_of_rank(leaf, 20).expect("it is read");
    let once = read();
    assert_eq!(once.keys().collect::<Vec<_>>(), ["part-00001"], "no part without the rank");
    // The header, the footer, and an index entry for each callpath and for the ranks.
    let index = 28 + 24 + 24 * (CALLPATHS + 1);
    reader.callpath_of_rank(leaf, 21).expect("it is read");
    let again = read()["part-00001"];
    assert_eq!(once["part-00001"], index + again, "the index is read once");
    let part = reader.manifest().parts[1].bytes;
    assert!(again * 40 < part && again > 100, "{again} of {part} bytes");
    reader.callpath(leaf).expect("it is read");
    let all = read();
    assert_eq!(all.len(), 4, "one in each part");
    assert_eq!(all["part-00001"], again);
    // The root's sums are stored without those of its callees, so these are read too.
    reader.callpath_of_rank(find(&reader, "r0"), 20).expect("it is read");
    assert!(read()["part-00001"] > 30 * again);
}

#[test]
fn callpaths_that_are_asked_for_together_are_read_once() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let path = written(scratch.path());
    let whole = read_profile(&path).expect("it is read");
    let (reader, source) = opened(&path);
    let sum = || std::mem::take(&mut *source.read.borrow_mut()).values().sum::<u64>();
    let two = [find(&reader, "r9"), find(&reader, "r7")];
    let alone: Vec<u64> = two
        .iter()
        .map(|&callpath| {
            reader.callpath(callpath).expect("it is read");
            sum();
            reader.callpath(callpath).expect("it is read");
            sum()
        })
        .collect();
    let values = reader.of_callpaths(&two).expect("they are read");
    assert_eq!(
        values,
        two.map(|callpath| whole.values[callpath.row()].clone()),
        "in the order of the list"
    );
    assert_eq!(sum(), alone[0] + alone[1]);
    assert_eq!(reader.ranks().expect("they are read"), whole.ranks);
    let ranks = sum();
    // The sums of the root depend on those of all other callpaths, which are also requested.
    let all: Vec<CallpathIndex> = whole.callpaths.iter().map(|(index, _)| index).collect();
    assert_eq!(reader.of_callpaths(&all).expect("they are read"), whole.values);
    let parts: u64 = reader.manifest().parts.iter().map(|part| part.bytes).sum();
    let around = 4 * (28 + 24 + (20 + 24) * (CALLPATHS + 1));
    assert_eq!(sum() + ranks + around, parts, "every section once");
}

#[test]
fn damage_elsewhere_is_not_in_the_way_and_damage_here_is_named() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let path = written(scratch.path());
    let (reader, source) = opened(&path);
    let file = path.join("part-00000");
    let whole = std::fs::read(&file).expect("the part");
    let leaf = find(&reader, "r7");
    let expected = reader.callpath(leaf).expect("it is read");
    source.read.borrow_mut().clear();
    let mut refused = 0;
    for at in (0..whole.len()).step_by(97) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&file, &damaged).expect("it is damaged");
        match opened(&path).0.callpath(leaf) {
            Ok(values) => assert_eq!(values, expected),
            Err(ReadError::Damaged { path, .. }) => {
                assert_eq!(path, file);
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    let index_and_section = 24 * CALLPATHS + 1_000;
    assert!((1..=index_and_section / 97 + 2).contains(&refused), "{refused} refused");
}

#[test]
fn events_of_some_ranks_are_read_without_those_of_others() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles/format-1.1-events");
    let read = Rc::new(RefCell::new(BTreeMap::new()));
    let source = Counted { directory: Directory::new(&path), read: Rc::clone(&read) };
    let reader = ProfileReader::of_source(source, ReadOptions::default()).expect("a profile");
    let whole = read_profile(&path).expect("a profile");
    let of = |is_wanted: &dyn Fn(u32) -> bool| {
        let mut found = Vec::new();
        reader
            .each_events_of(is_wanted, |rank, events| {
                let expected = whole.ranks[rank as usize].events.as_deref();
                assert_eq!(Some(events), expected, "rank {rank}");
                found.push(rank);
                Ok::<(), ReadError>(())
            })
            .expect("they are read");
        found
    };
    assert_eq!(of(&|rank| rank == 2), [2]);
    assert_eq!(read.borrow().get("part-00000"), None, "none of its ranks is wanted");
    assert_eq!((of(&|_| true), of(&|rank| rank == 1)), (vec![0, 2], Vec::new()));
    // The errors of who visits them end the pass.
    let stopped = reader.each_events(|_, _| Err::<(), _>(Stop));
    assert!(matches!(stopped, Err(Stop)));
}

/// The error of a visitor.
#[derive(Debug)]
struct Stop;

impl From<ReadError> for Stop {
    fn from(error: ReadError) -> Self {
        panic!("{error}")
    }
}
