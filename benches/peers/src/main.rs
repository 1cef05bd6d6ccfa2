//! Prints the table "TinyProf and its peers": runs every program of `src/bin` in turn, for a number
//! of rounds.
//!
//!     tinyprof-peers [ROUNDS]

use std::path::Path;
use std::process::{Command, ExitCode};

/// What is compared: the program, the package whose version is shown, the name in the table, and
/// what the time buys.
const PEERS: &[(&str, &str, &str, &str)] = &[
    ("baseline", "", "two bare reads of the counter", "nothing; measured against itself"),
    (
        "tinyprof_loop_total",
        "tinyprof",
        "TinyProf, an iteration, `mode = total`",
        "a tree: count, sum, min, max, squares",
    ),
    (
        "tinyprof_loop_each",
        "tinyprof",
        "TinyProf, an iteration, `mode = each`",
        "the same, and every iteration's time",
    ),
    (
        "tinyprof_function",
        "tinyprof",
        "TinyProf, `#[profile]`",
        "a tree: count, sum, min, max, squares",
    ),
    (
        "tinyprof_scope_each",
        "tinyprof",
        "TinyProf, a scope, `mode = each`",
        "the same, and every visit's time",
    ),
    ("instant", "", "`std::time::Instant`, by hand", "one sum"),
    (
        "hotpath",
        "hotpath",
        "`hotpath`",
        "flat: a histogram a function, made by a thread of its own",
    ),
    ("coarse_prof", "coarse-prof", "`coarse-prof`", "a tree: count, sum"),
    (
        "tracy",
        "tracy-client",
        "`tracy-client`",
        "a trace: every visit, kept until a viewer fetches it",
    ),
    ("puffin", "puffin", "`puffin`", "a trace: every visit, the newest frames"),
    (
        "fastrace",
        "fastrace",
        "`fastrace`",
        "a trace: every visit, for a reporter on a thread of its own",
    ),
    ("firestorm", "firestorm", "`firestorm`", "a trace: every visit, in memory"),
    ("measureme", "measureme", "`measureme`", "a trace: every visit, in a file"),
    (
        "tracing_registry",
        "tracing",
        "`tracing`, the registry alone",
        "no time: spans and their parents",
    ),
    ("tracing_layer", "tracing", "`tracing`, the least timing layer", "flat: one sum a name"),
    (
        "tracing_timing",
        "tracing-timing",
        "`tracing` with `tracing-timing`",
        "flat: a histogram a name",
    ),
];

const LOCK: &str = include_str!("../Cargo.lock");

/// Nanoseconds of a bare pair and of a visit, of one round.
type Round = (f64, f64);

fn main() -> ExitCode {
    let rounds = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(9);
    let here = std::env::current_exe().expect("the system knows the path of this program");
    let programs = here.parent().expect("a program is in a directory");

    let mut measured = vec![Vec::new(); PEERS.len()];
    for _ in 0..rounds {
        for (at, (program, ..)) in PEERS.iter().enumerate() {
            match round(&programs.join(program)) {
                Ok(round) => measured[at].push(round),
                Err(reason) => {
                    eprintln!("{program}: {reason}");
                    return ExitCode::FAILURE;
                }
            }
        }
    }

    let bare: Vec<f64> = measured.iter().flatten().map(|round| round.0).collect();
    let (least, middle, most) = spread(bare);
    println!(
        "A bare pair took {middle:.1} ns in the median of all rounds ({least:.1} to {most:.1}).\n"
    );
    println!("| what | version | ns a visit | from | to | ratio | from | to | what that buys |");
    println!("|---|---|---:|---:|---:|---:|---:|---:|---|");
    for ((_, package, name, buys), rounds) in PEERS.iter().zip(measured) {
        let (least, middle, most) = spread(rounds.iter().map(|round| round.1).collect());
        let (smallest, ratio, largest) =
            spread(rounds.iter().map(|round| round.1 / round.0).collect());
        println!(
            "| {name} | {} | {middle:.1} | {least:.1} | {most:.1} | **{ratio:.2}x** | {smallest:.2} | {largest:.2} | {buys} |",
            version(package)
        );
    }
    ExitCode::SUCCESS
}

/// One round of one program.
fn round(program: &Path) -> Result<Round, String> {
    let output = Command::new(program).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [bare, visit] => Ok((bare, visit)),
        _ => Err(format!("printed {text:?} instead of two numbers")),
    }
}

/// The least, the middle and the greatest.
fn spread(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    match values[..] {
        [] => (f64::NAN, f64::NAN, f64::NAN),
        [first, .., last] => (first, values[values.len() / 2], last),
        [only] => (only, only, only),
    }
}

/// The version of a package that was built, from the lock file.
fn version(package: &str) -> &str {
    // Where several are locked, the newest is the last.
    let entry = LOCK
        .split("[[package]]")
        .filter(|entry| entry.contains(&format!("\nname = \"{package}\"\n")))
        .last();
    let line =
        entry.and_then(|entry| entry.lines().find_map(|line| line.strip_prefix("version = ")));
    line.unwrap_or("").trim_matches('"')
}
