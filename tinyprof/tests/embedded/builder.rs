//! A program that makes its settings itself.

use crate::program::{Scratch, text};

#[test]
fn a_program_chooses_name_and_format_and_the_environment_wins() {
    let place = Scratch::new();
    let output = place.command("test_builder").output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "no table");
    let interim = (1..=3).map(|number| format!("chosen-interim-000{number}.tprof"));
    let all: Vec<String> = interim.chain(["chosen.csv".to_owned()]).collect();
    assert_eq!(place.names(), all);

    let place = Scratch::new();
    let mut command = place.command("test_builder");
    let settings = [("OUT", "mine"), ("FORMAT", "tprof"), ("REPORT", "on"), ("INTERVAL", "off")];
    command.envs(settings.map(|(key, value)| (format!("TINYPROF_{key}"), value)));
    let output = command.output().unwrap();
    assert!(text(&output.stderr).contains("profile: mine.tprof"), "{}", text(&output.stderr));
    assert_eq!(place.names(), ["mine.tprof"]);
}
