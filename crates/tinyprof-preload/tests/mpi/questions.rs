//! The commands of docs/questions.md answer on a job of this MPI.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{compile, library, mpiexec, tinyprof};

const PAGE: &str = include_str!("../../../../docs/questions.md");

/// A row of the table: the command, and the text that its answer has.
struct Question<'a> {
    number: &'a str,
    steps: u32,
    command: &'a str,
    text: Option<&'a str>,
}

fn questions() -> Vec<Question<'static>> {
    let quoted = |cell: &'static str| cell.strip_prefix('`')?.strip_suffix('`');
    let question = |line: &'static str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let &[number, .., steps, _, command, text] = cells.as_slice() else { return None };
        number.parse::<u32>().ok()?;
        let steps = steps.parse().expect("a number of steps");
        let command = quoted(command).expect("a command");
        Some(Question { number, steps, command, text: quoted(text) })
    };
    PAGE.lines().filter_map(question).collect()
}

/// Records a run with everything that the questions need.
fn record(program: &Path, name: &str, ranks: usize, work_us: &str, directory: &Path) {
    let launcher = mpiexec(ranks);
    let mut command = tinyprof();
    command.arg("run").arg("--library").arg(library());
    for setting in ["mpi=messages", "events=ring", "sample=1000", "report=off"] {
        command.args(["-o", setting]);
    }
    command.args(["--out", name, "--"]).arg(launcher.get_program()).args(launcher.get_args());
    for (variable, value) in launcher.get_envs() {
        match value {
            Some(value) => command.env(variable, value),
            None => command.env_remove(variable),
        };
    }
    command.arg(program).args(["late_sender", "20", work_us]).current_dir(directory);
    let output = command.output().expect("tinyprof starts");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn each_question_is_answered_by_its_command() {
    let questions = questions();
    assert_eq!(questions.len(), 40);
    assert_eq!(questions.iter().filter(|question| question.steps <= 2).count(), 36);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let program = compile("waiting.c", directory.path());
    for (name, ranks, work_us) in
        [("rr", 4, "5000"), ("rr2", 2, "5000"), ("before", 2, "2000"), ("after", 2, "4000")]
    {
        record(&program, name, ranks, work_us, directory.path());
    }
    // `tinyprof top` alone looks for a running job, which tests of its own have.
    for Question { number, command, text, .. } in
        questions.iter().filter(|question| question.command != "tinyprof top")
    {
        let arguments = command.strip_prefix("tinyprof ").expect("a command of ours").split(' ');
        let mut ran: Command = tinyprof();
        let output = ran.args(arguments.clone()).current_dir(directory.path()).output();
        let output = output.expect("tinyprof starts");
        let is_judged = command.contains("--fail-above") && output.status.code() == Some(4);
        assert!(output.status.success() || is_judged, "{number}: {command}: {output:?}");
        let printed = String::from_utf8_lossy(&output.stdout);
        match text {
            Some(text) => assert!(printed.contains(text), "{number}: {command}: {printed}"),
            None => {
                let file = directory.path().join(arguments.clone().next_back().expect("a file"));
                assert!(fs::metadata(file).is_ok(), "{number}: {command} writes its file");
            }
        }
    }
}
