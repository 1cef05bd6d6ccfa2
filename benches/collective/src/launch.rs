//! How programs are started under mpiexec.

use std::process::Command;

/// `mpiexec FLAGS -n RANKS`, of a launcher and its flags parted by spaces.
///
/// # Errors
/// When there is no launcher in it.
pub fn launcher(mpiexec: &str, ranks: u32) -> Result<Command, String> {
    let mut words = mpiexec.split_whitespace();
    let mut command = Command::new(
        words.next().ok_or("--mpiexec names no launcher: expected it with its flags")?,
    );
    command.args(words).arg("-n").arg(ranks.to_string());
    Ok(command)
}

/// What the command prints; its complaints go where ours do.
///
/// # Errors
/// When it cannot be started or fails.
pub fn output(mut command: Command) -> Result<Vec<u8>, String> {
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot start {command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?} ended with {}", output.status));
    }
    Ok(output.stdout)
}
