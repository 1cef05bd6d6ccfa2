//! Where inside of a long computation the time goes: findings name the function and line that
//! samples tell, where there is nothing between two calls of MPI.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tinyprof_why::Why;

use crate::support::{compile, compile_fortran, library, profiled_with, source_path};
use crate::why::{ATTEMPTS, CROWDED_PART, crowding};

const STEPS: &str = "12";

/// Returns the line of a program that has the mark.
fn place(source: &str) -> u64 {
    let text = fs::read_to_string(source_path(source)).expect("it is there");
    let mut lines = (1..).zip(text.lines());
    let found = lines.find(|(_, line)| line.ends_with("// place") || line.ends_with("! place"));
    found.expect("it has a mark").0
}

/// Checks that a finding names rank 1 and a place, as long as ranks have processors.
#[expect(clippy::print_stderr, reason = "says what is left out")]
fn check(source: &str, program: &Path, function: &str, to: &Path) {
    let name = format!("{function} ({source}:");
    for attempt in 1.. {
        let variables =
            [("LD_PRELOAD", library().into_os_string()), ("TINYPROF_SAMPLE", "200".into())];
        let profile = profiled_with(&variables, program, &[Path::new(STEPS)], 2, to, "messages");
        if profile.callpaths.iter().all(|(_, row)| !row.region.is_sampled()) {
            return eprintln!("left out: the system allows no samples");
        }
        let said = Why::of_profile(&profile).to_json();
        let findings = said["findings"].as_array().expect("a list");
        let sampled_in = |one: &Value| one["sampled"]["name"].as_str().map(str::to_owned);
        // Where ranks share processors, that may come first.
        let found = findings.iter().find(|one| {
            one["ranks"] == "1" && sampled_in(one).is_some_and(|place| place.starts_with(&name))
        });
        if found.is_none() && crowding(&profile) >= CROWDED_PART && attempt < ATTEMPTS {
            continue;
        }
        let found = found.unwrap_or_else(|| panic!("{name}: {said:#}"));
        let sampled = sampled_in(found).unwrap_or_default();
        // The compiler may see the loop's head as another line.
        let line: u64 = sampled[name.len()..].trim_end_matches(')').parse().expect("a line");
        assert!(line.abs_diff(place(source)) <= 1, "{sampled}: {}", place(source));
        let sentence = found["sentence"].as_str().unwrap_or_default();
        assert!(sentence.contains(&format!("by samples in {sampled}")), "{found:#}");
        let of = |key: &str| found["sampled"][key].as_f64().expect("it is known");
        assert!(of("here_seconds") > 1.5 * of("elsewhere_seconds"), "{found:#}");
        break;
    }
}

#[test]
fn a_finding_names_function_and_line_inside_of_a_computation() {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program: PathBuf = compile("inside.c", scratch.path());
    check("inside.c", &program, "relax", scratch.path());
    match compile_fortran("inside.F90", "use mpi", scratch.path()) {
        Ok(program) => check("inside.F90", &program, "relax", scratch.path()),
        Err(reason) => println!("Fortran left out: {reason}"),
    }
}
