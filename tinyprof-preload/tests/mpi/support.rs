//! Helpers that compile test programs and start them under the MPI of the build.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use tinyprof_format::file::read_profile;
use tinyprof_format::model::Profile;

/// Returns the compiler of the MPI: `MPICC`, which `make test` sets.
pub(crate) fn mpicc() -> String {
    env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned())
}

/// Compiles a program of `tests/programs` into `directory`.
pub(crate) fn compile(source: &str, directory: &Path) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    let program = directory.join(source.split('.').next().expect("a name"));
    let mut command = Command::new(mpicc());
    command.args(["-g", "-O1", "-w", "-o"]).arg(&program).arg(path);
    let output = command.output().expect("MPICC names a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Returns the library that is preloaded.
pub(crate) fn library() -> PathBuf {
    let test = env::current_exe().expect("the test has a path");
    let library = test.with_file_name("libtinyprof_preload.so");
    assert!(library.exists(), "{} is built with the tests", library.display());
    library
}

/// Returns the command `mpiexec -n RANKS`, ready for the program and its arguments.
pub(crate) fn mpiexec(ranks: usize) -> Command {
    let name = env::var("TINYPROF_MPIEXEC").unwrap_or_else(|_| "mpiexec".to_owned());
    let version = Command::new(&name).arg("--version").output().expect("TINYPROF_MPIEXEC starts");
    let mut command = Command::new(&name);
    if !String::from_utf8_lossy(&version.stdout).contains("HYDRA") {
        command.args(["--oversubscribe", "--bind-to", "none"]);
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    for (variable, _) in env::vars_os().filter(|(name, _)| {
        name.to_str().is_some_and(|name| name.starts_with("TINYPROF") && name != "TINYPROF_MPIEXEC")
    }) {
        command.env_remove(variable);
    }
    command.env("TINYPROF_SEGMENT_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/segments"));
    command.env("MPIEXEC_TIMEOUT", "120");
    command.args(["-n", &ranks.to_string()]);
    command
}

/// Runs a program on `ranks` ranks with the library, and returns its output and profile.
pub(crate) fn profiled(
    program: &Path,
    arguments: &[&Path],
    ranks: usize,
    directory: &Path,
) -> (Output, Profile) {
    let name = directory.join("p");
    let mut command = mpiexec(ranks);
    command.env("TINYPROF_OUT", &name).env("LD_PRELOAD", library());
    let output = command.arg(program).args(arguments).output().expect("mpiexec starts");
    assert!(output.status.success(), "{output:?}");
    let profile = read_profile(&directory.join("p.tprof"))
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    fs::remove_dir_all(directory.join("p.tprof")).expect("just read");
    (output, profile)
}
