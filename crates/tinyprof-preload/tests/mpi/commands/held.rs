//! `ctl hold`: in each function that communicates, with messages on their way.

use std::iter;
use std::process::Command;

use serde_json::Value;

use super::{Driven, profile};

/// Returns the processes of the ranks that are held.
fn held(program: &Driven) -> Vec<u64> {
    let status: Value = serde_json::from_str(&program.told(&["status", "--json"])).expect("JSON");
    let ranks = status["ranks"].as_array().expect("a list");
    let held = ranks.iter().filter(|rank| rank["held_ns"].is_u64());
    held.filter_map(|rank| rank["process"].as_u64()).collect()
}

fn in_each_function(level: &str) {
    let mut program = Driven::start("everywhere.c", 3, &[("TINYPROF_MPI", level)]);
    let (mut functions, mut given) = (Vec::new(), 0);
    loop {
        let function = program.line();
        if function == "sums right" {
            break;
        }
        assert!(!function.is_empty(), "it ends after {functions:?}");
        let told = program.told(&["hold", "--for", "30ms"]);
        assert!(told.contains(" of 3 held\n"), "{function} at level {level}: {told}");
        given += 1;
        // A rank may wait for one that is held, and obeys later.
        if !told.contains(": 3 of 3 held\n") {
            given += program.obeyed(&["release"], ": 3 of 3 released\n");
        }
        program.order("n");
        functions.push(function);
    }
    assert!(program.child.wait().expect("ours").success());
    let profile = profile(&program.place, "p.tprof");
    for (rank, facts) in profile.ranks.iter().enumerate() {
        let commands = &facts.commands;
        let all = commands.commands.len() as u64 + commands.without_room;
        // A rank that has no processor for 30 ms is not held, but released like the others.
        assert!((functions.len() as u64..=given).contains(&all), "rank {rank}: {all} of {given}");
        let mut held = commands.commands.iter().filter(|one| one.verb_name() == "hold");
        assert!(held.clone().count() > 1 && held.all(|one| one.is_done()), "{commands:?}");
    }
}

#[test]
fn ranks_are_held_in_each_function_that_communicates() {
    in_each_function("messages");
}

#[test]
#[ignore = "takes a minute; the level with more to get wrong is tested always"]
fn ranks_are_held_in_each_function_at_level_calls() {
    in_each_function("calls");
}

#[test]
fn a_rank_stays_held_while_another_waits_for_it() {
    let mut program = Driven::start("switched.c", 2, &[]);
    assert_eq!(program.line(), "ready");
    let holding = program.ctl(&["hold", "--for", "55s"]).spawn().expect("it runs");
    let longest_ns = || {
        let status: Value =
            serde_json::from_str(&program.told(&["status", "--json"])).expect("JSON");
        let ranks = status["ranks"].as_array().expect("a list");
        ranks.iter().filter_map(|rank| rank["held_ns"].as_u64()).max()
    };
    // Longer than ranks stay held without a client.
    let mut held_ns = None;
    while held_ns < Some(3_300_000_000) {
        let now_ns = longest_ns();
        assert!(now_ns >= held_ns, "a rank that was held for {held_ns:?} ns has gone on");
        held_ns = now_ns;
    }
    assert!(program.told(&["release"]).ends_with(": 2 of 2 released\n"));
    assert!(holding.wait_with_output().expect("it has ended").status.success());
    program.steps(3);
    program.end();
}

/// Returns why a debugger cannot attach here.
fn without_debugger(said: &str) -> Option<&'static str> {
    let is_refused = said.contains("ptrace: Operation not permitted");
    is_refused.then_some("this system lets gdb attach to no process that it has not started")
}

#[test]
fn a_debugger_attaches_to_ranks_that_are_held() {
    if Command::new("gdb").arg("--version").output().is_err() {
        eprintln!("skipped: gdb is not installed");
        return;
    }
    let mut program = Driven::start("switched.c", 2, &[]);
    assert_eq!(program.line(), "ready");
    let holding = program.ctl(&["hold", "--for", "55s"]).spawn().expect("it runs");
    // Another rank may wait for one that is held.
    let processes = iter::repeat_with(|| held(&program)).find(|held| !held.is_empty());
    let processes = processes.expect("until there are some");
    for process in &processes {
        let mut debugger = Command::new("gdb");
        debugger.args(["-nx", "-batch", "-p", &process.to_string(), "-ex", "bt"]);
        let said = super::said(&debugger.output().expect("gdb starts"));
        if let Some(why) = without_debugger(&said) {
            eprintln!("skipped: {why}");
            break;
        }
        assert!(said.contains(" main (") && said.contains("MPI_Allreduce"), "{said}");
    }
    let still = held(&program);
    assert!(processes.iter().all(|process| still.contains(process)), "gdb has detached: {still:?}");
    let released = program.told(&["release"]);
    assert!(released.ends_with(": 2 of 2 released\n"), "{released}");
    let output = holding.wait_with_output().expect("it has ended");
    assert!(super::said(&output).contains(" of 2 held\n"), "{}", super::said(&output));
    program.steps(3);
    program.end();
}
