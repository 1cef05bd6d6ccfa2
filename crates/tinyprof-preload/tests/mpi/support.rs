//! Helpers that compile test programs and start them under the MPI of the build.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use tinyprof_format::file::read_profile;
use tinyprof_format::model::Profile;

/// Returns the compiler of the MPI: `MPICC`, which `make test` sets.
pub(crate) fn mpicc() -> String {
    env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned())
}

/// Compiles a program of `tests/programs` into `directory`.
pub(crate) fn compile(source: &str, directory: &Path) -> PathBuf {
    let program = directory.join(source.split('.').next().expect("a name"));
    compile_with(&mpicc(), &["-lpthread"], source, &program);
    program
}

/// Compiles a program of `tests/programs` to `output`, with `flags` behind it.
pub(crate) fn compile_with(compiler: &str, flags: &[&str], source: &str, output: &Path) {
    let mut command = Command::new(compiler);
    command.args(["-g", "-O1", "-w", "-o"]).arg(output).arg(source_path(source)).args(flags);
    // Where a compiler of Fortran writes modules: other tests may compile the same program.
    command.current_dir(output.parent().expect("a file is in a directory"));
    let output = command.output().unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the path of a program's source.
pub(crate) fn source_path(source: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source)
}

/// Compiles a program in Fortran for the binding that the statement `interface` names.
///
/// # Errors
/// The reason, if there is no compiler of Fortran, or this MPI does not have the binding.
pub(crate) fn compile_fortran(
    source: &str,
    interface: &str,
    directory: &Path,
) -> Result<PathBuf, String> {
    let compiler = env::var("MPIFC").unwrap_or_else(|_| mpicc().replace("mpicc", "mpifort"));
    let is_header = interface.starts_with("include");
    let probe = directory.join("probe.f90");
    let (before, after) = if is_header { ("", interface) } else { (interface, "") };
    let text = format!("program probe\n{before}\nimplicit none\n{after}\nend program\n");
    fs::write(&probe, text).expect("it can be written");
    let output =
        Command::new(&compiler).arg("-o").arg(directory.join("probe")).arg(&probe).output();
    let is_there = output.map_err(|error| format!("{compiler}: {error}"))?.status.success();
    if !is_there {
        return Err(format!("{compiler} does not know `{interface}`"));
    }
    let program = directory.join("fortran");
    // `use mpi_f08` needs `-DUSE_MPI_F08`.
    let define = format!("-D{}", interface.to_uppercase().replace(' ', "_"));
    // Old interfaces have one procedure for buffers of all types and ranks.
    let mut flags = vec!["-fallow-argument-mismatch"];
    if !is_header {
        flags.push(&define);
    }
    compile_with(&compiler, &flags, source, &program);
    Ok(program)
}

/// Compiles a program in Rust, which declares the functions of MPI itself, into `directory`.
///
/// # Errors
/// The reason, if there is no compiler of Rust.
pub(crate) fn compile_rust(source: &str, directory: &Path) -> Result<PathBuf, String> {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let is_mpich = is_mpich(&compile("endings.c", directory));
    let program = directory.join("rust");
    let mut command = Command::new(compiler);
    command.args(["--edition", "2024", "-g", "-O", "-C", &format!("linker={}", mpicc())]);
    // The library of the MPI comes behind those of Rust: the linker keeps it though nothing before
    // needs it.
    command.args(["-C", "link-arg=-Wl,--no-as-needed"]);
    if is_mpich {
        command.args(["--cfg", "mpich"]);
    }
    if let Some((rayon, libraries)) = rayon() {
        command.args(["--cfg", "rayon", "--extern"]).arg(format!("rayon={}", rayon.display()));
        command.arg("-L").arg(format!("dependency={}", libraries.display()));
    }
    command.arg("-o").arg(&program).arg(source_path(source));
    let output = command.output().map_err(|error| format!("rustc: {error}"))?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(program)
}

/// Returns the newest rayon that was compiled for these tests, and where what it needs is.
pub(crate) fn rayon() -> Option<(PathBuf, PathBuf)> {
    let libraries = env::current_exe().ok()?.parent()?.to_owned();
    let is_rayon = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("librayon-") && name.ends_with(".rlib")
    };
    let files = fs::read_dir(&libraries).ok()?.flatten().map(|entry| entry.path());
    let newest = files
        .filter(is_rayon)
        .max_by_key(|path| fs::metadata(path).and_then(|facts| facts.modified()).ok());
    Some((newest?, libraries))
}

/// Returns whether a program uses an MPI of the family of MPICH.
fn is_mpich(program: &Path) -> bool {
    let output = Command::new("ldd").arg(program).output().expect("ldd is a part of the system");
    String::from_utf8_lossy(&output.stdout).contains("libmpich.so")
}

/// Returns a Python that has mpi4py from its binary package: `TINYPROF_MPI4PY`, which `make test`
/// sets. Makes links in `directory`, by which the package finds an
/// MPICH that is named otherwise.
///
/// # Errors
/// The reason, if there is none.
pub(crate) fn python(directory: &Path) -> Result<PathBuf, String> {
    let python = env::var_os("TINYPROF_MPI4PY").ok_or("TINYPROF_MPI4PY names no Python")?;
    let program = compile("endings.c", directory);
    let output = Command::new("ldd").arg(program).output().expect("ldd is a part of the system");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if let Some(line) = text.lines().find(|line| line.contains("libmpich.so.12")) {
        let library = line.split_whitespace().nth(2).expect("the loader finds it");
        // The package asks for the first name to recognise the MPI, and is linked to the second.
        for name in ["libmpi.so", "libmpi.so.12"] {
            std::os::unix::fs::symlink(library, directory.join(name)).expect("a fresh name");
        }
    }
    Ok(python.into())
}

/// Returns the library that is preloaded.
pub(crate) fn library() -> PathBuf {
    let test = env::current_exe().expect("the test has a path");
    let library = test.with_file_name("libtinyprof_preload.so");
    assert!(library.exists(), "{} is built with the tests", library.display());
    library
}

/// Returns the command `tinyprof`.
pub(crate) fn tinyprof() -> Command {
    let command = library().parent().expect("a directory").with_file_name("tinyprof");
    assert!(command.exists(), "{} is built with the workspace", command.display());
    Command::new(command)
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

/// Runs a program on `ranks` ranks with the library, at a level of `TINYPROF_MPI`, and returns its
/// profile.
pub(crate) fn profiled(
    program: &Path,
    arguments: &[&Path],
    ranks: usize,
    directory: &Path,
    level: &str,
) -> Profile {
    let preload = [("LD_PRELOAD", library().into_os_string())];
    profiled_with(&preload, program, arguments, ranks, directory, level)
}

/// As [`profiled`], with these variables of the environment, of which one names the library.
pub(crate) fn profiled_with(
    variables: &[(&str, OsString)],
    program: &Path,
    arguments: &[&Path],
    ranks: usize,
    directory: &Path,
    level: &str,
) -> Profile {
    let name = directory.join("p");
    let mut command = mpiexec(ranks);
    command.env("TINYPROF_MPI", level);
    // For Python's packages: see `python`.
    command.env("LD_LIBRARY_PATH", directory);
    command.env("TINYPROF_OUT", &name).envs(variables.iter().cloned());
    let output = command.arg(program).args(arguments).output().expect("mpiexec starts");
    assert!(output.status.success(), "{output:?}");
    let profile = read_profile(&directory.join("p.tprof"))
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    fs::remove_dir_all(directory.join("p.tprof")).expect("just read");
    profile
}
