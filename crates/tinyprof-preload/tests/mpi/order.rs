//! The order in which receives from any source take messages: counted where measuring changes it,
//! and kept with `TINYPROF_ORDER=enforce`.

use std::path::Path;

use tempfile::TempDir;
use tinyprof_format::model::{EdgeKind, Profile};

use crate::messages::{Way, edges};
use crate::support::{compile, compile_fortran, library, mpiexec, profiled_with};

fn run(
    order: &str,
    program: &Path,
    arguments: &[&str],
    directory: &TempDir,
    ranks: usize,
) -> Profile {
    let arguments: Vec<&Path> = arguments.iter().map(Path::new).collect();
    let variables = [("LD_PRELOAD", library().into()), ("TINYPROF_ORDER", order.into())];
    profiled_with(&variables, program, &arguments, ranks, directory.path(), "messages")
}

/// Returns the number of messages that were received from any source.
fn from_any(profile: &Profile) -> u64 {
    let any = edges(profile).filter(|(name, _, key, _)| {
        key.kind == EdgeKind::MessageToAny && !name.starts_with("MPI_Probe")
    });
    any.map(|(.., edge)| edge.count).sum()
}

/// Runs `race.c`, and returns its inversions.
fn inversions(order: &str, kind: &str) -> u64 {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("race.c", directory.path());
    let profile = run(order, &program, &[kind], &directory, 3);
    assert_eq!(from_any(&profile), 2 * 30);
    profile.ranks[0].clock.inversions
}

#[test]
fn measuring_that_changes_the_order_of_messages_is_noticed() {
    // Where three ranks share two processors, the one that sleeps may be woken too late, always.
    let is_noticed = (0..3).any(|_| inversions("observe", "skewed") > 0);
    assert!(is_noticed, "in none of three runs");
    assert_eq!(inversions("observe", "even"), 0);
}

#[test]
fn a_message_is_held_back_until_it_is_its_turn() {
    assert_eq!(["skewed", "even"].map(|kind| inversions("enforce", kind)), [0, 0]);
}

#[test]
fn ranks_that_wait_for_the_receiver_are_not_waited_for() {
    const REPETITIONS: u64 = 20;
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("orders.c", directory.path());
    let profile = run("enforce", &program, &[&REPETITIONS.to_string()], &directory, 4);
    assert_eq!(from_any(&profile), REPETITIONS * 4);
    let held_ns = profile.ranks.iter().map(|rank| rank.clock.own_intrusion_ns).max();
    // Messages that were held back until nobody wanted to wait longer: a second each.
    let least_ns = REPETITIONS * 1_000_000_000;
    assert!(held_ns.expect("four ranks") < least_ns, "{held_ns:?}");
}

#[test]
fn a_program_in_fortran_gets_the_messages_whose_turn_it_is() {
    for interface in ["include 'mpif.h'", "use mpi_f08"] {
        let directory = tempfile::tempdir().expect("a directory can be made");
        match compile_fortran("counts.F90", interface, directory.path()) {
            Ok(program) => {
                let profile = run("enforce", &program, &[], &directory, 3);
                assert!(from_any(&profile) > 0, "{interface}");
            }
            Err(reason) => eprintln!("skipped: {reason}"),
        }
    }
}

#[test]
fn an_order_that_cannot_be_kept_is_one_warning() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let program = compile("race.c", directory.path());
    for (way, level) in [(Way::Mail, "messages"), (Way::Lanes, "calls")] {
        let mut command = mpiexec(3);
        command.env("LD_PRELOAD", way.preload(&directory)).env("TINYPROF_MPI", level);
        command.env("TINYPROF_ORDER", "enforce").env("TINYPROF_OUT", directory.path().join("p"));
        let output = command.arg(&program).arg("even").output().expect("mpiexec starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        let warnings = text.matches("TINYPROF_ORDER=enforce has no effect: it needs ");
        assert_eq!(warnings.count(), 1, "{way:?}: {text}");
    }
}
