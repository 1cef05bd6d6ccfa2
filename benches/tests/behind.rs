//! Test of the instructions that a call of MPI takes more behind a wrapper, and while measuring is
//! off, counted by valgrind.
//!
//! Needs the compiler of an MPI: `MPICC`, which `make test` sets.

#![expect(clippy::unwrap_used, reason = "a test that cannot do its work fails")]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[path = "../visits/src/off.rs"]
mod off;
mod valgrind;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use off::Thread;
use tinyprof_segment::control::Verb;
use valgrind::{build, collected, instructions, run, valgrind};

const CALLS: u64 = 10_000;
/// The most instructions of a wrapper: what it takes, with some room for other compilers.
const INSTRUCTIONS_MAX: f64 = 400.0;

/// The most instructions by which a call takes longer while measuring is off: 140 for
/// `MPI_Comm_rank`, with some room.
const OFF_INSTRUCTIONS_MAX: f64 = 170.0;

/// How many calls are counted: enough that starting MPI hardly matters.
const OFF_CALLS: u64 = 100_000;

/// Packages that a call never enters.
const NOT_ENTERED: [&str; 5] =
    ["tinyprof-flush", "tinyprof-format", "tinyprof-report", "tinyprof-why", "serde_json"];

#[test]
#[ignore = "builds the library with optimisation, which takes minutes"]
fn a_call_behind_a_wrapper_takes_the_instructions_that_it_took() {
    let Ok(compiler) = std::env::var("MPICC") else { return println!("left out: no MPICC") };
    let library = build("tinyprof-preload", &NOT_ENTERED, "libtinyprof_preload.so");
    let program = compile(&compiler, "behind", &["behind.c", "stubs.c"]);
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

#[test]
#[ignore = "builds the library with optimisation, which takes minutes"]
fn a_call_while_measuring_is_off_takes_few_instructions() {
    let Ok(compiler) = std::env::var("MPICC") else { return println!("left out: no MPICC") };
    let library = build("tinyprof-preload", &NOT_ENTERED, "libtinyprof_preload.so");
    let program = compile(&compiler, "off", &["off.c"]);
    let mut wrong = Vec::new();
    for kind in ["comm_rank", "null_send", "allreduce", "isend_wait", "irecv_wait"] {
        let each = |library: Option<&Path>| {
            let count = |calls| count_off(&program, library, kind, calls);
            let difference = count(2 * OFF_CALLS).abs_diff(count(OFF_CALLS));
            f64::from(u32::try_from(difference).unwrap()) / 1e5
        };
        let more = each(Some(&library)) - each(None);
        println!("{kind}: +{more:.0}");
        // What a request belongs to is looked up when it completes.
        let is_of_request = kind.ends_with("_wait");
        if !(1.0..OFF_INSTRUCTIONS_MAX).contains(&more) && !is_of_request {
            wrong.push(format!("{kind} takes {more:.0} instructions more"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn compile(compiler: &str, name: &str, sources: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("calls");
    let sources = sources.iter().map(|name| directory.join(name));
    run(Command::new(compiler).args(["-O2", "-o"]).arg(&program).args(sources));
    program
}

/// Returns the number of instructions of a run of `off.c` with this many calls, during which
/// measuring is off if there is a library.
fn count_off(program: &Path, library: Option<&Path>, kind: &str, calls: u64) -> u64 {
    let scratch = tempfile::tempdir().unwrap();
    let mut valgrind = valgrind();
    valgrind.arg(program).args(["count", kind]).arg(calls.to_string()).current_dir(&scratch);
    if let Some(library) = library {
        valgrind.env("LD_PRELOAD", library).env("TINYPROF_MPI", "calls");
        valgrind.env("TINYPROF_STEER", "on").env("TINYPROF_SEGMENT_DIR", scratch.path().join("s"));
        valgrind.env("TINYPROF_REPORT", "off").env("TINYPROF_OUT", scratch.path().join("p"));
    }
    valgrind.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = valgrind.spawn().unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut lines = BufReader::new(stdout).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert_eq!(next(), "ready");
    let thread = library.map(|_| Thread::find(&scratch.path().join("s")).unwrap());
    let number = thread.as_ref().map(|thread| thread.give(Verb::Off).unwrap());
    writeln!(stdin).unwrap();
    assert_eq!(next(), "off");
    let is_off = thread.zip(number).map(|(thread, number)| thread.has_done(number).unwrap());
    assert!(is_off.unwrap_or(true), "it was not obeyed");
    writeln!(stdin).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    collected(&output)
}
