//! `tinyprof top --hosts`: one picture of a job whose ranks are on several hosts. Directories take
//! the place of hosts, and a script that of ssh.

#![cfg(feature = "top")]

#[path = "support/watched.rs"]
mod watched;

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use watched::Watched;

/// A stand-in for ssh: `bad` cannot be reached, and `liar` sends nonsense.
const SHELL: &str = r#"#!/bin/sh
case $1 in
bad) echo "shell: no route to $1" >&2; exit 255 ;;
liar) echo "what is no picture"; exec cat ;;
esac
TINYPROF_SEGMENT_DIR=$(dirname "$0")/$1/segments
export TINYPROF_SEGMENT_DIR
exec sh -c "$2"
"#;

/// A job of two ranks on hosts `n0` and `n1`.
struct Job {
    place: tempfile::TempDir,
    ranks: [Watched; 2],
}

impl Job {
    fn start() -> Self {
        let place = tempfile::tempdir().expect("a temporary directory");
        let shell = place.path().join("shell");
        fs::write(&shell, SHELL).expect("it is written");
        fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let rank = |number: &str| {
            let host = place.path().join(format!("n{number}"));
            fs::create_dir(&host).expect("a directory");
            Watched::start(&host, &[("PMI_RANK", number), ("PMI_SIZE", "2")])
        };
        let ranks = [rank("0"), rank("1")];
        Self { place, ranks }
    }

    /// Returns what is shown of hosts.
    fn top(&self, hosts: &str) -> (Option<i32>, String) {
        self.top_with(hosts, &["--once"])
    }

    fn top_with(&self, hosts: &str, options: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
        command.arg("top").args(options).args(["--hosts", hosts, "--rsh"]);
        command.arg(self.place.path().join("shell")).env("TINYPROF_WIDTH", "200");
        let output = command.output().expect("tinyprof starts");
        let both = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(both).expect("text"))
    }

    fn end(self) {
        self.ranks.into_iter().for_each(Watched::end);
    }
}

/// Returns the number of visits in the line of `step`.
fn steps(shown: &str) -> &str {
    let line = shown.lines().find(|line| line.contains(" step ")).expect(shown);
    // After the name: inclusive, exclusive, share, now, visits.
    let cells = line.split_once(" step ").expect("the name").1;
    cells.split_whitespace().nth(4).expect("visits")
}

#[test]
fn ranks_of_two_hosts_are_one_picture() {
    let mut job = Job::start();
    job.ranks[1].step();
    job.ranks[1].step();
    let (code, shown) = job.top("n0,n1");
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.starts_with("job.tprof: 2 ranks on 2 hosts, ran "), "{shown}");
    assert_eq!(steps(&shown), "4", "{shown}");
    assert!(!shown.contains("nothing of"), "{shown}");
    // Half of it, and said to be that.
    let (_, half) = job.top("n1");
    assert!(half.starts_with("job.tprof: 1 of 2 ranks on 1 host, ran "), "{half}");
    assert_eq!(steps(&half), "3", "{half}");
    job.end();
}

#[test]
fn scripts_get_documents_and_wait_for_conditions() {
    let job = Job::start();
    let (code, shown) = job.top_with("n0,n1,bad", &["--once", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&shown).expect(&shown);
    assert_eq!(code, Some(0));
    assert_eq!((&document["ranks"], &document["ranks_seen"]), (&2.into(), &2.into()));
    assert_eq!(document["missing"]["worst"][0]["host"], "bad");
    let callpaths = document["callpaths"].as_array().expect("a list");
    let step = callpaths.iter().find(|one| one["name"] == "step").expect("it is there");
    assert_eq!((&step["callpath"], &step["visits"]), (&"run<step".into(), &2.into()), "{step}");
    assert_eq!(step["slowest"].as_array().map(Vec::len), Some(2));
    // It goes on until the condition holds.
    let (code, shown) = job.top_with("n0,n1", &["--until", r#"visits["step"] == 2.0"#]);
    assert!(code == Some(0) && shown.starts_with("job.tprof: 2 ranks"), "{shown}");
    let (code, shown) = job.top_with("n0,n1", &["--once", "--until", "ranks > 7.0"]);
    assert!(code == Some(1) && shown.contains("it is not so that ranks > 7.0"), "{shown}");
    let (code, shown) = job.top_with("n0", &["--until", "rnks > 7.0"]);
    assert!(code == Some(1) && shown.contains("--until knows no rnks"), "{shown}");
    job.end();
}

#[test]
fn a_host_that_fails_is_named_and_costs_nothing_else() {
    let job = Job::start();
    std::os::unix::fs::symlink("n1", job.place.path().join("twin")).expect("a second name");
    for (host, why) in [
        ("bad", "nothing of bad: shell: no route to bad"),
        ("liar", "nothing of liar: what came is no picture of a job"),
        ("elsewhere", "nothing of elsewhere: no such job records there yet"),
        ("twin", "nothing of twin: tells of ranks that another host tells of, too"),
    ] {
        let (code, shown) = job.top(&format!("n0,n1,{host}"));
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.starts_with("job.tprof: 2 ranks on 2 hosts, ran "), "{shown}");
        assert_eq!(steps(&shown), "2", "{shown}");
        assert!(shown.contains(why), "{host}: {shown}");
    }
    let (code, shown) = job.top("bad");
    assert_eq!(code, Some(1));
    assert!(shown.contains("nothing of bad: shell: no route to bad"), "{shown}");
    job.end();
}

#[test]
fn agents_of_many_hosts_start_those_of_others() {
    let job = Job::start();
    let others: Vec<String> = (2..70).map(|number| format!("m{number}")).collect();
    let (code, shown) = job.top(&format!("{},n0,n1", others.join(",")));
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.starts_with("job.tprof: 2 ranks on 2 hosts, ran "), "{shown}");
    assert_eq!(steps(&shown), "2", "{shown}");
    assert!(shown.contains("and 65 more"), "of 68 hosts three are named: {shown}");
    job.end();
}

#[test]
fn an_agent_ends_with_its_input_and_with_its_output() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let agent = |directory: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
        command.args(["agent", "--hosts=here"]).arg(directory);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts")
    };
    let mut first = agent(place.path());
    let mut begin = [0; 8];
    let output = first.stdout.as_mut().expect("a pipe");
    output.read_exact(&mut begin).expect("a picture comes");
    assert_eq!(&begin, b"TPPIC001");
    drop(first.stdin.take());
    assert!(first.wait().expect("it ends").success(), "with its input");
    let mut second = agent(place.path());
    drop(second.stdout.take());
    assert!(second.wait().expect("it ends").success(), "with its output");
}
