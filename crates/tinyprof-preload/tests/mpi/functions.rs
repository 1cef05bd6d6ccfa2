//! Every function of the installed MPI is wrapped, or is left alone for a reason.

use std::collections::BTreeSet;
use std::process::Command;

use crate::support::{library, mpicc};

/// Functions that are left alone, by the end or the beginning of their names, and why.
const LEFT_ALONE: [(&str, &str); 17] = [
    ("MPI_T_*", "the interface for tools: it works before MPI_Init, and sends nothing"),
    ("*_f2c", "a conversion that returns a handle"),
    ("*_c2f", "a conversion that returns a handle"),
    ("*_toint", "a conversion that returns a handle"),
    ("*_fromint", "a conversion that returns a handle"),
    ("MPI_Status_*", "converts or reads a status"),
    ("MPI_Aint_*", "arithmetic of addresses, which returns its result"),
    ("MPI_Abi_*", "programs look for the name, to find out which MPI there is"),
    ("MPI_Get_version", "programs look for the name, to find out whether there is an MPI"),
    ("MPI_Get_library_version", "programs look for the name, to find out which MPI there is"),
    ("MPI_Wtime", "reads a clock, and returns a float"),
    ("MPI_Wtick", "returns a float"),
    ("MPI_Initialized", "may be called at any time, also by this library's users before MPI_Init"),
    ("MPI_Finalized", "may be called at any time, also after MPI_Finalize"),
    ("MPI_*_FN", "a callback that programs pass on"),
    ("MPI_File_iwrite_all_at*", "not in any standard"),
    ("MPIX_*", "an extension of one MPI"),
];

fn is_left_alone(name: &str) -> bool {
    LEFT_ALONE.iter().any(|(pattern, _)| match pattern.split_once('*') {
        None => name == *pattern,
        Some((begin, end)) => name.starts_with(begin) && name.ends_with(end),
    })
}

#[test]
fn every_function_of_the_header_is_wrapped_or_left_alone_for_a_reason() {
    let declared = declared();
    assert!(declared.len() > 300, "MPI has hundreds of functions, not {}", declared.len());
    let exported = exported();
    let missing: Vec<&String> =
        declared.iter().filter(|name| !exported.contains(*name) && !is_left_alone(name)).collect();
    assert!(missing.is_empty(), "neither wrapped nor left alone: {missing:?}");
    let both: Vec<&String> = declared
        .iter()
        .filter(|name| exported.contains(*name) && is_left_alone(name))
        .filter(|name| !name.starts_with("MPI_Status_"))
        .collect();
    assert!(both.is_empty(), "wrapped, and left alone: {both:?}");
}

#[test]
fn every_function_has_its_names_in_fortran() {
    let exported = exported();
    for name in exported.iter().filter(|name| name.starts_with("MPI_")) {
        let lower = name.to_lowercase();
        for end in ["_", "_f08_", "_f08ts_"] {
            assert!(exported.contains(&format!("{lower}{end}")), "{lower}{end}");
        }
    }
}

#[test]
fn the_library_needs_no_symbol_of_mpi() {
    let output = Command::new("nm").args(["-D", "--undefined-only"]).arg(library()).output();
    let symbols = String::from_utf8(output.expect("nm starts").stdout).expect("names are text");
    let of_mpi: Vec<&str> = symbols
        .split_whitespace()
        .filter(|symbol| symbol.to_lowercase().contains("mpi_"))
        .collect();
    assert!(of_mpi.is_empty(), "processes without MPI could not start: {of_mpi:?}");
}

/// Returns the functions that `mpi.h` declares.
fn declared() -> BTreeSet<String> {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let source = directory.path().join("header.c");
    std::fs::write(&source, "#include <mpi.h>\n").expect("it can be written");
    let output = Command::new(mpicc()).args(["-E", "-P"]).arg(source).output();
    let text = String::from_utf8(output.expect("MPICC names a compiler").stdout).expect("text");
    let mut names = BTreeSet::new();
    for (at, _) in text.match_indices("MPI_") {
        let is_start =
            text[..at].ends_with(|before: char| !before.is_alphanumeric() && before != '_');
        let name: String =
            text[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let rest = text[at + name.len()..].trim_start();
        // A function's name has small letters, unlike those of constants, and a list follows.
        let is_function = rest.starts_with('(') && name.chars().any(|c| c.is_lowercase());
        let line = text[..at].rsplit([';', '}', '{']).next().unwrap_or_default();
        let is_type = line.contains("typedef") || name.ends_with("_function");
        if is_start && is_function && !is_type {
            names.insert(name);
        }
    }
    names
}

/// Returns the functions that the library has.
fn exported() -> BTreeSet<String> {
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(library()).output();
    let symbols = String::from_utf8(output.expect("nm starts").stdout).expect("names are text");
    symbols.lines().filter_map(|line| line.split(' ').nth(2)).map(str::to_owned).collect()
}
