//! The programs in `programs/`, and the jobs that each consists of.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::job::Job;
use crate::support::{compile_fortran, mpicc};

/// The interfaces of Fortran, of which an MPI has those that its compiler knows.
const FORTRAN: [&str; 3] = ["include 'mpif.h'", "use mpi", "use mpi_f08"];

/// A program that has been compiled for the MPI of the build.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    executable: PathBuf,
}

impl Program {
    /// Compiles all programs into `directory`. Says which the MPI cannot compile in Fortran.
    pub(crate) fn all(directory: &Path) -> Vec<Self> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/programs");
        let entries = fs::read_dir(&sources).expect("the directory is a part of the repository");
        let mut paths: Vec<PathBuf> =
            entries.map(|entry| entry.expect("it can be read").path()).collect();
        paths.sort();
        let mut programs = Vec::new();
        for path in paths {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("c") => programs.push(Self::of_c(name, &path, directory)),
                Some("F90") => programs.extend(Self::of_fortran(&name, &path, directory)),
                _ => {}
            }
        }
        programs
    }

    fn of_c(name: String, source: &Path, directory: &Path) -> Self {
        let executable = directory.join(&name);
        let mut command = Command::new(mpicc());
        command.args(["-g", "-O1", "-w", "-o"]).arg(&executable).arg(source).arg("-lpthread");
        let output = command.output().expect("MPICC starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self { name, executable }
    }

    #[expect(clippy::print_stderr, reason = "says why a test is skipped")]
    fn of_fortran(name: &str, source: &Path, directory: &Path) -> Vec<Self> {
        let mut programs = Vec::new();
        for interface in FORTRAN {
            let letters = interface.replace(|letter: char| !letter.is_alphanumeric(), "");
            let scratch = directory.join(&letters);
            fs::create_dir(&scratch).expect("a fresh name");
            let source = source.to_str().expect("the directory's name is text");
            // An absolute path, which replaces that of the other test programs.
            match compile_fortran(source, interface, &scratch) {
                Ok(executable) => {
                    let name = format!("{name}-{letters}");
                    programs.push(Self { name, executable });
                }
                Err(reason) => eprintln!("skipped {name}: {reason}"),
            }
        }
        programs
    }

    /// Returns the jobs that the program lists: a number of ranks, and the case that has a job of
    /// its own, if any.
    pub(crate) fn jobs(&self) -> Vec<Job> {
        let output = Command::new(&self.executable).arg("list").output().expect("it was compiled");
        assert!(output.status.success(), "{}: {output:?}", self.name);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let job = |line: &str| {
            let mut words = line.split_whitespace().map(str::to_owned);
            let ranks =
                words.next().and_then(|word| word.parse().ok()).expect("ranks, then a case");
            Job {
                program: self.name.clone(),
                executable: self.executable.clone(),
                ranks,
                case: words.next(),
            }
        };
        text.lines().map(job).collect()
    }
}
