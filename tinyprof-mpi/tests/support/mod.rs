//! Helpers that start test programs under the MPI of the build.

use std::process::Command;
use std::sync::OnceLock;

/// Returns the command `mpiexec -n RANKS`, ready for the program and its arguments.
///
/// `TINYPROF_MPIEXEC` names the launcher that belongs to the MPI of the build; the default is
/// `mpiexec`.
pub(crate) fn mpiexec(ranks: usize) -> Command {
    let name = std::env::var("TINYPROF_MPIEXEC").unwrap_or_else(|_| "mpiexec".to_owned());
    let mut command = Command::new(&name);
    if is_open_mpi(&name) {
        // A test in a container needs more ranks than cores, and runs as root.
        command.args(["--oversubscribe", "--bind-to", "none"]);
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    // The profiles of these programs are compared with the regions that they have.
    command.env("TINYPROF_MPI", "off");
    // The caller's settings for profiles are not meant for these programs.
    let names = [
        "",
        "_OUT",
        "_REPORT",
        "_AGGREGATORS",
        "_SERIES",
        "_DEADLINE",
        "_INTERVAL",
        "INTERIM_PROFILES",
        "_FORMAT",
        "_PRECISION",
        "_SIGNAL",
        "_WORLD",
    ];
    for variable in names.map(|end| format!("TINYPROF{end}")) {
        command.env_remove(variable);
    }
    // Ranks that mpiexec kills leave segments behind, which are removed with the build.
    command.env("TINYPROF_SEGMENT_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/segments"));
    // Both MPICH and Open MPI end a program that hangs after this number of seconds.
    command.env("MPIEXEC_TIMEOUT", "120");
    command.args(["-n", &ranks.to_string()]);
    command
}

fn is_open_mpi(launcher: &str) -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let output = Command::new(launcher).arg("--version").output();
        let output = output.unwrap_or_else(|error| {
            panic!(
                "cannot start {launcher}: {error}; TINYPROF_MPIEXEC names the launcher, `make test` sets it"
            )
        });
        let text = String::from_utf8_lossy(&output.stdout).to_lowercase();
        text.contains("open mpi") || text.contains("open-mpi") || text.contains("openrte")
    })
}
