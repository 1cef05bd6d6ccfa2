//! `docs/format.md` says what the code does: its worked example is the current writer's output,
//! byte by byte, and its lists of names are those of the model, as are those of the Python package.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tinyprof_format::file::{ProfileWriter, read_profile};
use tinyprof_format::model::{
    CallpathId, CallpathValues, CauseFacts, ClockFacts, Edge, EdgeKind, EventMap, ExecutionSummary,
    Losses, MessageKind, Mode, ProcessorFacts, RankFacts, Region, RegionKind, SiteId,
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

/// Returns a file of the repository.
fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(path).expect("the file is there")
}

/// Returns the words in `quotes` that come after `begin` and before `end`.
fn quoted(text: &str, begin: &str, end: &str, quotes: char) -> Vec<String> {
    let (_, list) = text.split_once(begin).unwrap_or_else(|| panic!("no \"{begin}\""));
    let (list, _) = list.split_once(end).unwrap_or_else(|| panic!("no \"{end}\""));
    list.split(quotes).skip(1).step_by(2).map(str::to_owned).collect()
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
    let document = text("docs/format.md");
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

#[test]
fn the_document_has_the_names_of_the_model_in_their_order() {
    let document = text("docs/format.md").replace('\n', " ");
    let named = |begin: &str, end: &str| quoted(&document, begin, end, '`');
    let end = "a greater one is damage";
    assert_eq!(named("| kind of messages |", end), MessageKind::ALL.map(MessageKind::name));
    assert_eq!(named("| kind of edges |", end), EdgeKind::ALL.map(EdgeKind::name));
    let row = EdgeKind::ALL.map(|kind| format!("{} `{}`", kind as u8, kind.name())).join(", ");
    assert!(document.contains(&format!("| kind of edges | {row}; {end} |")), "{row}");
    for names in
        [&Losses::NAMES[..], &ClockFacts::NAMES, &ProcessorFacts::NAMES, &CauseFacts::NAMES]
    {
        let begin = format!("in this order: `{}`", names[0]);
        let (_, list) = document.split_once(&begin).expect("a list");
        let list = format!("`{}`{list}", names[0]);
        assert_eq!(quoted(&list, "", "If there are fewer", '`'), names);
    }
}

#[test]
fn the_python_package_has_the_names_of_the_model_in_their_order() {
    let frames = text("python/tinyprof/frames.py");
    let named = |text: &str, begin: &str, end: &str| quoted(text, begin, end, '"');
    assert_eq!(named(&frames, "\nKINDS = (", "\n)"), MessageKind::ALL.map(MessageKind::name));
    assert_eq!(named(&frames, "\nEDGE_KINDS = (", "\n)"), EdgeKind::ALL.map(EdgeKind::name));
    let columns = named(&frames, "\nEDGE_TYPES = {", "\n}");
    let columns: Vec<&str> = columns.iter().step_by(2).map(String::as_str).collect();
    assert_eq!(columns[..4], ["rank", "kind", "partner", "from"]);
    assert_eq!(columns[4..], Edge::NAMES);
    let manifest = text("python/tinyprof/manifest.py");
    assert_eq!(named(&manifest, "\nLOSSES = (", "\n)"), Losses::NAMES);
    assert_eq!(named(&manifest, "\nCLOCK_FACTS = (", "\n)"), ClockFacts::NAMES);
    assert_eq!(named(&manifest, "\nPROCESSOR_FACTS = (", "\n)"), ProcessorFacts::NAMES);
    let causes = text("python/tinyprof/causes.py");
    assert_eq!(named(&causes, "\nFACTS = (", "\n)"), CauseFacts::NAMES);
    // The native module has the same columns.
    let native = text("python/src/arrays.rs");
    let native = named(&native, "pub(crate) fn of_edges", "Ok(to)");
    assert_eq!(native, columns);
}
