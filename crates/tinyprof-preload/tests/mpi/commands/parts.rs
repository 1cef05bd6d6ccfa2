//! `ctl reset`, `metrics` and `filter`: at the same iteration on all ranks, always.

use std::collections::BTreeSet;

use super::{Driven, calls, profile};
use crate::why::ATTEMPTS;

const RANKS: usize = 2;

/// Commands of a thread whose flush point is said; see docs/steering.md.
const LOGGED: usize = 63;

/// Gives this number of commands, and checks that each part is the same on all ranks.
///
/// # Errors
/// The command's message, if ranks that share processors did not come within 5 s: which part a
/// step is in is then unknown.
fn give(commands: usize) -> Result<(), String> {
    let verbs: [&[&str]; 3] = [&["reset"], &["metrics", "-alloc_bytes"], &["filter", "-nothing"]];
    let variables = [("TINYPROF_INTERVAL", "1000h"), ("TINYPROF_MPI", "calls")];
    let mut program = Driven::start("switched.c", RANKS, &variables);
    assert_eq!(program.line(), "ready");
    let (mut at, mut steps) = (BTreeSet::new(), Vec::new());
    for number in 0..commands {
        program.steps(1 + number as u64 % 3);
        steps.push(1 + number as u64 % 3);
        let told = program.begun(verbs[number % 3]);
        if told.contains(" not come to the flush point on which all agree yet") {
            program.end();
            return Err(told);
        }
        assert!(told.contains(": 2 of 2 began another part"), "{number}: {told}");
        let point = told.split(" at flush point ").nth(1).and_then(|rest| {
            // If ranks had begun at several, all would be named.
            rest.trim_end().split([',', '\n']).next().map(|point| point.parse::<u64>())
        });
        match point {
            Some(point) => assert!(at.insert(point.expect("one number")), "{told}"),
            None => assert!(number >= LOGGED, "{number}: {told}"),
        }
    }
    let place = program.end();
    let whole = profile(&place, "p.tprof");
    assert_eq!(calls(&whole, "MPI_Barrier"), [steps.iter().sum::<u64>(); RANKS]);
    let mut reduced = 0;
    for (number, steps) in (1..).zip(steps) {
        let part = profile(&place, &format!("p-part-{number:04}.tprof"));
        for function in ["MPI_Barrier", "MPI_Send", "MPI_Wait"] {
            assert_eq!(calls(&part, function), [steps; RANKS], "{function} in part {number}");
        }
        let of_part = calls(&part, "MPI_Allreduce");
        assert_eq!(of_part, [of_part[0]; RANKS], "the same iteration, part {number}");
        reduced += of_part[0];
    }
    let last = profile(&place, &format!("p-part-{:04}.tprof", commands + 1));
    reduced += calls(&last, "MPI_Allreduce")[0];
    assert_eq!(calls(&whole, "MPI_Allreduce"), [reduced; RANKS]);
    Ok(())
}

fn give_undisturbed(commands: usize) {
    let mut late = Vec::new();
    let is_done = (0..ATTEMPTS).any(|_| give(commands).map_err(|told| late.push(told)).is_ok());
    assert!(is_done, "{late:?}");
}

#[test]
fn a_hundred_parts_begin_at_the_same_iteration_on_all_ranks() {
    give_undisturbed(100);
}

#[test]
#[ignore = "takes minutes"]
fn a_thousand_parts_begin_at_the_same_iteration_on_all_ranks() {
    give_undisturbed(1_000);
}
