//! 003's Table 5 and Figure 34: where a master and its workers wait, and what the remedies gain.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tinyprof_bench_collective::document::table::{Table, float};
use tinyprof_format::file::read_profile;

use super::causes;
use super::jobs::{Job, Jobs, Level, Run, number, rows, sum_of, text};
use crate::page::{median, spread, three};

const RANKS: u32 = 3;
const REMEDIES: &str = " --remedy overlap --remedy datatypes --remedy memory";

/// The numbers of the paper's Section 5.6, in percent of the process's time.
const PAPER: [(&str, &str, &str); 8] = [
    ("master", "waits for results (`MPI_Recv`)", "47"),
    ("master", "global model (`compute`)", "22"),
    ("master", "packing (`pack`)", "13"),
    ("master", "memory of the line (`fill`)", "named, no number"),
    ("master", "sends the work (`MPI_Send`)", "-"),
    ("workers", "local model (`spread`)", "41"),
    ("workers", "wait for work (`MPI_Recv`, `MPI_Bcast`)", "36"),
    (
        "workers",
        "from receiving work to the answer, of the path that the master waits for",
        "79 +- 1",
    ),
];

/// A measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Row {
    /// A run: its time between `MPI_Init` and `MPI_Finalize` on the slowest rank, and shares in the
    /// order of the paper's, and of waiting by its cause.
    Run {
        repetition: u32,
        is_mended: bool,
        run_ns: f64,
        shares: Vec<f64>,
        verdict: String,
        #[serde(default)]
        causes: Vec<f64>,
    },
    /// A callpath that differs, over all runs: time of a rank before, and with the remedies.
    Change { path: String, before_s: f64, after_s: f64, verdict: String },
}

pub(super) fn measure(jobs: &Jobs) -> Result<Vec<Row>, String> {
    let size = jobs.size(
        "--points 300000 --steps 60 --weather 400 --fuel 5",
        "--points 300 --steps 20 --weather 10",
    );
    let mut found = Vec::new();
    let (mut plain, mut mended) = (Vec::new(), Vec::new());
    for repetition in 0..jobs.repetitions {
        for is_mended in [false, true] {
            let arguments = format!("{size}{}", if is_mended { REMEDIES } else { "" });
            let run = jobs.run(&Job::new("fire", RANKS, &arguments, Level::Messages))?;
            found.push(row(jobs, &run, repetition, is_mended)?);
            if is_mended { mended.push(run) } else { plain.push(run) }
        }
    }
    found.extend(changes(&jobs.diff(&plain, &mended)?));
    Ok(found)
}

fn row(jobs: &Jobs, run: &Run, repetition: u32, is_mended: bool) -> Result<Row, String> {
    let master = jobs.json(&["report", "--rank", "0"], run)?;
    let workers = jobs.json(&["report", "--rank", &format!("1-{}", RANKS - 1)], run)?;
    let why = jobs.json(&["why"], run)?;
    let run_ns = number(&master, "/total_inclusive_ns")?;
    let verdict = text(&why, "/verdict").to_owned();
    let profile = read_profile(&run.profile()).map_err(|error| error.to_string())?;
    let (shares, causes) = (shares(&master, &workers), causes::of_waiting(&profile));
    Ok(Row::Run { repetition, is_mended, run_ns, shares, verdict, causes })
}

/// Returns the percentages in the order of [`PAPER`].
fn shares(master: &Value, workers: &Value) -> Vec<f64> {
    let exclusive = |report: &Value, name: &str| sum_of(report, name, "/exclusive_ns/sum");
    let of = |report: &Value, root: &str, names: &[&str]| {
        let all_ns = sum_of(report, root, "/inclusive_ns/sum");
        100.0 * names.iter().map(|name| exclusive(report, name)).sum::<f64>() / all_ns
    };
    // The paper's path is all that a worker does but waiting for work, and its edge 7 -> 8 all
    // between the calls: unpacking, the local model and packing.
    let all = sum_of(workers, "work", "/inclusive_ns/sum");
    let path = all - exclusive(workers, "MPI_Recv") - exclusive(workers, "MPI_Bcast");
    let edge = path - exclusive(workers, "MPI_Send") - exclusive(workers, "MPI_Comm_size");
    vec![
        of(master, "lead", &["MPI_Recv"]),
        of(master, "lead", &["compute"]),
        of(master, "lead", &["pack"]),
        of(master, "lead", &["fill"]),
        of(master, "lead", &["MPI_Send"]),
        of(workers, "work", &["spread"]),
        of(workers, "work", &["MPI_Recv", "MPI_Bcast"]),
        100.0 * edge / path,
    ]
}

/// Returns the callpaths of a comparison that have changed most.
fn changes(diff: &Value) -> Vec<Row> {
    let number = |row: &Value, place| row.pointer(place).and_then(Value::as_f64).unwrap_or(0.0);
    let mut changed: Vec<&Value> =
        rows(diff, "/callpaths").filter(|row| text(row, "/path").contains('<')).collect();
    let size = |row: &Value| number(row, "/difference").abs();
    changed.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let row = |row: &&Value| Row::Change {
        path: text(row, "/path").to_owned(),
        before_s: number(row, "/base/mean") / 1e9,
        after_s: number(row, "/new/mean") / 1e9,
        verdict: text(row, "/verdict").to_owned(),
    };
    changed.iter().take(6).map(row).collect()
}

pub(super) fn table(found: &[Row]) -> String {
    let mut table = Table::new(&["who", "what", "003 has, %", "here, %", "with the remedies, %"]);
    for (at, (who, what, paper)) in PAPER.iter().enumerate() {
        let here = |is_mended| spread(of_runs(found, is_mended, |_, shares| shares[at]));
        let cells = [(*who).to_owned(), (*what).to_owned(), (*paper).to_owned()];
        table.row(&[&cells[..], &[here(false), here(true)]].concat());
    }
    let times = |is_mended| of_runs(found, is_mended, |run_ns, _| run_ns / 1e9);
    let [before, after] = [false, true].map(|is_mended| median(times(is_mended)));
    let gain = format!("{:+.1}", 100.0 * (after / before - 1.0));
    let cells = ["both", "time, s", "-"].map(str::to_owned);
    table.row(&[&cells[..], &[spread(times(false)), spread(times(true))]].concat());
    table.row(&["both", "time with the remedies, %", "-27", "-", &gain].map(str::to_owned));
    let waiting = causes::table(&of_causes(found));
    format!("{}\n{waiting}\n{}\n{}", table.finish(), changes_table(found), verdicts(found))
}

fn of_runs(found: &[Row], wanted: bool, of: impl Fn(f64, &[f64]) -> f64) -> Vec<f64> {
    let value = |row: &Row| match row {
        Row::Run { is_mended, run_ns, shares, .. } if *is_mended == wanted => {
            Some(of(*run_ns, shares))
        }
        _ => None,
    };
    found.iter().filter_map(value).collect()
}

/// Returns the causes of waiting of each run without remedies.
fn of_causes(found: &[Row]) -> Vec<&[f64]> {
    let mut all = Vec::new();
    for row in found {
        if let Row::Run { is_mended: false, causes, .. } = row {
            all.push(&causes[..]);
        }
    }
    all
}

fn changes_table(found: &[Row]) -> String {
    let mut table = Table::new(&["`tinyprof diff`: callpath", "before, s", "after, s", "verdict"]);
    for row in found {
        if let Row::Change { path, before_s, after_s, verdict } = row {
            table.row(&[format!("`{path}`"), three(*before_s), three(*after_s), verdict.clone()]);
        }
    }
    table.finish()
}

/// Returns how often `tinyprof why` has begun with whom.
fn verdicts(found: &[Row]) -> String {
    let mut verdicts = Vec::new();
    for row in found {
        if let Row::Run { is_mended: false, verdict, .. } = row {
            verdicts.push(verdict.as_str());
        }
    }
    let share = |is: &dyn Fn(&str) -> bool| {
        let number = verdicts.iter().filter(|verdict| is(verdict)).count();
        three(100.0 * float(number as u64) / float(verdicts.len().max(1) as u64))
    };
    let is_lost = |verdict: &str| verdict.contains("but had no processor");
    let is_of_master = |verdict: &str| verdict.starts_with("Rank 0 ") && !is_lost(verdict);
    let is_of_worker = |verdict: &str| verdict.starts_with("Rank") && !is_lost(verdict);
    format!(
        "Without remedies the first finding names the worker who has the head of the fire in {} %\n\
         of {} runs, the master in {} %, and ranks without a processor in {} %.\n",
        share(&|verdict| is_of_worker(verdict) && !is_of_master(verdict)),
        verdicts.len(),
        share(&is_of_master),
        share(&is_lost),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(name: &str, inclusive: f64, exclusive: f64) -> Value {
        json!({"name": name, "inclusive_ns": {"sum": inclusive}, "exclusive_ns": {"sum": exclusive}})
    }

    #[test]
    fn what_a_worker_does_from_its_work_to_its_answer_is_a_part_of_the_path() {
        let master = json!({"callpaths": [row("lead", 200.0, 0.0), row("MPI_Recv", 94.0, 94.0)]});
        let workers = json!({"callpaths": [row("work", 400.0, 20.0), row("spread", 160.0, 160.0),
            row("MPI_Recv", 100.0, 100.0), row("MPI_Bcast", 100.0, 100.0),
            row("MPI_Send", 40.0, 40.0)]});
        let shares = shares(&master, &workers);
        assert_eq!((shares[0], shares[5], shares[6], shares[7]), (47.0, 40.0, 50.0, 80.0));
    }

    #[test]
    fn verdicts_are_counted_by_whom_they_name() {
        let run = |verdict: &str| Row::Run {
            repetition: 0,
            is_mended: false,
            run_ns: 0.0,
            shares: Vec::new(),
            verdict: verdict.to_owned(),
            causes: Vec::new(),
        };
        let lost = "Ranks 0-1 were ready to run, but had no processor, before others";
        let found =
            ["Rank 0 computes 1 s", "Rank 1 computes 2 s", "Rank 2 computes", lost].map(run);
        let text = verdicts(&found);
        assert!(text.contains("in 50.0 %\nof 4 runs, the master in 25.0 %"), "{text}");
        assert!(text.contains("without a processor in 25.0 %"), "{text}");
    }

    #[test]
    fn what_has_changed_most_comes_first_without_roots() {
        let row = |path: &str, difference: f64| {
            json!({"path": path, "difference": difference,
            "base": {"mean": 2e9}, "new": {"mean": 1e9}, "verdict": "down"})
        };
        let diff =
            json!({"callpaths": [row("lead", 9.0), row("lead<a", 1.0), row("lead<b", -3.0)]});
        let found = changes(&diff);
        assert!(matches!(&found[0], Row::Change { path, .. } if path == "lead<b"), "{found:?}");
        assert_eq!(found.len(), 2);
    }
}
