//! Threads that call MPI in a state that is unusual, and legal: somebody has asked them to end,
//! they have little memory for their stack, they want signals for floating-point numbers, or there
//! are few addresses left.

use crate::support::{compile_with, mpicc};
use crate::unharmed::{Seen, path, without_and_with};

/// The stack of a thread, in bytes. Thread-local variables of all libraries take most of it, and
/// frames of a build without optimisation.
const SMALL_BYTES: usize = 64 << 10;

const ALL: &[&str] = &["calls", "messages"];

/// Checks what ranks write and return at these levels: how far a thread has come, and whether it
/// was ended.
fn check(what: &str, value: i32, is_cancelled: i32, levels: &[&str]) {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program = scratch.path().join("disturbed");
    let small = format!("-DSMALL_BYTES={SMALL_BYTES}");
    compile_with(&mpicc(), &[&small, "-lpthread", "-lm"], "disturbed.c", &program);
    let lines = [0, 1].map(|rank| format!("rank {rank}: {value} {is_cancelled} 1"));
    let expected = Seen { code: Some(0), lines: lines.to_vec() };
    for level in levels {
        let (without, with, _profiles) = without_and_with(&[path(&program), what], 2, level);
        assert_eq!(without, expected, "{what}, without the library");
        assert_eq!(with, expected, "{what} at level {level}");
    }
}

#[test]
fn a_thread_that_is_to_end_ends_where_it_would_and_not_in_the_profiler() {
    check("to-end", 7, 1, ALL);
}

#[test]
fn a_thread_with_a_small_stack() {
    check("small-stack", 7, 0, ALL);
}

/// Such a signal ends the program. They include those for rounding, which the sums of squares of
/// level `messages` still cause.
#[test]
fn errors_of_floating_point_numbers_are_signals() {
    check("float-signals", 1, 0, &["calls"]);
}

#[test]
fn a_program_whose_address_space_is_limited_has_most_of_it() {
    check("little-address-space", 7, 0, ALL);
}
