//! The roll call of ranks that a batch system starts one by one: `srun tinyprof run -- ./a.out`.
//! The first of them holds it, and the others find its invitation in a directory that all see.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{process, thread};

use tinyprof_roll_call::Invitation;

use crate::sys::user_id;

/// How often a task looks for the invitation, which is not there if the directory is not shared ...
const LOOKS: u32 = 150;
/// ... and the time between two looks.
const PAUSE: Duration = Duration::from_millis(20);
/// How long the invitation can be found.
const OPEN_FOR: Duration = Duration::from_secs(60);
/// The most bytes of an invitation.
const BYTES_MAX: u64 = 4096;

/// One task of a step on several hosts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Task {
    is_first: bool,
    invitation: PathBuf,
}

impl Task {
    /// Returns the task that Slurm's variables name. `None` if there are none, or if all tasks are
    /// on one host, where ranks know each other without a roll call.
    pub(super) fn new(directory: &Path, variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| variable(name)?.parse::<u64>().ok();
        if number("SLURM_STEP_NUM_NODES")? < 2 {
            return None;
        }
        let (job, step) = (number("SLURM_JOB_ID")?, number("SLURM_STEP_ID")?);
        let restart = number("SLURM_RESTART_COUNT").unwrap_or(0);
        let name = format!(".tinyprof-roll-call-{job}.{step}.{restart}");
        Some(Self { is_first: number("SLURM_PROCID")? == 0, invitation: directory.join(name) })
    }

    /// Returns whether this task holds the roll call.
    pub(super) const fn is_first(&self) -> bool {
        self.is_first
    }

    /// Lets the others find the invitation.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn publish(&self, invitation: &Invitation) -> io::Result<()> {
        // Complete at once for those who look.
        let partial = self.invitation.with_extension(process::id().to_string());
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(&partial)?;
        let written = file.write_all(invitation.to_string().as_bytes());
        written.and_then(|()| fs::rename(&partial, &self.invitation)).inspect_err(|_| {
            fs::remove_file(&partial).ok();
        })
    }

    /// Removes the invitation when all tasks have started, however long the first one runs.
    pub(super) fn remove_later(&self) {
        let invitation = self.invitation.clone();
        thread::spawn(move || {
            thread::sleep(OPEN_FOR);
            fs::remove_file(invitation).ok();
        });
    }

    /// Removes the invitation.
    pub(super) fn remove(&self) {
        // It is gone already if the first task has run for long.
        fs::remove_file(&self.invitation).ok();
    }

    /// Waits for the invitation. `None` if there is none within three seconds.
    pub(super) fn awaited(&self) -> Option<Invitation> {
        (0..LOOKS).find_map(|look| {
            if look > 0 {
                thread::sleep(PAUSE);
            }
            self.found()
        })
    }

    /// Returns the invitation, if this user alone could have written it.
    fn found(&self) -> Option<Invitation> {
        let file = File::open(&self.invitation).ok()?;
        let metadata = file.metadata().ok()?;
        if metadata.uid() != user_id() || metadata.mode() & 0o077 != 0 {
            return None;
        }
        let mut text = String::new();
        file.take(BYTES_MAX).read_to_string(&mut text).ok()?;
        Invitation::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn task(directory: &Path, rank: &str, more: &[(&str, &str)]) -> Option<Task> {
        let of_step = [
            ("SLURM_STEP_NUM_NODES", "2"),
            ("SLURM_JOB_ID", "7"),
            ("SLURM_STEP_ID", "0"),
            ("SLURM_PROCID", rank),
        ];
        Task::new(directory, |name| {
            let given = more.iter().chain(&of_step).find(|(of, _)| *of == name);
            given.map(|(_, value)| (*value).to_owned()).filter(|value| !value.is_empty())
        })
    }

    #[test]
    fn the_others_find_what_the_first_has_published() {
        let scratch = tempfile::tempdir().expect("a directory");
        let [first, other] = ["0", "3"].map(|rank| task(scratch.path(), rank, &[]));
        let (first, other) = (first.expect("a task"), other.expect("a task"));
        assert!(first.is_first() && !other.is_first());
        assert_eq!(other.found(), None);

        let invitation = Invitation::new("a1", vec!["10.0.0.1:7".parse().expect("an address")]);
        let looking = thread::spawn(move || other.awaited());
        first.publish(&invitation).expect("it is written");
        assert_eq!(looking.join().expect("it ends"), Some(invitation.clone()));
        first.publish(&invitation).expect("it is replaced");
        first.remove();
        assert_eq!(fs::read_dir(scratch.path()).expect("it is there").count(), 0);
    }

    #[test]
    fn an_invitation_that_others_may_have_written_is_none() {
        let scratch = tempfile::tempdir().expect("a directory");
        let first = task(scratch.path(), "0", &[]).expect("a task");
        first.publish(&Invitation::new("a1", Vec::new())).expect("it is written");
        fs::write(&first.invitation, "a1@10.0.0.1:7").expect("it is there");
        assert!(first.found().is_some());
        let mode = |mode| fs::set_permissions(&first.invitation, fs::Permissions::from_mode(mode));
        mode(0o620).expect("it is ours");
        assert_eq!(first.found(), None);
    }

    #[test]
    fn there_are_no_tasks_on_one_host_or_without_slurm() {
        let none = Path::new("");
        for variable in ["SLURM_STEP_NUM_NODES", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID"] {
            assert_eq!(task(none, "0", &[(variable, "")]), None, "{variable}");
        }
        assert_eq!(task(none, "0", &[("SLURM_STEP_NUM_NODES", "1")]), None);
        let [before, again] = ["0", "1"].map(|n| task(none, "0", &[("SLURM_RESTART_COUNT", n)]));
        assert_ne!(before, again, "a job that was started again has another invitation");
    }
}
