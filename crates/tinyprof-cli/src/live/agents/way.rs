//! How a process is started on another host of a job.

use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::Duration;
use std::{env, io, iter};

use super::slurm::hosts_of_job;

/// The command that starts a process on another host, if the user names none. It must not ask for
/// anything: nobody would see it.
const REMOTE_SHELL: &str = "ssh -oBatchMode=yes -oConnectTimeout=10";

/// Runs the first argument if it is there, and else the command of this name in the path.
const SCRIPT: &str = "if [ -x \"$0\" ]; then exec \"$0\" \"$@\"; else exec tinyprof \"$@\"; fi";

/// How a process is started on a host of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::live) enum Way {
    /// By a command that takes the host and a command for its shell.
    Shell(String),
    /// In the allocation of a job of Slurm.
    Slurm(String),
    /// On this host, beside this process.
    Here,
}

/// Returns how to reach the hosts that the user names, or those of a job of Slurm, and the hosts;
/// `None` if there are none, which means this one.
pub(in crate::live) fn way_to_hosts(
    job: Option<&str>,
    named: &[String],
    remote_shell: Option<&str>,
) -> Option<(Way, Vec<String>)> {
    let slurm_job = job.filter(|_| named.is_empty());
    match slurm_job.and_then(|job| Some((job, hosts_of_job(job)?))) {
        Some((job, hosts)) => Some((Way::new(None, Some(job)), hosts)),
        None if named.is_empty() => None,
        None => Some((Way::new(remote_shell, None), named.to_vec())),
    }
}

/// A process that was started for another host; dropping it ends it.
#[derive(Debug)]
pub(in crate::live) struct Started(Child);

impl Started {
    /// Starts it. Its input stays open as long as this value.
    ///
    /// # Errors
    /// If it cannot be started; for people.
    pub(in crate::live) fn new(
        mut command: Command,
    ) -> Result<(Self, ChildStdout, ChildStderr), String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let cannot = |error: io::Error| format!("cannot start {program}: {error}");
        let mut process = command.spawn().map_err(cannot)?;
        let pipes = process.stdout.take().zip(process.stderr.take());
        let (output, errors) = pipes.ok_or_else(|| cannot(io::ErrorKind::BrokenPipe.into()))?;
        Ok((Self(process), output, errors))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It ends with its input, wherever it is; what has started it may not.
        drop(self.0.stdin.take());
        if self.0.kill().is_ok() {
            self.0.wait().ok();
        }
    }
}

/// The orders of agents: how to start others, where to look, and for which job.
#[derive(Clone, Debug)]
pub(in crate::live) struct Task {
    pub(in crate::live) way: Way,
    pub(in crate::live) directory: Option<PathBuf>,
    pub(in crate::live) job: Option<String>,
    pub(in crate::live) interval: Duration,
    /// The seconds between two reports of all measurements; none are sent otherwise.
    pub(in crate::live) measurements: Option<u32>,
}

impl Way {
    pub(in crate::live) fn new(remote_shell: Option<&str>, slurm_job: Option<&str>) -> Self {
        match slurm_job {
            Some(job) => Self::Slurm(job.to_owned()),
            None => Self::Shell(remote_shell.unwrap_or(REMOTE_SHELL).to_owned()),
        }
    }

    /// Returns the command that runs these arguments on a host; the first is the program.
    pub(in crate::live) fn command(&self, host: &str, arguments: &[String]) -> Command {
        match self {
            Self::Here => {
                let mut words = arguments.iter();
                let mut command = Command::new(words.next().map_or("tinyprof", String::as_str));
                command.args(words);
                command
            }
            Self::Shell(shell) => {
                let mut words = shell.split_whitespace();
                let mut command = Command::new(words.next().unwrap_or("ssh"));
                let quoted = ["sh", "-c", SCRIPT].into_iter();
                let quoted = quoted.chain(arguments.iter().map(String::as_str)).map(quoted_word);
                command.args(words).arg(host).arg(quoted.collect::<Vec<_>>().join(" "));
                command
            }
            Self::Slurm(job) => {
                let mut command = Command::new("srun");
                command.args(["--overlap", "--quiet", "--nodes=1", "--ntasks=1", "--mem=0"]);
                command.args([format!("--jobid={job}"), format!("--nodelist={host}")]);
                command.args(["--mpi=none", "sh", "-c", SCRIPT]).args(arguments);
                command
            }
        }
    }
}

impl Task {
    /// Returns the command that starts an agent on the first of these hosts, which watches the
    /// others as well.
    pub(super) fn command(&self, hosts: &[String]) -> Command {
        let exe = env::current_exe().unwrap_or_else(|_| PathBuf::from("tinyprof"));
        let mut arguments = vec![exe.display().to_string(), "agent".to_owned()];
        let mut option = |name: &str, value: String| arguments.push(format!("--{name}={value}"));
        option("hosts", hosts.join(","));
        option("interval", self.interval.as_secs().max(1).to_string());
        self.measurements.iter().for_each(|every| option("measurements", every.to_string()));
        self.job.iter().for_each(|job| option("job", job.clone()));
        match &self.way {
            Way::Shell(shell) => option("rsh", shell.clone()),
            Way::Slurm(job) => option("slurm-job", job.clone()),
            Way::Here => {}
        }
        arguments.extend(self.directory.iter().map(|directory| directory.display().to_string()));
        self.way.command(&hosts[0], &arguments)
    }
}

/// Returns a word as a shell reads it.
fn quoted_word(word: &str) -> String {
    let inner = word.replace('\'', "'\\''");
    iter::once("'").chain([inner.as_str(), "'"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> Vec<String> {
        let arguments = command.get_args().map(|word| word.to_string_lossy().into_owned());
        iter::once(command.get_program().to_string_lossy().into_owned()).chain(arguments).collect()
    }

    #[test]
    fn a_remote_shell_gets_one_command_that_it_reads_as_it_was_meant() {
        let way = Way::new(Some("sh -c"), None);
        let command = way.command("echo it's; printf '%s|'", &["/bin/echo".into(), "a b'c".into()]);
        // Here the host takes the place of the command, so that the quoted words are its `$0`.
        let words = words(&command);
        assert_eq!(words[..2], ["sh", "-c"]);
        let said = Command::new("sh").arg("-c").arg(&words[3]).output().expect("a shell");
        assert_eq!(String::from_utf8_lossy(&said.stdout), "a b'c\n");
    }

    #[test]
    fn slurm_starts_one_process_beside_those_of_the_job() {
        let task = Task {
            way: Way::new(None, Some("4711")),
            directory: None,
            job: Some("4711".to_owned()),
            interval: Duration::from_secs(2),
            measurements: Some(10),
        };
        let words = words(&task.command(&["n1".to_owned(), "n2".to_owned()]));
        for word in [
            "srun",
            "--overlap",
            "--jobid=4711",
            "--nodelist=n1",
            "--hosts=n1,n2",
            "--measurements=10",
        ] {
            assert!(words.iter().any(|found| found == word), "{word}: {words:?}");
        }
    }
}
