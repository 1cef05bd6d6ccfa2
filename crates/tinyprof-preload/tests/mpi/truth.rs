//! What is said of waiting, beside the truth: programs that stamp their own calls in memory that
//! their ranks share, and compute from that by Scalasca's definitions who waited, and how long.
//!
//! What is said must be within 1 ms and 2 % of that, or be counted as not followed or unclear.

mod patterns;
pub(crate) mod payloads;
mod statement;

use std::path::Path;

use tempfile::TempDir;

use self::patterns::{COLLECTIVES, COMMUNICATORS, ONE_SIDED, Pattern, RECEIVES, SENDS, THREADS};
use self::statement::Statement;
use crate::messages::Way;
use crate::support::{compile_with, mpicc, profiled_with};

const REPETITIONS: &str = "4";
const EXTRA_US: &str = "20000";

/// Runs patterns of a program, and prints what is said of each. With `ranks` of them, or the least
/// number that a pattern needs. Returns those that are worse than expected.
#[expect(clippy::print_stderr, reason = "the table is what a full run is for")]
fn run_all(family: &str, patterns: &[Pattern], way: Way, ranks: usize) -> Vec<String> {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = directory.path().join(family);
    compile_with(&mpicc(), &["-lpthread"], &format!("truth/{family}.c"), &program);
    let inner = directory.path().join("libinner.so");
    compile_with(&mpicc(), &["-shared", "-fPIC"], "truth/inner.c", &inner);
    let mut worse = Vec::new();
    for pattern in patterns {
        let ranks = ranks.max(pattern.ranks);
        let statement = run([&program, &inner], pattern, way, ranks, &directory);
        let verdict = statement.verdict();
        let lines = statement.lines().join("\n    ");
        let text = format!("{}, {ranks} ranks, {way:?}: {verdict:?}\n    {lines}", pattern.name);
        eprintln!("{text}");
        if verdict > pattern.expected {
            worse.push(text);
        }
    }
    worse
}

fn check(family: &str, patterns: &[Pattern]) {
    let worse = run_all(family, patterns, Way::Lanes, 2);
    assert!(worse.is_empty(), "worse than expected:\n{}", worse.join("\n"));
}

fn run(
    [program, inner]: [&Path; 2],
    pattern: &Pattern,
    way: Way,
    ranks: usize,
    directory: &TempDir,
) -> Statement {
    // A fresh one for each run: its ranks meet in a file of their own.
    let stamps = tempfile::tempdir_in(directory.path()).expect("a directory can be made");
    let arguments = [pattern.name, REPETITIONS, EXTRA_US].map(Path::new);
    let arguments = [&arguments[..], &[stamps.path()]].concat();
    let settings = pattern.variables.iter().map(|(name, value)| (*name, value.into()));
    let preload = format!("{}:{}", way.preload(directory), inner.display());
    let mut variables = vec![("LD_PRELOAD", preload.into())];
    variables.extend(settings);
    let profile =
        profiled_with(&variables, program, &arguments, ranks, directory.path(), "messages");
    Statement::of(&profile, stamps.path())
}

#[test]
#[ignore = "compares times, see scripts/truth.sh"]
fn waiting_of_receives_is_true() {
    check("receives", RECEIVES);
}

#[test]
#[ignore = "compares times, see scripts/truth.sh"]
fn waiting_of_sends_is_true() {
    check("sends", SENDS);
}

#[test]
#[ignore = "compares times, see scripts/truth.sh"]
fn waiting_at_collectives_is_true() {
    check("collectives", COLLECTIVES);
}

#[test]
#[ignore = "compares times, see scripts/truth.sh"]
fn waiting_around_communicators_is_true() {
    check("communicators", COMMUNICATORS);
}

#[test]
#[ignore = "compares times, see scripts/truth.sh"]
fn waiting_of_one_sided_operations_is_true() {
    check("one_sided", ONE_SIDED);
}

#[test]
#[ignore = "compares times, see scripts/truth.sh"]
fn waiting_of_several_threads_is_true() {
    check("threads", THREADS);
}

/// The same on more ranks than processors, and by messages of MPI.
#[test]
#[ignore = "takes minutes, see scripts/truth.sh"]
fn waiting_is_true_on_more_ranks_and_by_mail() {
    let families = [
        ("receives", RECEIVES),
        ("sends", SENDS),
        ("collectives", COLLECTIVES),
        ("communicators", COMMUNICATORS),
        ("one_sided", ONE_SIDED),
        ("threads", THREADS),
    ];
    let mut worse = Vec::new();
    for (way, ranks) in [(Way::Mail, 2), (Way::Lanes, 3), (Way::Lanes, 4), (Way::Mail, 3)] {
        for (family, patterns) in families {
            worse.extend(run_all(family, patterns, way, ranks));
        }
    }
    assert!(worse.is_empty(), "worse than expected:\n{}", worse.join("\n"));
}
