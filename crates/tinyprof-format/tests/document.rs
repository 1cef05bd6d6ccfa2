//! The worked example of `docs/format.md` matches the current writer's output, byte by byte.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tinyprof_format::file::{ProfileWriter, read_profile};
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, Mode, RankFacts, Region, RegionKind,
    SiteId,
};

/// Returns one rank: `main` in two executions, 5 and 7 microseconds long, and `io` in both, which
/// takes most of that time.
fn recipe() -> EventMap {
    let region = |site, name: &str| Region {
        site: SiteId::from_bits(site),
        name: name.into(),
        module: "app".into(),
        file: "src/main.rs".into(),
        line: 3,
        column: 1,
        kind: RegionKind::Function,
        mode: Mode::Total,
        rank_local: false,
        constants: if name == "io" { [("tag".into(), "IO".into())].into() } else { [].into() },
    };
    let times = |ns: [u64; 2]| CallpathValues {
        executions: vec![
            ExecutionSummary::of_one_visit(0, ns[0]),
            ExecutionSummary::of_one_visit(1, ns[1]),
        ],
        ..CallpathValues::default()
    };
    let main = CallpathId::root(SiteId::from_bits(1));
    let records = [
        (main, None, region(1, "main"), times([5_000, 7_000])),
        (main.child(SiteId::from_bits(2)), Some(main), region(2, "io"), times([4_200, 6_200])),
    ];
    let facts =
        RankFacts { host: "node".into(), process_id: 300, threads: 1, ..RankFacts::default() };
    EventMap::from_records(records, facts)
}

/// Returns the bytes of a dump. Its lines have an offset, bytes of two digits, two spaces and their
/// meaning.
fn bytes_of(dump: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in dump.lines().filter(|line| !line.trim().is_empty()) {
        let (offset, rest) = line.split_once("  ").expect("an offset, and two spaces");
        assert_eq!(u64::from_str_radix(offset, 16), Ok(bytes.len() as u64), "{line}");
        let digits = rest.split("  ").next().expect("bytes").trim();
        bytes.extend(digits.split(' ').map(|byte| u8::from_str_radix(byte, 16).expect("a byte")));
    }
    bytes
}

#[test]
fn the_example_of_the_document_is_what_is_written() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let path =
        ProfileWriter::new().write(&scratch.path().join("p"), &[recipe()]).expect("it is written");
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/format.md");
    let document = fs::read_to_string(document).expect("the document is there");
    for file in ["callpaths", "part-00000"] {
        let (_, dump) = document
            .split_once(&format!("```text\nThe file {file}:\n\n"))
            .expect("a dump of the file");
        let (dump, _) = dump.split_once("```").expect("its end");
        let written = fs::read(path.join(file)).expect("the file is there");
        let mut shown = String::new();
        for (at, bytes) in written.chunks(16).enumerate() {
            let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(shown, "{:04x}  {}", at * 16, digits.join(" ")).expect("a string");
        }
        assert_eq!(bytes_of(dump), written, "{file} is now\n{shown}");
    }
    assert_eq!(read_profile(&path).expect("it is read").callpaths.len(), 2);
}
