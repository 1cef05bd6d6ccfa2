//! `tinyprof push` beside a program of MPI: a site gets what its profile has.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use serde_json::Value;
use tinyprof_format::file::read_profile;

use crate::support::{compile, library, mpiexec, tinyprof};

const RANKS: usize = 4;

#[test]
fn a_site_gets_the_numbers_of_a_program_and_the_last_are_those_of_its_profile() {
    let place = tempfile::tempdir().expect("a directory");
    let program = compile("steered.c", place.path());
    let mut push = tinyprof();
    push.args(["push", "segments", "--openmetrics", "job.prom", "--json", "job.jsonl"]);
    let push = push.current_dir(&place).stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
    let push = push.expect("tinyprof starts");
    let launcher = mpiexec(RANKS);
    let mut run = tinyprof();
    run.args(["run", "-o", "mpi=messages", "--out", "steered", "--library"]).arg(library());
    run.arg("--").arg(launcher.get_program()).args(launcher.get_args()).arg(program).arg("5");
    run.envs(launcher.get_envs().filter_map(|(name, value)| Some((name, value?))));
    run.env("TINYPROF_SEGMENT_DIR", place.path().join("segments")).current_dir(&place);
    let ran = run.output().expect("it starts");
    assert!(String::from_utf8_lossy(&ran.stdout).contains("sums right"), "{ran:?}");
    let pushed = push.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&pushed.stderr);
    assert_eq!((said.as_ref(), pushed.status.code()), ("", Some(0)));

    let text = fs::read_to_string(place.path().join("job.prom")).expect("a file");
    let numbers = numbers(&text);
    let of = |name: &str| *numbers.get(name).unwrap_or_else(|| panic!("{name}: {text}"));
    assert_eq!(of("tinyprof_job_ranks{state=\"ended\"}"), 4.0);
    assert_eq!(of("tinyprof_job_ranks{state=\"lost\"}"), 0.0);
    assert!(of("tinyprof_job_efficiency_ratio{factor=\"parallel\"}") < 1.0);
    let activity =
        |name: &str| of(&format!("tinyprof_job_time_seconds_total{{activity=\"{name}\"}}"));
    assert!(activity("computing") > 1.0 && activity("mpi") > 1.0, "{text}");
    let waiting: f64 =
        numbers.iter().filter(|(name, _)| name.contains("_waiting_")).map(|(_, ns)| ns).sum();
    assert!(waiting > 1.0 && waiting <= activity("mpi"), "{text}");

    // The last picture is at most a second older than the end.
    let is_of_calls =
        |name: &str| name.contains("_visits_total{") && name.contains("MPI_Allreduce");
    let visits: f64 =
        numbers.iter().filter(|(name, _)| is_of_calls(name)).map(|(_, visits)| visits).sum();
    let profile = read_profile(&place.path().join("steered.tprof")).expect("a profile");
    let rows = profile.callpaths.iter().zip(&profile.values);
    let calls = rows.filter(|((_, row), _)| row.region.name.starts_with("MPI_Allreduce"));
    let of_ranks = calls.flat_map(|(_, ranks)| ranks).map(|values| values.visits());
    #[expect(clippy::cast_precision_loss, reason = "some thousand calls")]
    let in_profile = of_ranks.sum::<u64>() as f64;
    assert!(visits > 0.0 && visits <= in_profile, "{visits} of {in_profile}");
    let lines = fs::read_to_string(place.path().join("job.jsonl")).expect("a file");
    let last: Value = serde_json::from_str(lines.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&last["has_ended"], &last["ranks"]), (&Value::from(true), &Value::from(4)));
}

/// Returns the numbers by name and own labels.
fn numbers(text: &str) -> BTreeMap<String, f64> {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples
        .map(|line| {
            let (name, number) = line.rsplit_once(' ').expect("a number");
            let (name, labels) = name.split_once("{job_id=").expect("labels");
            let own = labels.split_once(",job_name=").expect("a label").1;
            let own = own.split_once(',').map_or("}", |(_, own)| own);
            (format!("{name}{{{own}"), number.parse().expect("a number"))
        })
        .collect()
}
