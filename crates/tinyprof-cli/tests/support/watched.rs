//! A program that records while a test observes it: `tests/programs/watched.rs`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The program, which waits for the request to do its next step.
pub(crate) struct Watched {
    pub(crate) child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Watched {
    /// Starts it, with variables as a launcher sets them.
    pub(crate) fn start(directory: &Path, variables: &[(&str, &str)]) -> Self {
        let bin = Path::new(env!("CARGO_BIN_EXE_tinyprof")).parent().expect("a directory");
        let mut command = Command::new(bin.join("examples/watched"));
        command
            .current_dir(directory)
            .env("TINYPROF_SEGMENT_DIR", "segments")
            .env("TINYPROF_REPORT", "off");
        command.env("TINYPROF_OUT", "job").envs(variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("`cargo test -p tinyprof-cli` builds it");
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut program = Self { child, stdin, stdout };
        // Ensures that it has begun to record.
        program.step();
        program
    }

    /// Makes it do a step, and waits for the end of the step.
    pub(crate) fn step(&mut self) {
        self.line("");
    }

    /// Gives it a line, and waits for the end of the step.
    pub(crate) fn line(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").expect("it reads");
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("it writes");
        assert_eq!(line, "done\n");
    }

    /// Lets it run to its end, and checks that it was not disturbed. The profile of another one may
    /// have its name.
    pub(crate) fn end(self) {
        drop(self.stdin);
        let output = self.child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // Of one that was started as a rank.
        let is_of_rank =
            |line: &&str| line.starts_with("tinyprof: this program runs under mpiexec, ");
        let said: String = said.lines().filter(|line| !is_of_rank(line)).collect();
        let is_renamed =
            said.starts_with("tinyprof: job.tprof exists, ") && said.lines().count() == 1;
        assert!(said.is_empty() || is_renamed, "{said}");
        assert_eq!(output.status.code(), Some(0));
    }
}
