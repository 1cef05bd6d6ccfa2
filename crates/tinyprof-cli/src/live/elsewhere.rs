//! Runs a command of tinyprof on all hosts of a job, and joins the profiles that they send back.

use std::env;
use std::error::Error;
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use serde_json::{Map, Value, json};
use tinyprof_format::model::EventMap;
use tinyprof_report::escaped;

use super::agents::{Started, Way, way_to_hosts};
use super::giver::Giver;
use super::joined;
use super::profile::{Name, write};
use super::told::{Files, Head, Told};
use crate::arguments::{OnJob, SegmentChoice};
use crate::{memory, render};

/// The name by which this host reports to a process of its own.
const HERE: &str = "here";

/// The hosts of a job.
#[derive(Debug)]
pub(super) struct Elsewhere<'a> {
    way: Way,
    hosts: Vec<String>,
    segments: &'a SegmentChoice,
}

/// The reply of a host.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) host: String,
    pub(super) head: Head,
    pub(super) files: Files,
}

/// A part of a reply. Hosts are numbered in the order of their list.
enum Piece {
    Head(usize, Head),
    End(usize, Result<Files, String>),
}

impl<'a> Elsewhere<'a> {
    /// Returns the hosts that the user names, or those of a job of Slurm; `None` if it is this one,
    /// also for a process that was started here for its part of a job.
    pub(super) fn of(on: &'a OnJob) -> Option<Self> {
        if on.packed {
            return None;
        }
        let OnJob { segments, hosts, .. } = on;
        let job = segments.job.as_deref();
        let (way, hosts) = way_to_hosts(job, &hosts.hosts, hosts.remote_shell.as_deref())?;
        Some(Self { way, hosts, segments })
    }

    /// Returns this host, as one of its own. A job of Slurm may have the number of a process here.
    pub(super) fn here(on: &'a OnJob) -> Self {
        Self { way: Way::Here, hosts: vec![HERE.to_owned()], segments: &on.segments }
    }

    /// Runs a command on all of them at the same time, and tells what each says as soon as it does.
    /// Those that fail are noted.
    ///
    /// # Errors
    /// If all fail.
    pub(super) fn run(
        &self,
        command: &[&str],
        mut tell: impl FnMut(&str, &Head) -> Result<(), Box<dyn Error>>,
    ) -> Result<Vec<Sent>, Box<dyn Error>> {
        let (sender, pieces) = channel();
        let by = Giver::here().option();
        // They end with this function.
        let _processes: Vec<Option<Started>> = (0..)
            .zip(&self.hosts)
            .map(|(number, host)| self.start(number, host, (command, &by), &sender))
            .collect();
        drop(sender);
        let mut heads: Vec<Option<Head>> = self.hosts.iter().map(|_| None).collect();
        let (mut sent, mut failed) = (Vec::new(), Vec::new());
        for piece in pieces {
            match piece {
                Piece::Head(number, head) => {
                    tell(&self.hosts[number], &head)?;
                    heads[number] = Some(head);
                }
                Piece::End(number, end) => match (end, heads[number].take()) {
                    (Ok(files), Some(head)) => {
                        let host = self.hosts[number].clone();
                        sent.push(Sent { host, head, files });
                    }
                    (Ok(_), None) => {}
                    (Err(why), _) => failed.push(format!("{}: {why}", self.hosts[number])),
                },
            }
        }
        if sent.is_empty() {
            return Err(failed.join("; ").into());
        }
        render::notes(&failed);
        Ok(sent)
    }

    fn start(
        &self,
        number: usize,
        host: &str,
        (command, by): (&[&str], &str),
        sender: &Sender<Piece>,
    ) -> Option<Started> {
        let exe = env::current_exe().unwrap_or_else(|_| PathBuf::from("tinyprof"));
        let mut arguments = vec![exe.display().to_string()];
        arguments.extend(command.iter().map(|&word| word.to_owned()));
        arguments.extend(["--packed".to_owned(), by.to_owned()]);
        arguments.extend(self.segments.job.iter().map(|job| format!("--job={job}")));
        arguments.extend(self.segments.directory.iter().map(|path| path.display().to_string()));
        let sender = sender.clone();
        let (process, output, errors) = match Started::new(self.way.command(host, &arguments)) {
            Ok(started) => started,
            Err(why) => {
                sender.send(Piece::End(number, Err(why))).ok();
                return None;
            }
        };
        thread::spawn(move || {
            let last_line = thread::spawn(move || {
                let lines = BufReader::new(errors).lines().map_while(Result::ok);
                lines.filter(|line| !line.trim().is_empty()).last()
            });
            let mut output = BufReader::new(output);
            let end = Head::read(&mut output).and_then(|head| {
                let bytes_max = memory::read_options().memory_bytes();
                let files = head.read_files(&mut output, bytes_max);
                sender.send(Piece::Head(number, head)).ok();
                files
            });
            let end = end.map_err(|error| {
                let has_ended = error.kind() == ErrorKind::UnexpectedEof;
                let said = if has_ended { last_line.join().ok().flatten() } else { None };
                said.map_or_else(
                    || format!("what it sends is no answer: {error}"),
                    |line| without_name(&line).to_owned(),
                )
            });
            sender.send(Piece::End(number, end)).ok();
        });
        Some(process)
    }
}

/// Returns an error of tinyprof without its beginning.
fn without_name(line: &str) -> &str {
    line.strip_prefix("error: ").unwrap_or(line).trim()
}

/// Returns what hosts have told.
pub(super) fn by_host(sent: &[Sent]) -> Told {
    let lines = sent.iter().map(|sent| {
        let told = sent.head.text.lines();
        told.map(|line| escaped(&format!("{}: {line}", sent.host)) + "\n").collect::<String>()
    });
    let json: Map<String, Value> =
        sent.iter().map(|sent| (sent.host.clone(), sent.head.json.clone())).collect();
    Told { text: lines.collect(), json: json!({ "hosts": json }), profile: None }
}

/// Writes one profile of those that hosts have sent, each of its own ranks, and returns its path.
///
/// # Errors
/// If one is no profile, or nothing can be written.
pub(super) fn write_joined(sent: &[Sent], name: Option<&Path>) -> Result<PathBuf, Box<dyn Error>> {
    let mut ranks: Vec<EventMap> = Vec::new();
    let (mut metadata, mut hosts) = (None, Vec::new());
    for Sent { files, .. } in sent.iter().filter(|sent| !sent.files.is_empty()) {
        let profile = memory::read_options().read_of(files)?;
        joined::add_ranks(&profile, &mut ranks);
        for host in &profile.manifest.metadata.hostlist {
            if !hosts.contains(host) {
                hosts.push(host.clone());
            }
        }
        // That of the lowest rank.
        let lowest = profile.ranks.iter().position(|facts| facts.process_id != 0);
        if metadata.as_ref().is_none_or(|(of, _)| lowest < *of) {
            metadata = Some((lowest, profile.manifest.metadata.clone()));
        }
    }
    let mut metadata = metadata.map(|(_, metadata)| metadata).unwrap_or_default();
    metadata.numhosts = u32::try_from(hosts.len()).unwrap_or(u32::MAX);
    metadata.hostlist = hosts;
    let head = sent.iter().map(|sent| sent.head.name.as_str()).find(|name| !name.is_empty());
    let own = format!("{}.tprof", head.unwrap_or("profile"));
    let name = Name { chosen: name, directory: "".as_ref(), ending: "" };
    // Each host knows of its own ranks alone.
    write(metadata, &ranks, Some((joined::count(&ranks), ranks.len())), &own, name)
}
