//! Damage of every kind is an error that names the file, never a panic and never a wrong number.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files must fail")]

use std::fs;
use std::path::{Path, PathBuf};

use tinyprof_format::error::ReadError;
use tinyprof_format::file::{ProfileWriter, read_profile};
use tinyprof_format::model::{
    CallpathId, CallpathValues, ClockFacts, Edge, EdgeKey, EdgeKind, EventMap, ExecutionSummary,
    MessageKey, MessageKind, MetricBucket, MetricSummary, MetricValues, Mode, RankFacts, Region,
    RegionKind, SeriesBucket, SiteId, Traffic,
};

fn small_profile(scratch: &Path) -> PathBuf {
    let site = SiteId::from_bits(7);
    let region = Region {
        site,
        name: "main".into(),
        module: "app".into(),
        file: "src/main.rs".into(),
        line: 3,
        column: 1,
        kind: RegionKind::Function,
        mode: Mode::Each,
        rank_local: true,
        constants: [("tag".into(), "COMP".into())].into(),
    };
    let sampled = ExecutionSummary {
        visits: 9,
        sum_ns: 9_000,
        sum_variance_ns2: 12.5,
        ..ExecutionSummary::of_one_visit(1, 1_100)
    };
    let memory = MetricValues {
        executions: vec![
            MetricSummary::of_one_value(0, 1.5),
            MetricSummary::of_one_value(1, f64::INFINITY),
        ],
        series: vec![MetricBucket::of_one_value(0, 1.5)],
    };
    let values = CallpathValues {
        executions: vec![ExecutionSummary::of_one_visit(0, 1_000), sampled],
        series: vec![SeriesBucket::of_one_visit(0, 1_000), SeriesBucket::of_one_visit(1, 1_100)],
        metrics: [("mem".into(), memory.clone()), (String::new(), memory)].into(),
        messages: [(
            MessageKey::new(MessageKind::MessageOut, -1, 100),
            Traffic { count: 3, bytes: 300 },
        )]
        .into(),
        edges: [(
            EdgeKey { kind: EdgeKind::Message, partner: -1, from: CallpathId::root(site) },
            Edge { bytes: 300, ..Edge::of_one_instance(50) },
        )]
        .into(),
    };
    let record = (CallpathId::root(site), None, region, values);
    let clock = ClockFacts { companions: 3, ideal_ns: 900, ..ClockFacts::default() };
    let map = EventMap::from_records([record], RankFacts { clock, ..RankFacts::default() });
    let ranks = [map.clone(), map];
    ProfileWriter::new().write(&scratch.join("p"), &ranks).unwrap()
}

#[test]
fn every_cut_and_every_flipped_bit_names_the_file() {
    let scratch = tempfile::tempdir().unwrap();
    let path = small_profile(scratch.path());
    let whole = read_profile(&path).unwrap();
    for name in ["callpaths", "part-00000", "part-00001"] {
        let file = path.join(name);
        let bytes = fs::read(&file).unwrap();
        for cut in 0..bytes.len() {
            fs::write(&file, &bytes[..cut]).unwrap();
            let error = read_profile(&path).unwrap_err();
            assert!(matches!(error, ReadError::WrongLength { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains(name) && text.contains(&format!("offset {cut}")), "{text}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            fs::write(&file, &damaged).unwrap();
            let error = read_profile(&path).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
            assert!(error.contains("offset") || error.contains("version"), "{error}");
        }
        fs::write(&file, &bytes).unwrap();
    }
    assert_eq!(read_profile(&path).unwrap(), whole);
}

#[test]
fn a_damaged_section_is_named_by_its_own_offset() {
    let scratch = tempfile::tempdir().unwrap();
    let path = small_profile(scratch.path());
    let file = path.join("part-00001");
    let mut bytes = fs::read(&file).unwrap();
    let (header, frame) = (28, 20);
    let section = header + frame;
    bytes[section + 3] ^= 0xff;
    fs::write(&file, &bytes).unwrap();
    match read_profile(&path).unwrap_err() {
        ReadError::Damaged { path, offset, .. } => {
            assert_eq!((path, offset), (file, section as u64));
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_manifest_cut_anywhere_is_an_error() {
    let scratch = tempfile::tempdir().unwrap();
    let path = small_profile(scratch.path());
    let file = path.join("manifest.json");
    let bytes = fs::read(&file).unwrap();
    for cut in 0..bytes.len() - 2 {
        fs::write(&file, &bytes[..cut]).unwrap();
        assert!(
            matches!(read_profile(&path).unwrap_err(), ReadError::BadManifest { .. }),
            "cut at {cut}"
        );
    }
}

#[test]
fn a_profile_without_a_manifest_says_that_it_is_unfinished() {
    let scratch = tempfile::tempdir().unwrap();
    let path = small_profile(scratch.path());
    fs::remove_file(path.join("manifest.json")).unwrap();
    let error = read_profile(&path).unwrap_err();
    assert!(matches!(error, ReadError::NoManifest { unfinished: true, .. }), "{error}");
    let elsewhere = read_profile(&scratch.path().join("nothing.tprof")).unwrap_err();
    assert!(matches!(elsewhere, ReadError::NotFound { .. }), "{elsewhere}");
}

#[test]
fn a_newer_layout_says_what_to_do() {
    let scratch = tempfile::tempdir().unwrap();
    let path = small_profile(scratch.path());
    let file = path.join("manifest.json");
    let json = fs::read_to_string(&file).unwrap().replace("\"major\": 1", "\"major\": 9");
    fs::write(&file, json).unwrap();
    let error = read_profile(&path).unwrap_err();
    assert!(matches!(error, ReadError::NewerVersion { found: (9, _), .. }), "{error}");
    assert!(error.to_string().contains("update tinyprof"), "{error}");
}

#[test]
fn a_manifest_cannot_lead_out_of_its_directory() {
    let scratch = tempfile::tempdir().unwrap();
    let path = small_profile(scratch.path());
    let file = path.join("manifest.json");
    let json = fs::read_to_string(&file).unwrap().replace("\"part-00001\"", "\"../part-00001\"");
    fs::write(&file, json).unwrap();
    assert!(matches!(read_profile(&path).unwrap_err(), ReadError::BadManifest { .. }));
}

#[test]
fn a_taken_name_is_never_overwritten() {
    let scratch = tempfile::tempdir().unwrap();
    let first = small_profile(scratch.path());
    let before = fs::read(first.join("manifest.json")).unwrap();
    fs::write(scratch.path().join("p-1.tprof"), "a file of somebody's").unwrap();
    let second = small_profile(scratch.path());
    assert_eq!(second, scratch.path().join("p-2.tprof"));
    assert_eq!(fs::read(first.join("manifest.json")).unwrap(), before);
    assert_eq!(
        fs::read_to_string(scratch.path().join("p-1.tprof")).unwrap(),
        "a file of somebody's"
    );
    let left: Vec<_> =
        fs::read_dir(scratch.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "nothing unfinished is left: {left:?}");
}

#[test]
fn what_a_killed_run_has_left_is_not_in_the_way() {
    let scratch = tempfile::tempdir().unwrap();
    let left = scratch.path().join(format!("p.tprof.unfinished-{}", std::process::id()));
    fs::create_dir(&left).unwrap();
    fs::write(left.join("part-00000"), "half a part").unwrap();
    assert_eq!(small_profile(scratch.path()), scratch.path().join("p.tprof"));
    assert_eq!(fs::read_to_string(left.join("part-00000")).unwrap(), "half a part");
}
