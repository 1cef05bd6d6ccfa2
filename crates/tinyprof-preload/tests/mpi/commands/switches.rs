//! `ctl off` and `on`: what is between them is counted exactly.

use tinyprof_format::model::{MessageKind, Profile};

use super::{Driven, calls, profile};

const RANKS: usize = 2;

/// Returns the messages that each rank has sent.
fn sent(profile: &Profile) -> Vec<u64> {
    let of_rank = |rank| {
        let values = profile.callpaths.iter().map(|(at, _)| profile.values(at, rank));
        let traffic = values.flat_map(|values| &values.messages);
        let sent = traffic.filter(|(key, _)| key.kind == MessageKind::MessageOut);
        sent.map(|(_, traffic)| traffic.count).sum()
    };
    (0..profile.ranks.len()).map(of_rank).collect()
}

/// Switches this many times, half of them off, and checks the counts of the windows.
fn switch(level: &str, switches: u64) {
    let mut program = Driven::start("switched.c", RANKS, &[("TINYPROF_MPI", level)]);
    assert_eq!(program.line(), "ready");
    program.steps(1);
    let (mut counted, mut given) = (1, 0);
    for round in 0..switches / 2 {
        given += program.obeyed(&["off"], ": 2 of 2 off\n");
        program.steps(round % 7);
        given += program.obeyed(&["on"], ": 2 of 2 on again\n");
        program.steps(round % 5);
        counted += round % 5;
    }
    let place = program.end();
    let profile = profile(&place, "p.tprof");
    for function in ["MPI_Barrier", "MPI_Send", "MPI_Irecv", "MPI_Wait"] {
        assert_eq!(calls(&profile, function), [counted; RANKS], "{function} at level {level}");
    }
    assert_eq!(sent(&profile), [counted; RANKS], "messages at level {level}");
    for facts in &profile.ranks {
        let commands = &facts.commands;
        assert_eq!(commands.commands.len() as u64 + commands.without_room, given);
        assert_eq!(facts.losses.visits_unbalanced, 0, "{:?}", facts.losses);
    }
}

#[test]
fn what_is_between_switches_is_counted_exactly() {
    switch("calls", 60);
    switch("messages", 40);
}

#[test]
#[ignore = "takes minutes"]
fn what_is_between_a_thousand_switches_is_counted_exactly() {
    switch("calls", 1_000);
    switch("messages", 1_000);
}
