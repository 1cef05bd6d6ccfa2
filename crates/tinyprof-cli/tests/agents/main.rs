//! `tinyprof top --hosts`: one picture of a job whose ranks are on several hosts. Directories take
//! the place of hosts, and a script that of ssh.

#![cfg(feature = "top")]

mod cost;
mod job;
mod lost;
#[path = "../support/profiles.rs"]
mod profiles;
#[path = "../support/steered.rs"]
#[expect(dead_code, reason = "other tests give commands to one host")]
mod steered;
#[path = "../support/watched.rs"]
mod watched;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

use job::Job;
use profiles::{profile, visits_by_rank};
use steered::Stepping;
use watched::Watched;

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
fn a_job_ends_for_who_watches_though_an_agent_was_killed() {
    let job = Job::start();
    let mut watching = job.command("n0,n1", &["top", "--json"]);
    let mut watching = watching.stdout(Stdio::piped()).spawn().expect("tinyprof starts");
    let mut documents = BufReader::new(watching.stdout.take().expect("a pipe")).lines();
    let mut has = |words: &str| {
        documents.by_ref().map_while(Result::ok).any(|document| document.contains(words))
    };
    assert!(has("\"ranks_seen\":2"));
    let shell = job.place.path().join("shell");
    let agent = format!("agent --hosts=n1 .*--rsh={}", shell.display());
    let killed = Command::new("pkill").args(["-KILL", "-f", &agent]).status().expect("procps");
    assert!(killed.success());
    assert!(has("\"host\":\"n1\""), "it is missing");
    job.end();
    assert!(watching.wait().expect("ours").success());
}

#[test]
fn agents_that_are_killed_while_they_hold_free_their_ranks() {
    let Job { place, ranks } = Job::start_with(&[("TINYPROF_STEER", "hold")]);
    let [first, second] = ranks.map(Stepping::begin);
    let job = |hosts: &str, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
        command.args(arguments).args(["--hosts", hosts, "--rsh"]).arg(place.path().join("shell"));
        command.current_dir(place.path());
        command
    };
    let mut holding = job("n0,n1", &["ctl", "hold", "--for", "50s"]);
    let mut holding = holding.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    let are_held = |host: &str| {
        let output = job(host, &["ctl", "status", "--json"]).output().expect("tinyprof starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let status: Value = serde_json::from_str(&text).expect(&text);
        status["hosts"][host]["ranks"][0]["held_ns"].is_u64()
    };
    while !are_held("n0") || !are_held("n1") {}
    let pattern = format!("ctl hold --for .*process {}", holding.id());
    let killed = Command::new("pkill").args(["-KILL", "-f", &pattern]).status();
    assert!(killed.expect("procps").success(), "{pattern}: {:?}", holding.try_wait());
    // Nobody renews the lease of their ranks any more.
    while are_held("n0") || are_held("n1") {}
    holding.kill().ok();
    holding.wait().expect("ours");
    for (host, stepping) in [("n0", first), ("n1", second)] {
        let (program, steps) = stepping.end();
        program.end();
        let own = profile(&place.path().join(host), "job.tprof");
        assert_eq!(visits_by_rank(&own, "step").iter().sum::<u64>(), steps, "{host}");
    }
}

#[test]
fn a_subscriber_gets_the_facts_of_all_hosts_until_the_job_ends() {
    let job = Job::start();
    let options = ["ctl", "subscribe", "--facts", "callpaths", "--callpath", "step"];
    let mut command = job.command("n0,n1", &options);
    let mut subscribed = command.stdout(Stdio::piped()).spawn().expect("tinyprof starts");
    let mut lines = BufReader::new(subscribed.stdout.take().expect("a pipe")).lines();
    let mut has = |words: &[&str]| {
        let documents = lines.by_ref().map_while(Result::ok);
        documents.into_iter().any(|line| words.iter().all(|&word| line.contains(word)))
    };
    assert!(has(&["\"ranks_seen\":2", "\"callpath\":\"run<step\"", "\"visits\":2"]));
    job.end();
    assert!(has(&["\"has_ended\":true"]));
    assert!(subscribed.wait().expect("ours").success());
}

#[test]
fn scripts_get_documents_and_wait_for_conditions() {
    let job = Job::start();
    let (code, shown) = job.top_with("n0,n1,bad", &["--once", "--json"]);
    let document: Value = serde_json::from_str(&shown).expect(&shown);
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
    assert!(code == Some(1) && shown.contains("a condition knows no rnks"), "{shown}");
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

#[test]
fn two_hosts_are_saved_and_recorded_as_one_profile() {
    let mut job = Job::start_with(&[("TINYPROF_STEER", "on")]);
    job.ranks[1].step();
    let (code, said) = job.run("n0,bad,n1", &["save"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("2 hosts: saved as job-saved.tprof\n"), "{said}");
    assert!(said.contains("bad: shell: no route to bad"), "{said}");
    let saved = profile(job.place.path(), "job-saved.tprof");
    assert_eq!(visits_by_rank(&saved, "step"), [1, 2]);
    let because = saved.manifest.incomplete_because.expect("it goes on");
    assert!(because.ends_with("; it has 2 of its 2 ranks"), "{because}");

    // As interim profiles, too: the program has no flush points.
    let mut saving = job.command("n0,n1", &["save", "--every", "300ms"]);
    let mut saving = saving.stdout(Stdio::piped()).spawn().expect("it runs");
    let mut line = String::new();
    BufReader::new(saving.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says so");
    saving.kill().expect("ours");
    saving.wait().expect("ours");
    assert_eq!(line, "2 hosts: saved as job-interim-0001.tprof\n");
    let interim = profile(job.place.path(), "job-interim-0001.tprof");
    assert_eq!(visits_by_rank(&interim, "step"), [1, 2]);

    let record = ["ctl", "record", "--for", "1s", "-o", "both.pftrace"];
    let mut recording = job.command("n0,n1", &record);
    let mut recording = recording.stdout(Stdio::piped()).spawn().expect("it runs");
    while recording.try_wait().expect("ours").is_none() {
        job.ranks.iter_mut().for_each(Watched::step);
    }
    let output = recording.wait_with_output().expect("it has ended");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.starts_with("2 hosts: recorded 2 ranks from "), "{said}");
    assert!(fs::metadata(job.place.path().join("both.pftrace")).expect("a file").len() > 1_000);
    let recorded = profile(job.place.path(), "both.tprof");
    for rank in &recorded.ranks {
        let events = rank.events.as_ref().expect("events");
        assert!(events.threads[0].visits.len() > 10);
    }
    job.end();
}

#[test]
fn commands_are_given_on_all_hosts_and_end_with_who_has_given_them() {
    let mut job = Job::start_with(&[("TINYPROF_STEER", "hold")]);
    let mut holding = job.command("n0,n1", &["ctl", "hold"]);
    let mut holding = holding.stdout(Stdio::piped()).spawn().expect("it runs");
    let mut said = BufReader::new(holding.stdout.take().expect("a pipe"));
    // A step of each rank meets the command, and does not end before it is over.
    let stepping = thread::spawn(move || {
        for _ in 0..2_000 {
            job.ranks.iter_mut().for_each(Watched::step);
        }
        job
    });
    let mut line = String::new();
    said.read_line(&mut line).expect("it says so");
    assert!(line.contains(": rank") || line.contains(" 1 of 1 held"), "{line}");
    holding.kill().expect("ours");
    holding.wait().expect("ours");
    let job = stepping.join().expect("they go on");
    let (_, said) = job.run("n0,n1", &["ctl", "status", "--json"]);
    let told: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(told["hosts"]["n0"]["steer"], "hold", "{said}");
    assert_eq!(told["hosts"]["n1"]["ranks"][0]["rank"], 1, "{said}");
    let (code, said) = job.run("liar", &["ctl", "status"]);
    assert!(code == Some(1) && said.contains("what it sends is no answer"), "{said}");
    job.end();
}
