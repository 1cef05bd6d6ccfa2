//! Hosts that die or are stopped while they are watched: each is named, and costs nothing else.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::job::Job;
use crate::profiles::{profile, visits_by_rank};

/// Documents of `tinyprof top --json`, one after the other.
struct Documents {
    watching: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Documents {
    fn of(job: &Job, hosts: &str) -> Self {
        let mut command = job.command(hosts, &["top", "--json"]);
        let mut watching = command.stdout(Stdio::piped()).spawn().expect("tinyprof starts");
        let lines = BufReader::new(watching.stdout.take().expect("a pipe")).lines();
        Self { watching, lines }
    }

    /// Returns the next one of which this is true.
    fn next_with(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let documents = self.lines.by_ref().map_while(Result::ok);
        let mut documents = documents.map(|line| serde_json::from_str(&line).expect(&line));
        documents.find(is_wanted).expect("it goes on until there is one")
    }
}

fn visits_of(document: &Value, name: &str) -> Option<u64> {
    let callpaths = document["callpaths"].as_array().expect("a list");
    callpaths.iter().find(|one| one["name"] == name)?["visits"].as_u64()
}

/// Sends a signal to a rank, and to the agent that watches it.
fn signal(job: &Job, rank: usize, signal: &str) {
    let agent = format!("agent --hosts=n{rank} .*--rsh={}/shell", job.place.path().display());
    let sent = Command::new("pkill").args([signal, "-f", &agent]).status().expect("procps");
    assert!(sent.success(), "there is an agent");
    let id = job.ranks[rank].child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().expect("procps").success());
}

#[test]
fn a_host_that_dies_is_named_and_what_it_has_told_stays() {
    let mut job = Job::start();
    job.ranks[1].step();
    let mut documents = Documents::of(&job, "n0,n1");
    documents.next_with(|one| visits_of(one, "step") == Some(3));
    signal(&job, 1, "-KILL");
    let document = documents.next_with(|one| one["missing"]["count"] == 1);
    assert_eq!(document["missing"]["worst"][0]["host"], "n1");
    // The other one is seen as before, and the sums of the dead one do not go.
    job.ranks[0].step();
    let document = documents.next_with(|one| visits_of(one, "step") == Some(4));
    assert_eq!((&document["ranks"], &document["ranks_seen"]), (&2.into(), &2.into()));
    let Job { place, ranks: [first, mut dead] } = job;
    first.end();
    let visits_on = |host: &str, name: &str| {
        let profile = profile(&place.path().join(host), name);
        visits_by_rank(&profile, "step").iter().sum::<u64>()
    };
    assert_eq!(visits_on("n0", "job.tprof"), 2);
    documents.next_with(|one| one["has_ended"] == true);
    assert!(documents.watching.wait().expect("ours").success());
    // What its rank had recorded is in the memory of its host.
    dead.child.wait().expect("it is ours");
    let mut recover = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    recover.args(["recover", "segments", "-o", "dead"]).current_dir(place.path().join("n1"));
    let output = recover.output().expect("tinyprof starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(visits_on("n1", "dead.tprof"), 2);
}

#[test]
fn a_host_that_is_stopped_is_named_until_it_goes_on() {
    let mut job = Job::start();
    let mut documents = Documents::of(&job, "n0,n1");
    documents.next_with(|one| visits_of(one, "step") == Some(2));
    signal(&job, 1, "-STOP");
    let document = documents.next_with(|one| one["missing"]["count"] == 1);
    let named = &document["missing"]["worst"][0];
    assert_eq!(named["host"], "n1");
    assert!(named["why"].as_str().is_some_and(|why| why.starts_with("silent for ")), "{named}");
    job.ranks[0].step();
    let document = documents.next_with(|one| visits_of(one, "step") == Some(3));
    assert_eq!((&document["ranks"], &document["ranks_seen"]), (&2.into(), &2.into()));
    signal(&job, 1, "-CONT");
    job.ranks[1].step();
    documents.next_with(|one| visits_of(one, "step") == Some(4) && one["missing"]["count"] == 0);
    job.end();
    documents.next_with(|one| one["has_ended"] == true);
    assert!(documents.watching.wait().expect("ours").success());
}
