//! The always-on run: its overhead, and whether memory and profile grew.

use std::path::Path;

use tinyprof_bench_collective::document::plot::{Line, Words, draw_even};
use tinyprof_bench_collective::document::table::{Table, float};

use super::Rows;
use super::cells::{NOT_MEASURED, below, seconds, three, to_a_processor};
use super::table_two::overhead;
use crate::always_on::{AlwaysOnRow, INTERVAL_S, Sample};
use crate::application::RunRow;
use crate::kept::Kept;
use crate::statistics::Spread;

/// The result of the run.
pub(super) struct Outcome<'a> {
    pub(super) run: &'a RunRow,
    samples: Vec<&'a Sample>,
}

impl<'a> Outcome<'a> {
    /// Returns the result, or `None` if it was not measured.
    pub(super) fn of(kept: &'a Kept<AlwaysOnRow>) -> Option<Self> {
        let run = kept.rows.iter().find_map(|row| match row {
            AlwaysOnRow::Run(run) => Some(run),
            AlwaysOnRow::Sample(_) => None,
        });
        let samples = kept.rows.iter().filter_map(|row| match row {
            AlwaysOnRow::Sample(sample) => Some(sample),
            AlwaysOnRow::Run(_) => None,
        });
        run.map(|run| Self { run, samples: samples.collect() })
    }

    pub(super) fn overhead_percent(&self) -> Option<f64> {
        overhead(self.run)
    }

    /// Returns the memory of a rank in the first and in the last third of the run, in MB.
    fn memory(&self, rank: usize) -> Option<[Spread; 2]> {
        self.thirds(|sample| sample.resident_bytes.get(rank).copied())
    }

    /// Returns the size of the newest checkpoint in both thirds, in MB.
    fn profile(&self) -> Option<[Spread; 2]> {
        self.thirds(|sample| Some(sample.checkpoint_bytes).filter(|&bytes| bytes > 0))
    }

    fn thirds(&self, of: impl Fn(&Sample) -> Option<u64>) -> Option<[Spread; 2]> {
        let end = self.samples.last()?.seconds;
        let within = |from: f64, to: f64| {
            let samples =
                self.samples.iter().filter(move |s| (from * end..=to * end).contains(&s.seconds));
            Spread::of(samples.filter_map(|sample| of(sample)).map(|bytes| float(bytes) / 1e6))
        };
        Some([within(0.0, 1.0 / 3.0)?, within(2.0 / 3.0, 1.0)?])
    }

    /// Returns the memory of the last third relative to the first, of the rank that grew most. It
    /// compares medians, because a checkpoint takes memory for a moment, which some samples see.
    pub(super) fn memory_growth(&self) -> Option<f64> {
        let ranks = 0..self.run.ranks as usize;
        ranks
            .filter_map(|rank| self.memory(rank))
            .map(|[first, last]| last.median / first.median)
            .reduce(f64::max)
    }

    /// Returns the peak memory of a rank in its first third and in the whole run, in MB, including
    /// the temporary memory of a checkpoint.
    fn peak(&self, rank: usize) -> Option<[f64; 2]> {
        let of = |[first, last]: [Spread; 2]| [first.most, last.most];
        self.thirds(|sample| sample.resident_peak_bytes.get(rank).copied()).map(of)
    }

    /// Returns the peak memory of the whole run relative to that of its first third, of the rank
    /// that grew most.
    pub(super) fn peak_growth(&self) -> Option<f64> {
        let peaks = (0..self.run.ranks as usize).filter_map(|rank| self.peak(rank));
        peaks.map(|[first, whole]| whole / first).reduce(f64::max)
    }

    /// Returns the size of the largest checkpoint of the last third relative to the first: lists
    /// fold to half their length.
    pub(super) fn profile_growth(&self) -> Option<f64> {
        self.profile().map(|[first, last]| last.most / first.most)
    }

    /// Returns the largest number of checkpoints seen on disk at one time.
    pub(super) fn kept_most(&self) -> u32 {
        self.samples.iter().map(|sample| sample.kept).max().unwrap_or_default()
    }
}

pub(super) fn table(kept: Option<&Kept<AlwaysOnRow>>) -> String {
    let Some((kept, outcome)) =
        kept.and_then(|kept| Outcome::of(kept).map(|outcome| (kept, outcome)))
    else {
        return NOT_MEASURED.to_owned();
    };
    let run = outcome.run;
    let mut table = Table::new(&["what", "here"]);
    let mut line = |what: &str, value: String| table.row(&[what.to_owned(), value]);
    let cost = &run.cost;
    line("ranks, and how they share processors", {
        format!("{}, {}", run.ranks, to_a_processor(run.ranks, &kept.head))
    });
    line("closures", run.iterations.to_string());
    line("annotations of a rank", cost.visits.to_string());
    line("application, s", three(seconds(cost.application_ns)));
    line("annotation, s", three(seconds(cost.annotation_ns)));
    let checkpoints = format!("checkpoints, one about every {INTERVAL_S} s");
    line(&checkpoints, cost.checkpoints.to_string());
    line("their time together, s", three(seconds(cost.checkpoints_ns)));
    line("the last flush, s", three(seconds(cost.io_ns() - cost.checkpoints_ns)));
    line("overhead by the paper's formula, %", {
        outcome
            .overhead_percent()
            .map_or("-".to_owned(), |percent| format!("**{}**", three(percent)))
    });
    let thirds = |thirds: Option<[Spread; 2]>| {
        let one = |of: Spread| format!("{} (at most {})", three(of.median), three(of.most));
        thirds.map_or("-".to_owned(), |[first, last]| format!("{}, {}", one(first), one(last)))
    };
    for rank in 0..run.ranks as usize {
        let what = format!("memory of process {rank}, MB: median of the first third, of the last");
        line(&what, thirds(outcome.memory(rank)));
        let what =
            format!("most memory of process {rank}, MB: in the first third, in the whole run");
        line(&what, {
            let peak = |[first, whole]: [f64; 2]| format!("{}, {}", three(first), three(whole));
            outcome.peak(rank).map_or("-".to_owned(), peak)
        });
    }
    line(
        "newest checkpoint, MB: median of the first third, of the last",
        thirds(outcome.profile()),
    );
    line("most checkpoints on disk", outcome.kept_most().to_string());
    line("the profile in the end, MB", three(float(cost.bytes) / 1e6));
    table.finish() + &below(&kept.head, 1)
}

pub(super) fn plot(rows: &Rows, directory: &Path) -> Result<(), String> {
    let Some(outcome) = rows.always_on.as_ref().and_then(Outcome::of) else { return Ok(()) };
    let line = |name: String, of: &dyn Fn(&Sample) -> Option<u64>| Line {
        name,
        points: outcome
            .samples
            .iter()
            .filter_map(|sample| Some((sample.seconds, float(of(sample)?) / 1e6)))
            .collect(),
    };
    let memory: Vec<Line> = (0..outcome.run.ranks as usize)
        .map(|rank| {
            line(format!("process {rank}"), &|sample| sample.resident_bytes.get(rank).copied())
        })
        .collect();
    let words = |title, y| Words { title, x: "seconds", y, names_in_the_middle: false };
    let title = "TC again and again: memory";
    draw_even(&directory.join("always-on-memory.svg"), &words(title, "MB"), &memory)?;
    let title = "TC again and again: the newest checkpoint";
    let profile = line("all its files".to_owned(), &|sample| Some(sample.checkpoint_bytes));
    draw_even(&directory.join("always-on-profile.svg"), &words(title, "MB"), &[profile])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::{Cost, Variant};

    fn kept(memory: impl Fn(u32) -> u64) -> Kept<AlwaysOnRow> {
        let sample = |at: u32| Sample {
            seconds: f64::from(at),
            resident_bytes: vec![memory(at), 1_000_000],
            resident_peak_bytes: vec![memory(at) + 500_000, 2_000_000],
            kept: at.min(2),
            checkpoint_bytes: if at < 5 { 0 } else { 3_000_000 },
        };
        let cost =
            Cost { application_ns: 1000, annotation_ns: 2, checkpoints_ns: 3, ..Cost::default() };
        let run = RunRow {
            variant: Variant::Checkpoints(10),
            size: 10,
            iterations: 99,
            took_ns: 1000,
            ..RunRow::example(cost)
        };
        let samples = (1..=30).map(|at| AlwaysOnRow::Sample(sample(at)));
        Kept {
            head: crate::kept::tests::head("a"),
            rows: samples.chain([AlwaysOnRow::Run(run)]).collect(),
        }
    }

    #[test]
    fn growth_is_of_the_process_that_grew_most() {
        let flat = kept(|_| 2_000_000);
        let outcome = Outcome::of(&flat).unwrap();
        assert_eq!((outcome.memory_growth(), outcome.profile_growth()), (Some(1.0), Some(1.0)));
        assert_eq!((outcome.kept_most(), outcome.overhead_percent()), (2, Some(0.5)));
        let leaky = kept(|at| u64::from(at) * 1_000_000);
        assert_eq!(Outcome::of(&leaky).unwrap().memory_growth(), Some(25.0 / 5.5));
        assert_eq!(outcome.peak_growth(), Some(1.0));
        assert_eq!(Outcome::of(&leaky).unwrap().peak_growth(), Some(30.5 / 10.5));
        let text = table(Some(&leaky));
        assert!(text.contains("in the whole run | 10.5, 30.5 |"), "{text}");
        assert!(
            text.contains("of the last | 5.50 (at most 10.0), 25.0 (at most 30.0) |"),
            "{text}"
        );
    }
}
