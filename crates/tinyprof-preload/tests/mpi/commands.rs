//! Commands to programs that a test drives step by step: what each rank has measured is known
//! beforehand, and so is the function in which it obeys.

mod held;
mod late;
mod parts;
mod switches;

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use tinyprof_format::file::read_profile;
use tinyprof_format::model::Profile;

use crate::support::{compile, library, mpiexec, tinyprof};

/// The time after which a launcher ends what hangs. A thousand commands take a few minutes.
const LONGEST_S: &str = "1800";

/// The file of what the launcher and the ranks say on their standard error.
const ERRORS: &str = "errors";

/// A program of `tests/programs/commanded.h` that carries out orders.
struct Driven {
    place: tempfile::TempDir,
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Driven {
    fn start(source: &str, ranks: usize, variables: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().expect("a directory can be made");
        let program = compile(source, place.path());
        let mut command = mpiexec(ranks);
        command.arg(program).arg(place.path().join("go")).current_dir(&place);
        command.env("LD_PRELOAD", library()).env("TINYPROF_SEGMENT_DIR", segments(place.path()));
        command.env("TINYPROF_OUT", place.path().join("p")).env("TINYPROF_REPORT", "off");
        command.env("TINYPROF_STEER", "hold").env("MPIEXEC_TIMEOUT", LONGEST_S);
        command.envs(variables.iter().copied());
        command.stderr(File::create(place.path().join(ERRORS)).expect("a file"));
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("mpiexec starts");
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { place, child, stdin, stdout }
    }

    /// Returns the next line that the program prints.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("text");
        assert!(!line.is_empty(), "it has ended: {}", self.errors());
        line.trim_end().to_owned()
    }

    /// Returns what it has said on its standard error.
    fn errors(&self) -> String {
        std::fs::read_to_string(self.place.path().join(ERRORS)).expect("text")
    }

    fn order(&mut self, order: &str) {
        writeln!(self.stdin, "{order}").expect("it reads");
    }

    /// Has all ranks carry out an order, and waits until they have.
    fn steps(&mut self, count: u64) {
        self.order(&format!("s {count}"));
        assert_eq!(self.line(), "done");
    }

    fn ctl(&self, arguments: &[&str]) -> Command {
        let mut command = tinyprof();
        command.arg("ctl").args(arguments).arg(segments(self.place.path()));
        command.current_dir(&self.place).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Gives a command, and returns what is said of it.
    fn told(&self, arguments: &[&str]) -> String {
        said(&self.ctl(arguments).output().expect("tinyprof starts"))
    }

    /// Gives a command until all ranks have obeyed: where processors are shared, one may not come
    /// within 5 s. Returns how often it was given.
    fn obeyed(&self, arguments: &[&str], all: &str) -> u64 {
        for times in 1.. {
            let told = self.told(arguments);
            if told.ends_with(all) {
                return times;
            }
            assert!(told.contains(" not come to the end of a region or call of MPI yet"), "{told}");
        }
        unreachable!("it is given again and again")
    }

    /// Gives a command until no rank is still in `MPI_Init`.
    fn begun(&self, arguments: &[&str]) -> String {
        loop {
            let told = self.told(arguments);
            if told.contains(" began another part") {
                return told;
            }
            assert!(told.contains("count no flush points"), "{told}");
        }
    }

    /// Lets it end, checks its results, and returns where its profiles are.
    fn end(mut self) -> tempfile::TempDir {
        self.order("q");
        assert_eq!(self.line(), "sums right");
        // A launcher does not expect its input to end before its ranks do.
        assert!(self.child.wait().expect("ours").success());
        drop(self.stdin);
        self.place
    }
}

fn segments(place: &Path) -> PathBuf {
    place.join("segments")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

fn profile(place: &tempfile::TempDir, name: &str) -> Profile {
    read_profile(&place.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the calls of a function on each rank.
fn calls(profile: &Profile, function: &str) -> Vec<u64> {
    let is_one = |name: &str| name.split(" at ").next() == Some(function);
    let rows: Vec<_> =
        profile.callpaths.iter().filter(|(_, one)| is_one(&one.region.name)).collect();
    let of_rank = |rank| rows.iter().map(|(at, _)| profile.values(*at, rank).visits()).sum();
    (0..profile.ranks.len()).map(of_rank).collect()
}
