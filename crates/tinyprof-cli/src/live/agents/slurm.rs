//! The hosts of a job in a batch system.

use std::process::{Command, Stdio};

/// Returns the hosts of a running job of Slurm; none if there is no Slurm, or no such job.
pub(in crate::live) fn hosts_of_job(job: &str) -> Option<Vec<String>> {
    let is_number = job.starts_with(|first: char| first.is_ascii_digit())
        && job.chars().all(|one| one.is_ascii_alphanumeric() || "_+.".contains(one));
    if !is_number {
        return None;
    }
    let whole = job.split('.').next().unwrap_or(job);
    let list = said("squeue", &["--noheader", "--states=R", "--format=%N", "--jobs", whole])?;
    let hosts = said("scontrol", &["show", "hostnames", list.trim()])?;
    let hosts: Vec<String> = hosts.split_whitespace().map(str::to_owned).collect();
    (!hosts.is_empty()).then_some(hosts)
}

fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    let output = command.args(arguments).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then_some(text)
}
