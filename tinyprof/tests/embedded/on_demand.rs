//! The on-demand report on `SIGUSR1`: printed when requested, with no other effect.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use crate::program::Scratch;

const SIGUSR1: i32 = 10;

struct Running {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
    _place: Scratch,
}

impl Running {
    fn start(arguments: &[&str], signal: Option<&str>) -> Self {
        let place = Scratch::new();
        let mut command = place.command("test_so_far");
        command
            .args(arguments)
            .env("TINYPROF_REPORT", "off")
            .envs(signal.map(|how| ("TINYPROF_SIGNAL", how)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stdin, stdout, stderr, _place: place }
    }

    /// Makes the program visit its region once more, and waits for that.
    fn visit(&mut self) {
        self.stdin.write_all(b"\n").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert_eq!(line, "done\n");
    }

    fn signal(&self) {
        self.send("-USR1");
    }

    fn send(&self, signal: &str) {
        let sent =
            Command::new("kill").arg(signal).arg(self.child.id().to_string()).status().unwrap();
        assert!(sent.success());
    }

    /// Returns the head of the next table, and the visits of `work` in it.
    fn table(&mut self) -> (String, u64) {
        let mut lines = self.stderr.by_ref().lines().map(Result::unwrap);
        let head = lines.find(|line| line.contains("so far: ")).unwrap();
        let row = lines.find(|line| line.starts_with("work ")).unwrap();
        (head, row.split_whitespace().nth(1).unwrap().parse().unwrap())
    }

    /// Ends the program. Returns its exit status and the rest of its output.
    fn end(mut self) -> (ExitStatus, String, String) {
        drop(self.stdin);
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.stdout.read_to_string(&mut stdout).unwrap();
        self.stderr.read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap(), stdout, stderr)
    }
}

fn two_tables(arguments: &[&str], signal: Option<&str>) {
    let mut program = Running::start(arguments, signal);
    program.visit();
    program.signal();
    let (head, visits) = program.table();
    assert!(
        head.starts_with("so far: ") && head.ends_with(" s after the start of the run"),
        "{head}"
    );
    assert_eq!(visits, 1);
    program.visit();
    program.visit();
    program.signal();
    assert_eq!(program.table().1, 3);
    let (status, stdout, _) = program.end();
    assert_eq!((status.code(), stdout.as_str()), (Some(0), "2 threads\n"));
}

#[test]
fn each_signal_prints_the_table_so_far_and_the_program_goes_on() {
    two_tables(&[], Some("usr1"));
}

#[test]
fn a_program_may_ask_for_it_and_the_environment_has_the_last_word() {
    two_tables(&["ask"], None);
    let mut program = Running::start(&["ask"], Some("off"));
    program.visit();
    program.signal();
    assert_eq!(program.end().0.signal(), Some(SIGUSR1));
}

#[test]
fn unless_it_was_asked_for_there_is_no_thread_and_the_signal_ends_the_program() {
    let mut program = Running::start(&[], None);
    program.visit();
    let (status, stdout, stderr) = program.end();
    assert_eq!((status.code(), stdout.as_str(), stderr.as_str()), (Some(0), "1 threads\n", ""));
    let mut program = Running::start(&[], None);
    program.visit();
    program.signal();
    let (status, _, stderr) = program.end();
    assert_eq!((status.signal(), stderr.as_str()), (Some(SIGUSR1), ""));
}

#[test]
fn a_handler_of_the_programs_own_stays_and_a_line_says_so() {
    let mut program = Running::start(&["before"], Some("usr1"));
    program.visit();
    program.signal();
    let (status, stdout, stderr) = program.end();
    assert_eq!((status.code(), stdout.as_str()), (Some(0), "handled 1\n1 threads\n"));
    assert!(
        stderr.contains(
            "no table on SIGUSR1: the program, or a library such as MPICH, handles or ignores it itself"
        ),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn the_other_signal_does_as_well_where_the_first_is_taken() {
    let mut program = Running::start(&["before"], Some("usr2"));
    program.visit();
    program.signal();
    program.send("-USR2");
    assert_eq!(program.table().1, 1);
    let (status, stdout, stderr) = program.end();
    assert_eq!((status.code(), stdout.as_str()), (Some(0), "handled 1\n2 threads\n"));
    assert!(!stderr.contains("SIGUSR"), "{stderr}");
}

#[test]
fn a_handler_that_comes_later_has_the_signal() {
    let mut program = Running::start(&["after"], Some("usr1"));
    program.visit();
    program.signal();
    program.visit();
    let (status, stdout, stderr) = program.end();
    assert_eq!(
        (status.code(), stdout.as_str(), stderr.as_str()),
        (Some(0), "handled 1\n2 threads\n", "")
    );
}

#[test]
fn in_a_child_the_signal_does_what_it_does_without_the_profiler() {
    let mut program = Running::start(&["fork"], Some("usr1"));
    program.visit();
    let (status, stdout, stderr) = program.end();
    assert_eq!(stdout, "the child was ended by signal 10\n2 threads\n");
    assert_eq!((status.code(), stderr.as_str()), (Some(0), ""));
}
