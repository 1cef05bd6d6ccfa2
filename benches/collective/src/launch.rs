//! Starting programs under mpiexec.

use std::process::Command;

/// Returns the command `mpiexec FLAGS -n RANKS`, from a launcher and its flags separated by spaces.
///
/// # Errors
/// Fails if `mpiexec` names no launcher.
pub fn launcher(mpiexec: &str, ranks: u32) -> Result<Command, String> {
    let mut words = mpiexec.split_whitespace();
    let mut command = Command::new(
        words.next().ok_or("--mpiexec names no launcher: expected it with its flags")?,
    );
    command.args(words).arg("-n").arg(ranks.to_string());
    Ok(command)
}

/// Returns the output of the command; its errors go to our standard error.
///
/// # Errors
/// Fails if the command cannot be started or fails.
pub fn output(mut command: Command) -> Result<Vec<u8>, String> {
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot start {command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?} ended with {}", output.status));
    }
    Ok(output.stdout)
}
