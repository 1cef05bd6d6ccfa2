//! Rules of users: what they find, and that a wrong one breaks nothing.

use std::fs;
use std::path::Path;

use crate::communication::write_wave;
use crate::support::{Ran, done, json, run, scratch, tinyprof};

const RIGHT: &str = r#"
[[rule]]
name = "much_waiting"
for = "call"
when = "call.function == 'MPI_Recv' && run.waiting_share > 0.1"
seconds = "call.seconds"
text = "{call.name} is called {call.visits} times"
advice = "Ask the site."
[[rule.case]]
holds = true
run = { waiting_share = 0.5 }
call = { function = "MPI_Recv" }

[[rule]]
name = "our_advice"
for = "finding"
when = "finding.kind == 'late_sender'"
advice = "See the wiki on {finding.function}."
"#;

/// Runs the command where this is the file of rules in the user's directory.
fn with_rules(arguments: &[&str], text: &str, directory: &Path) -> Ran {
    let rules = directory.join("config/tinyprof/rules");
    fs::create_dir_all(&rules).expect("it can be made");
    fs::write(rules.join("own.toml"), text).expect("it can be written");
    let mut command = tinyprof(arguments, directory);
    command.env("XDG_CONFIG_HOME", directory.join("config"));
    command.output().expect("tinyprof starts").into()
}

#[test]
fn rules_of_users_find_and_advise() {
    let scratch = scratch();
    let directory = scratch.path();
    write_wave(directory, "wave");
    fs::write(directory.join("own.toml"), RIGHT).expect("it can be written");
    let found = json(&["why", "wave.tprof", "--json", "--rules", "own.toml"], directory);
    let findings = found["findings"].as_array().expect("findings");
    let of = |kind: &str| findings.iter().find(|one| one["kind"] == kind).expect("it is found");
    assert_eq!(of("late_sender")["advice"], "See the wiki on step.");
    let own = of("much_waiting");
    assert_eq!(own["sentence"], "MPI_Recv at step (wave.c:34) is called 350 times");
    assert_eq!((&own["place"]["line"], &own["advice"]), (&34.into(), &"Ask the site.".into()));
    for command in ["why", "report"] {
        let ran = with_rules(&[command, "wave.tprof", "--width", "1000"], RIGHT, directory);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{command}");
        assert!(ran.stdout.contains("is called 350 times. Up to "), "{}", ran.stdout);
    }
}

#[test]
fn a_wrong_rule_is_one_line_and_breaks_no_report() {
    let scratch = scratch();
    let directory = scratch.path();
    write_wave(directory, "wave");
    let arguments = ["why", "wave.tprof", "--width", "1000"];
    let without = done(&arguments, directory);
    for (text, expected) in [
        ("[[rule", "own.toml:1: "),
        ("\u{1b}[2J", "own.toml:1: "),
        (&RIGHT.replace("waiting_share", "waiting"), "own.toml:5: rule much_waiting: when: column"),
    ] {
        let ran = with_rules(&arguments, text, directory);
        assert_eq!(ran.code, Some(0));
        assert!(ran.stdout.starts_with(without.split_once("   do:").expect("advice").0));
        assert!(ran.stderr.starts_with("note: rules are left out: "), "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert!(!ran.stderr.contains('\u{1b}'));
    }
    let ran = run(&["why", "wave.tprof", "--rules", "/nowhere.toml"], directory);
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(0), 1), "{}", ran.stderr);
    let ran = run(&["why", "wave.tprof", "--rules", "/dev/zero"], directory);
    assert!(ran.stderr.contains("is no file") && ran.code == Some(0), "{}", ran.stderr);
}

#[test]
fn a_check_says_what_is_wrong_and_where() {
    let scratch = scratch();
    let directory = scratch.path();
    let check = |text: &str| {
        fs::write(directory.join("own.toml"), text).expect("it can be written");
        run(&["rules", "check", "own.toml"], directory)
    };
    let right = check(RIGHT);
    assert_eq!(
        (right.code, right.stdout.as_str()),
        (Some(0), "own.toml: 2 rules, 1 cases: right\n")
    );
    let wrong = check(&RIGHT.replace("holds = true", "holds = false"));
    assert_eq!(wrong.code, Some(3));
    let expected =
        "own.toml:2: rule much_waiting: case 1: holds where its case says holds = false\n";
    assert!(wrong.stdout.starts_with(expected), "{}", wrong.stdout);
    let wrong = check(&RIGHT.replace("'late_sender'", "'late_sender"));
    assert_eq!(wrong.code, Some(3), "{}", wrong.stdout);
    assert!(wrong.stdout.starts_with("own.toml:17: rule our_advice: when: "), "{}", wrong.stdout);
    let twice = check(&format!("{RIGHT}{}", RIGHT.replace("our_advice", "other")));
    assert!(twice.stdout.contains("rule much_waiting is there already"), "{}", twice.stdout);
}
