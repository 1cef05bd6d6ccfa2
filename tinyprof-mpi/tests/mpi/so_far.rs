//! The on-demand report of one rank among several.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::programs::program;
use crate::support::mpiexec;

fn kill(signal: &str, processes: &[String]) {
    assert!(Command::new("kill").arg(signal).args(processes).status().unwrap().success());
}

#[test]
fn the_rank_that_gets_the_signal_prints_its_own_table() {
    let scratch = tempfile::tempdir().unwrap();
    let mut command = mpiexec(2);
    command.arg(program("interim_profiles")).arg("forever").current_dir(scratch.path());
    // MPICH uses the first signal itself.
    command.env("TINYPROF_SIGNAL", "usr2").env("TINYPROF_REPORT", "off");
    let mut job = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(job.stdout.take().unwrap()).lines().take(2);
    let processes: Vec<String> =
        lines.map(|line| line.unwrap().strip_prefix("process ").unwrap().to_owned()).collect();
    // The launcher has a time limit for a job that never ends.
    let mut said = BufReader::new(job.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut heads: Vec<String> = processes
        .iter()
        .map(|process| {
            // A rank prints its process ID before it opens its first region.
            let head = loop {
                kill("-USR2", std::slice::from_ref(process));
                let head = said.find(|line| line.contains(" so far: ")).unwrap();
                if !head.ends_with("nothing was measured") {
                    break head;
                }
            };
            assert!(said.any(|line| line.starts_with("steps ")), "its table follows");
            head.split_once(" so far: ").unwrap().0.to_owned()
        })
        .collect();
    heads.sort();
    assert_eq!(heads, ["rank 0 of 2", "rank 1 of 2"]);
    kill("-KILL", &processes);
    job.wait().unwrap();
}
