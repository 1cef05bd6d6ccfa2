//! Commands for a flush point to which a rank does not come.

use std::fs;

use super::{Driven, calls, profile};

const RANKS: usize = 3;

/// Gives a command while rank 1 stays away from MPI, and lets it come again after the answer.
fn with_one_away(command: &[&str]) {
    let variables = [("TINYPROF_INTERVAL", "1000h"), ("TINYPROF_MPI", "calls")];
    let mut program = Driven::start("switched.c", RANKS, &variables);
    assert_eq!(program.line(), "ready");
    program.steps(2);
    let told = program.begun(&["reset"]);
    assert!(told.contains(": 3 of 3 began another part at flush point "), "{told}");
    program.steps(3);
    program.order("w 1");
    assert_eq!(program.line(), "away");
    let told = program.told(command);
    let late = "1 has not come to the flush point on which all agree yet";
    let are_named = told.contains(late) || told.contains("1, 2 have not come to the flush point");
    assert!(are_named && !told.contains(": 3 of 3"), "{command:?}: {told}");
    fs::write(program.place.path().join("go"), "").expect("a file");
    program.steps(5);
    let told = program.begun(&["reset"]);
    assert!(told.contains(": 3 of 3 began another part at flush point "), "{told}");
    program.steps(7);
    let place = program.end();
    let parts = [1, 2, 3, 4].map(|number| profile(&place, &format!("p-part-{number:04}.tprof")));
    let all = parts.each_ref().map(|part| calls(part, "MPI_Barrier"));
    assert_eq!((&all[0], &all[3]), (&vec![2; RANKS], &vec![7; RANKS]));
    // The flush point on which they agreed is within the steps for which it came again, perhaps.
    assert!(all[1][0] >= 3 && all[1][0] + all[2][0] == 8, "{all:?}");
    assert!(all.iter().all(|counts| *counts == [counts[0]; RANKS]), "{all:?}");
    let whole = profile(&place, "p.tprof");
    assert_eq!(calls(&whole, "MPI_Barrier"), [17; RANKS]);
    for (rank, facts) in whole.ranks.iter().enumerate() {
        let list = &facts.commands.commands;
        assert_eq!(list.len(), 3, "rank {rank}: {list:?}");
        assert!(list.iter().all(tinyprof_format::model::RankCommand::is_done), "{list:?}");
    }
}

#[test]
fn a_rank_that_does_not_come_is_named_and_comes_later() {
    with_one_away(&["reset"]);
}

#[test]
fn so_it_is_where_metrics_are_chosen() {
    with_one_away(&["metrics", "-alloc_bytes"]);
}
