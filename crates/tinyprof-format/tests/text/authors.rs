//! Tests with the authors' own files, which are not in the repository. If the files are missing,
//! these tests print a message and pass.

use std::env;
use std::fs;
use std::path::Path;

use tinyprof_format::file::{Permissions, read_profile, save_profile};
use tinyprof_format::text::{Imported, ProblemKind, read_text, write_text};

/// A file of 8 ranks, 2 executions, and loops of 101 iterations.
pub(crate) const LOOPS: &str = "lifeGame_8_loop_100.csv";

/// A file of 512 ranks.
pub(crate) const WIDE: &str = "sim_vis_512_1_1_512.csv";

/// Returns the text of one of the authors' files, if it is on this machine.
#[expect(clippy::print_stderr, reason = "whoever runs the tests must see that some did nothing")]
pub(crate) fn authors_file(name: &str) -> Option<String> {
    let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let directory =
        env::var("TINYPROF_SHARED_DATA").unwrap_or_else(|_| format!("{workspace}/../shared/data"));
    let text = fs::read_to_string(Path::new(&directory).join(name)).ok();
    if text.is_none() {
        eprintln!("skipped: {name} is not in {directory}; set TINYPROF_SHARED_DATA to where it is");
    }
    text
}

/// Returns all values in nanoseconds: by row, rank, execution, visit. Reads only undamaged files
/// with six decimals.
pub(crate) fn numbers(text: &str) -> Vec<Vec<Vec<Vec<u64>>>> {
    let value = |text: &str| {
        text.replace('.', "").parse::<u64>().expect("six digits behind the point") * 1_000
    };
    let visits = |text: &str| text.split('+').map(value).collect();
    let executions = |text: &str| text.split('-').filter(|t| !t.is_empty()).map(visits).collect();
    let times = |line: &str| {
        line.trim_end_matches('"').rsplit_once('"').expect("quoted times").1.to_owned()
    };
    text.lines().skip(1).map(|line| times(line).split('|').map(executions).collect()).collect()
}

fn imported(text: &str) -> Imported {
    read_text(text.as_bytes()).expect("the authors' file is read")
}

fn exported(imported: &Imported) -> String {
    let mut text = Vec::new();
    write_text(&imported.profile, &mut text).expect("text is written");
    String::from_utf8(text).expect("text is UTF-8")
}

#[test]
fn the_file_with_loops_is_whole_and_written_again_byte_by_byte() {
    let Some(text) = authors_file(LOOPS) else { return };
    let imported = imported(&text);
    assert_eq!(imported.salvage.problems, []);
    let profile = &imported.profile;
    assert_eq!(
        (profile.ranks.len(), profile.manifest.executions, profile.callpaths.len()),
        (8, 2, 10)
    );
    let exchange = profile.find("main<lifeChange<exchange").expect("the callpath");
    let values = profile.values(exchange, 0);
    assert_eq!(
        (values.series.len(), values.series[0].sum_ns, values.visits()),
        (202, 369_000, 202)
    );
    assert_eq!(profile.callpaths.get(exchange).region.constants["tag"], "COMM");
    // Only the delimiter between names differs.
    assert_eq!(exported(&imported).replace('<', "-"), text);
}

#[test]
fn the_wide_file_keeps_every_value_and_unequal_executions_are_told() {
    let Some(text) = authors_file(WIDE) else { return };
    let imported = imported(&text);
    assert!(imported.salvage.is_whole());
    let problems: Vec<_> =
        imported.salvage.problems.iter().map(|p| (p.line, p.id.as_str(), p.rank, p.kind)).collect();
    // 494 ranks have 61 executions and 18 have 62; rank 0 is the first of the latter.
    let unequal = "main-PART-exCell-recv-exBox";
    assert_eq!(problems, [(20, unequal, Some(0), ProblemKind::UnequalExecutions)]);
    assert!(
        imported.salvage.problems[0]
            .found
            .contains("61 executions on 494 ranks, 62 executions on 18 ranks")
    );
    assert_eq!((imported.profile.ranks.len(), imported.profile.callpaths.len()), (512, 39));
    assert_eq!(numbers(&exported(&imported)), numbers(&text));
}

#[test]
fn a_profile_of_the_authors_values_is_lossless() {
    for name in [LOOPS, WIDE] {
        let Some(text) = authors_file(name) else { continue };
        let imported = imported(&text);
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let path =
            save_profile(Permissions::Private, &scratch.path().join("run"), &imported.profile)
                .expect("it is written");
        let read = read_profile(&path).expect("it is read");
        assert_eq!(
            (&read.values, &read.callpaths),
            (&imported.profile.values, &imported.profile.callpaths)
        );
        let saved = Imported { profile: read, salvage: imported.salvage };
        assert_eq!(numbers(&exported(&saved)), numbers(&text));
    }
}
