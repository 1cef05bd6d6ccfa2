//! Test of the instructions that a call of MPI takes more behind a wrapper, counted by valgrind.
//!
//! Needs the compiler of an MPI: `MPICC`, which `make test` sets.

#![expect(clippy::unwrap_used, reason = "a test that cannot do its work fails")]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod valgrind;

use std::path::Path;
use std::process::Command;

use valgrind::{build, instructions, run, valgrind};

const CALLS: u64 = 10_000;
/// The most instructions of a wrapper: what it takes, with some room for other compilers.
const INSTRUCTIONS_MAX: f64 = 400.0;

/// Packages that a call never enters.
const NOT_ENTERED: [&str; 5] =
    ["tinyprof-flush", "tinyprof-format", "tinyprof-report", "tinyprof-why", "serde_json"];

#[test]
#[ignore = "builds the library with optimisation, which takes minutes"]
fn a_call_behind_a_wrapper_takes_the_instructions_that_it_took() {
    let Ok(compiler) = std::env::var("MPICC") else { return println!("left out: no MPICC") };
    let library = build("tinyprof-preload", &NOT_ENTERED, "libtinyprof_preload.so");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("behind");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("calls");
    let sources = ["behind.c", "stubs.c"].map(|name| sources.join(name));
    run(Command::new(compiler).args(["-O2", "-o"]).arg(&program).args(sources));
    for level in ["calls", "messages"] {
        let each = |kind: &str, way: &str| {
            let count = |calls| count(&program, &library, level, [kind, way], calls);
            let difference = count(2 * CALLS) - count(CALLS);
            f64::from(u32::try_from(difference).unwrap()) / f64::from(u32::try_from(CALLS).unwrap())
        };
        let [direct, function, wrapper] = ["0", "1", "2"].map(|way| each("null_send", way));
        let two = each("null_send_behind_two", "2") - each("null_send_behind_two", "1");
        let one = wrapper - function;
        println!(
            "{level}: direct {direct:.0}, function {function:.0}, wrapper +{one:.0}, two +{two:.0}"
        );
        assert!((1.0..INSTRUCTIONS_MAX).contains(&one), "a wrapper takes {one} instructions");
        assert!((1.0..2.0 * INSTRUCTIONS_MAX).contains(&two), "two wrappers take {two}");
    }
}

/// Returns the number of instructions of a whole run that makes this many calls in one way.
fn count(program: &Path, library: &Path, level: &str, what: [&str; 2], calls: u64) -> u64 {
    let scratch = tempfile::tempdir().unwrap();
    let mut valgrind = valgrind();
    valgrind.arg(program).arg("count").args(what).arg(calls.to_string());
    valgrind.env("LD_PRELOAD", library).env("TINYPROF_MPI", level).env("TINYPROF_REPORT", "off");
    valgrind.env("TINYPROF_OUT", scratch.path().join("p")).current_dir(scratch.path());
    instructions(&mut valgrind)
}
