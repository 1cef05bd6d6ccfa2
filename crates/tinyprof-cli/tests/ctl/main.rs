//! `tinyprof ctl`: commands to running programs, what they do, and that nobody obeys unasked.

#[path = "../support/profiles.rs"]
mod profiles;
#[path = "../support/steered.rs"]
mod steered;
mod users;
#[path = "../support/watched.rs"]
mod watched;

use std::path::Path;
use std::process::{Child, Command, Stdio};

use profiles::profile;
use serde_json::Value;
use steered::{ON, Stepping, ctl, run, said, visits};
use tinyprof_format::model::ThreadEvents;
use watched::Watched;

const HOLD: (&str, &str) = ("TINYPROF_STEER", "hold");

fn status(place: &Path) -> Value {
    let output = run(&["status", "--json"], place);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn reported(place: &Path, name: &str, options: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    let output = command.arg("report").arg(name).args(options).current_dir(place).output();
    said(&output.expect("tinyprof starts")).replace("\n  ", " ")
}

/// Waits until a process has ended, or what is said of the only rank is so.
fn until(place: &Path, is_so: impl Fn(&Value) -> bool, ended: Option<&mut Child>) {
    let mut ended = ended;
    loop {
        let has_ended =
            ended.as_mut().is_some_and(|child| child.try_wait().expect("ours").is_some());
        if has_ended || is_so(&status(place)["ranks"][0]) {
            return;
        }
    }
}

#[test]
fn some_time_of_a_running_program_is_recorded_and_the_rest_is_not() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut program = Watched::start(place.path(), &[ON]);
    for _ in 0..100 {
        program.step();
    }
    let mut recording = ctl(&["record", "--for", "1s", "-o", "one.pftrace"], place.path())
        .spawn()
        .expect("it runs");
    let mut steps = 101;
    while recording.try_wait().expect("ours").is_none() {
        program.step();
        steps += 1;
    }
    let output = recording.wait_with_output().expect("it has ended");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("recorded 1 rank from "), "{}", said(&output));
    assert!(std::fs::metadata(place.path().join("one.pftrace")).expect("a file").len() > 1_000);
    let recorded = profile(place.path(), "one.tprof");
    let events = recorded.ranks[0].events.as_ref().expect("events").threads[0].clone();
    let of_depth = |depth| events.visits.iter().filter(|visit| visit.depth == depth).count() as u64;
    assert_eq!(of_depth(1), 1, "run, which is open, is cut once");
    assert!(of_depth(2) > 10 && of_depth(2) < steps - 100, "{} of {steps}", of_depth(2));
    let (first, rest) = events.visits.split_first().expect("events");
    assert!(first.depth == 1 && rest.iter().all(|visit| visit.end_ns() <= first.end_ns()));
    assert!(of_depth(3).abs_diff(of_depth(2)) <= 1, "the command may come within a step");
    let is_within_a_step = events.cut == 2;
    assert!(events.lost() == 0 && (events.cut == 1 || is_within_a_step), "{}", events.cut);

    // Nothing is kept any more, and sums have missed nothing.
    for _ in 0..100 {
        program.step();
    }
    assert_eq!(status(place.path())["ranks"][0]["keeps_events"], false);
    program.end();
    let own = profile(place.path(), "job.tprof");
    assert_eq!((visits(&own, "run"), visits(&own, "step")), (1, steps + 100));
    let kept = own.ranks[0].events.as_ref().expect("events").threads[0].clone();
    let shape =
        |events: &ThreadEvents| events.visits.iter().map(|visit| visit.depth).collect::<Vec<_>>();
    assert!(shape(&kept) == shape(&events), "{} and {}", kept.visits.len(), events.visits.len());
}

#[test]
fn a_thread_that_begins_meanwhile_is_recorded_and_said() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut program = Watched::start(place.path(), &[ON]);
    let record = ["record", "--for", "2s", "-o", "both"];
    let mut recording = ctl(&record, place.path()).spawn().expect("it runs");
    while status(place.path())["ranks"][0]["keeps_events"] != true {
        program.step();
    }
    program.line("thread");
    while recording.try_wait().expect("ours").is_none() {
        program.step();
    }
    let output = recording.wait_with_output().expect("it has ended");
    assert!(said(&output).contains("note: 1 thread began meanwhile"), "{}", said(&output));
    let recorded = profile(place.path(), "both.tprof");
    let threads = &recorded.ranks[0].events.as_ref().expect("events").threads;
    assert!(threads.len() == 2 && threads.iter().all(|thread| thread.visits.len() > 10));
    program.end();
}

#[test]
fn a_program_is_held_until_it_is_released() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let stepping = Stepping::begin(Watched::start(place.path(), &[HOLD]));
    let mut holding = ctl(&["hold", "--for", "50s"], place.path()).spawn().expect("it runs");
    until(place.path(), |rank| rank["held_ns"].is_u64(), Some(&mut holding));
    let released = run(&["release"], place.path());
    assert!(said(&released).ends_with(": 1 of 1 released\n"), "{}", said(&released));
    let (program, steps) = stepping.end();
    let output = holding.wait_with_output().expect("it has ended");
    assert!(said(&output).ends_with(": 1 of 1 held\n"), "{}", said(&output));
    program.end();
    let own = profile(place.path(), "job.tprof");
    assert_eq!((visits(&own, "[held]"), visits(&own, "step")), (1, steps));
    let [held, released] = &own.ranks[0].commands.commands[..] else {
        panic!("{:?}", own.ranks[0].commands)
    };
    assert_eq!((held.verb_name().as_str(), released.verb_name().as_str()), ("hold", "release"));
    let lasted_ns = held.lasted_ns.expect("it was released");
    let gap_ns = released.at_ns + released.late_ns.expect("it has come") - held.at_ns;
    assert!(lasted_ns > 0 && lasted_ns <= gap_ns, "{held:?} {released:?}");
    assert!(held.is_done() && held.threads == 1 && held.by.contains(" (process "), "{held:?}");
    let report = reported(place.path(), "job.tprof", &[]);
    assert!(report.contains("command: held ") && report.contains(&held.by), "{report}");
    let json = reported(place.path(), "job.tprof", &["--json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let listed = &json["commands"]["list"];
    assert_eq!((&listed[0]["command"], &listed[1]["command"]), (&"hold".into(), &"release".into()));
    assert_eq!((&listed[0]["ranks_done"], &listed[0]["late"]), (&1.into(), &0.into()));
}

#[test]
fn nobody_is_held_for_long_by_a_client_that_is_killed() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let stepping = Stepping::begin(Watched::start(place.path(), &[HOLD]));
    let mut holding = ctl(&["hold"], place.path()).spawn().expect("it runs");
    until(place.path(), |rank| rank["held_ns"].is_u64(), Some(&mut holding));
    holding.kill().expect("ours");
    holding.wait().expect("ours");
    until(place.path(), |rank| rank["held_ns"].is_null(), None);
    stepping.end().0.end();
    assert_eq!(visits(&profile(place.path(), "job.tprof"), "[held]"), 1);
}

#[test]
fn measuring_is_switched_off_and_on_again() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let steps_in = |name: &str| {
        let arguments = ["save", "-o", name, "segments"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
        let output = command.args(arguments).current_dir(place.path()).output();
        let output = output.expect("tinyprof starts");
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        visits(&profile(place.path(), &format!("{name}.tprof")), "step")
    };
    let stepping = Stepping::begin(Watched::start(place.path(), &[ON]));
    let output = run(&["off"], place.path());
    assert!(said(&output).ends_with(": 1 of 1 off\n"), "{}", said(&output));
    assert_eq!(status(place.path())["ranks"][0]["off"], true);
    let (mut program, steps) = stepping.end();
    let before = steps_in("before");
    assert!((1..=steps).contains(&before), "{before} of {steps}");
    let output = run(&["record", "--for", "10ms"], place.path());
    assert_eq!(output.status.code(), Some(1), "nothing can be recorded: {}", said(&output));
    assert!(said(&output).contains("; 1 of 1 ranks are switched off"), "{}", said(&output));
    (0..10).for_each(|_| program.step());
    assert_eq!(steps_in("still"), before);

    let stepping = Stepping::begin(program);
    let output = run(&["on"], place.path());
    assert!(said(&output).ends_with(": 1 of 1 on again\n"), "{}", said(&output));
    let mut program = stepping.end().0;
    let after = steps_in("after");
    (0..25).for_each(|_| program.step());
    program.end();
    let own = profile(place.path(), "job.tprof");
    assert_eq!((visits(&own, "step"), visits(&own, "run")), (after + 25, 1));
    let commands = &own.ranks[0].commands;
    let off = commands.commands.iter().find(|one| one.verb_name() == "off").expect("it was off");
    assert_eq!(off.lasted_ns.map(|ns| ns / 100_000_000), Some(commands.off_ns / 100_000_000));
    let report = reported(place.path(), "job.tprof", &[]);
    assert!(report.contains("off: measuring was switched off for "), "{report}");
    assert!(report.contains("command: measuring was off for "), "{report}");
}

#[test]
fn who_has_not_allowed_it_obeys_nobody() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut program = Watched::start(place.path(), &[]);
    let commands = [
        &["record"][..],
        &["hold"],
        &["release"],
        &["off"],
        &["on"],
        &["reset"],
        &["filter", "-*"],
        &["metrics", "-*"],
    ];
    for command in commands {
        let output = run(command, place.path());
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains("does not obey this: start it with TINYPROF_STEER="));
    }
    program.step();
    let state = status(place.path());
    assert_eq!(
        (&state["steer"], &state["ranks"][0]["keeps_events"]),
        (&"off".into(), &false.into())
    );
    program.end();

    let mut program = Watched::start(place.path(), &[ON, ("TINYPROF_OUT", "other")]);
    let output = run(&["hold"], place.path());
    assert!(said(&output).contains("start it with TINYPROF_STEER=hold"), "{}", said(&output));
    program.step();
    program.end();
    let other = profile(place.path(), "other.tprof");
    assert_eq!(visits(&other, "[held]"), 0);
    assert!(other.ranks[0].commands.is_empty(), "it was not given to it");
}

#[test]
fn something_is_done_when_a_condition_holds() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut program = Watched::start(place.path(), &[ON]);
    let arguments = ["on", r#"visits["step"] >= 3.0"#, "--do", "notify,save", "-o", "three"];
    let mut waiting = ctl(&arguments, place.path()).spawn().expect("it runs");
    assert!(waiting.try_wait().expect("ours").is_none());
    program.step();
    program.step();
    let output = waiting.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("holds, time 1\n"), "{}", said(&output));
    assert_eq!(visits(&profile(place.path(), "three.tprof"), "step"), 3);

    let arguments = ["on", "ranks > 1"];
    let never = ctl(&arguments, place.path()).spawn().expect("it runs");
    // It has been seen, or the end of the job would not be.
    let watching = ctl(&["on", "ranks == 1"], place.path()).output().expect("it runs");
    assert_eq!(watching.status.code(), Some(0), "{}", said(&watching));
    program.end();
    let output = never.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("never was ranks > 1"), "{}", said(&output));
}

/// Returns a document as `tinyprof plug` writes it, with the times of ranks in a callpath.
fn document(slowest: &[(u64, u64)]) -> String {
    let slow = |&(rank, ns): &(u64, u64)| serde_json::json!({ "rank": rank, "host": format!("n{rank}"), "inclusive_ns": ns });
    let slowest: Vec<Value> = slowest.iter().map(slow).collect();
    let row = serde_json::json!({
        "callpath": "main/solve", "name": "solve", "share": 0.5, "slowest": slowest,
    });
    serde_json::json!({ "callpaths": [row] }).to_string() + "\n"
}

/// Returns what the example in Rust finds in documents.
fn straggler_among(documents: &str, times: u32) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_tinyprof")).parent().expect("a directory");
    let mut command = Command::new(bin.join("examples/stragglers"));
    command.arg(times.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("`cargo test -p tinyprof-cli` builds it");
    let mut input = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, documents.as_bytes()).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn somebody_elses_program_reads_documents_and_tells_findings() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut program = Watched::start(place.path(), &[]);
    // It ends when its input does, with the number of documents, and one line that is no finding.
    let script = r#"n=0; while read -r line; do n=$((n + 1)); case $line in *'"has_ended":true'*) e=1;; esac
        echo "{\"finding\": \"document $n\"}"; done; echo nonsense; test "$e" = 1"#;
    let plug = |script: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
        command.args(["plug", "--directory", "segments", "sh", "-c", script]);
        command.current_dir(place.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("it runs")
    };
    let reading = plug(script);
    let seen = plug("read -r line");
    assert!(seen.wait_with_output().expect("it ends with its program").status.success());
    program.step();
    program.end();
    let output = reading.wait_with_output().expect("it ends with the job");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("sh: document 1\nsh: document 2\n"), "{}", said(&output));
    assert!(said(&output).contains("expected a line such as"), "{}", said(&output));

    let mut program = Watched::start(place.path(), &[("TINYPROF_OUT", "other")]);
    let straggling = straggler_among(&document(&[(2, 100), (1, 100)]), 3);
    assert!(straggling.is_empty(), "equal ranks: {straggling}");
    let slow = [(2, 100), (1, 100), (2, 300), (1, 200), (2, 500), (1, 300)];
    let straggling = straggler_among(&slow.chunks(2).map(document).collect::<String>(), 2);
    let expected = "rank 2 on n2 is the straggler of main/solve now: 2.0 times the time of rank 1";
    assert!(straggling.contains(expected) && straggling.lines().count() == 1, "{straggling}");
    let failing = plug("exit 3").wait_with_output().expect("it ends");
    assert_eq!(failing.status.code(), Some(1));
    assert!(said(&failing).contains("sh: exit status: 3"), "{}", said(&failing));
    program.step();
    program.end();
}
