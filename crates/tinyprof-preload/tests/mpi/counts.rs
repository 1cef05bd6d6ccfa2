//! Calls, bytes and partners are those that a program counts itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tinyprof_format::model::{MessageKey, MessageKind, Profile};

use crate::support::{compile, compile_fortran, profiled, python};

/// Calls, bytes out and bytes in of a function; or messages and bytes, out and in, of a peer.
type Counts<const N: usize> = BTreeMap<String, [u64; N]>;

/// What a rank counted itself.
struct Told {
    functions: Counts<3>,
    peers: Counts<4>,
}

fn told(directory: &Path, rank: usize) -> Told {
    let text =
        fs::read_to_string(directory.join(format!("counts-{rank}"))).expect("it was written");
    let mut told = Told { functions: Counts::new(), peers: Counts::new() };
    // Programs count before they call it.
    told.functions.insert("MPI_Finalize".to_owned(), [1, 0, 0]);
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse().expect("a number");
        match words[0] {
            "function" => {
                told.functions.insert(words[1].to_owned(), [number(2), number(3), number(4)]);
            }
            _ => {
                let counts = [number(2), number(3), number(4), number(5)];
                told.peers.insert(words[1].to_owned(), counts);
            }
        }
    }
    told
}

fn recorded(profile: &Profile, rank: usize) -> Told {
    let mut found = Told { functions: Counts::new(), peers: Counts::new() };
    for (index, callpath) in profile.callpaths.iter() {
        let values = &profile.values[index.row()][rank];
        let name = callpath.region.name.split(" at ").next().unwrap_or_default();
        // The form with large counts is the same function.
        let name = name.strip_suffix("_c").unwrap_or(name);
        if !name.starts_with("MPI_") || values.is_absent() {
            continue;
        }
        let counts = found.functions.entry(name.to_owned()).or_default();
        counts[0] += values.visits();
        for (key, traffic) in &values.messages {
            counts[if key.kind.is_out() { 1 } else { 2 }] += traffic.bytes;
            if matches!(key.kind, MessageKind::MessageOut | MessageKind::MessageIn) {
                assert_ne!(key.partner, MessageKey::ANY_PARTNER, "{name}: all are in the world");
                let peer = i64::try_from(rank).expect("a rank") + i64::from(key.partner);
                let peer = found.peers.entry(peer.to_string()).or_default();
                let at = if key.kind.is_out() { 0 } else { 2 };
                peer[at] += traffic.count;
                peer[at + 1] += traffic.bytes;
            }
        }
    }
    found
}

/// Whether a program counts all of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    All,
    /// A library below the program makes more calls.
    Some,
}

fn check(source: &str, ranks: usize) {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile(source, directory.path());
    compare(&program, &[], ranks, directory.path(), Counted::All);
}

/// Runs a program that is told the directory by its last argument, at both levels, and compares
/// what it counts.
fn compare(program: &Path, arguments: &[&Path], ranks: usize, directory: &Path, counted: Counted) {
    compare_at("calls", program, arguments, ranks, directory, counted);
    // More ranks than 8 take MPICH long, where they outnumber the processors.
    if ranks <= 8 {
        compare_at("messages", program, arguments, ranks, directory, counted);
    }
}

fn compare_at(
    level: &str,
    program: &Path,
    arguments: &[&Path],
    ranks: usize,
    directory: &Path,
    counted: Counted,
) {
    let arguments = [arguments, &[directory]].concat();
    let profile = profiled(program, &arguments, ranks, directory, level);
    assert_eq!(profile.manifest.ranks as usize, ranks);
    for facts in &profile.ranks {
        assert_eq!(
            facts.losses.messages_without_partner, 0,
            "{arguments:?}: there was room for all"
        );
    }
    for rank in 0..ranks {
        let (told, recorded) = (told(directory, rank), recorded(&profile, rank));
        for (name, counts) in &told.functions {
            let found = recorded.functions.get(name);
            assert_eq!(found, Some(counts), "{arguments:?}: {name} on rank {rank} of {ranks}");
        }
        let more: Vec<&String> =
            recorded.functions.keys().filter(|name| !told.functions.contains_key(*name)).collect();
        let is_complete = counted == Counted::Some || more.is_empty();
        assert!(is_complete, "{arguments:?}: rank {rank} did not call {more:?}");
        assert_eq!(recorded.peers, told.peers, "{arguments:?}: peers of rank {rank} of {ranks}");
    }
}

/// Checks the program in Fortran, built for the binding of `interface`.
#[expect(clippy::print_stderr, reason = "says why a test is skipped")]
fn check_fortran(interface: &str, ranks: usize) {
    let directory = tempfile::tempdir().expect("a directory can be made");
    match compile_fortran("counts.F90", interface, directory.path()) {
        Ok(program) => compare(&program, &[], ranks, directory.path(), Counted::All),
        Err(reason) => eprintln!("skipped: {reason}"),
    }
}

#[test]
fn a_program_in_c_on_one_rank() {
    check("counts.c", 1);
}

#[test]
fn a_program_in_c_on_three_ranks() {
    check("counts.c", 3);
}

#[test]
fn a_program_in_c_on_eight_ranks() {
    check("counts.c", 8);
}

#[test]
fn a_program_in_c_on_sixteen_ranks() {
    check("counts.c", 16);
}

#[test]
fn a_program_whose_threads_call_mpi_at_the_same_time() {
    check("threads.c", 2);
}

#[test]
fn a_program_with_a_thousand_communicators_and_a_hundred_thousand_open_requests() {
    check("bounds.c", 1);
}

#[test]
fn a_program_in_fortran_with_the_header() {
    check_fortran("include 'mpif.h'", 3);
}

#[test]
fn a_program_in_fortran_with_the_module() {
    check_fortran("use mpi", 3);
}

#[test]
fn a_program_in_fortran_with_the_module_of_2008() {
    check_fortran("use mpi_f08", 3);
}

#[test]
fn a_program_in_python() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    match python(directory.path()) {
        Ok(python) => {
            let script =
                Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/counts.py"));
            compare(&python, &[script], 2, directory.path(), Counted::Some);
        }
        Err(reason) => eprintln!("skipped: {reason}"),
    }
}
