//! The tables of the papers on messages (001 to 004), measured with the programs under `examples/`:
//! parts, each measured and kept by itself, and their page.
//!
//! A part has its rows and its table in one file. Where the paper's table counts, ours counts the
//! same; where it has times, the load average before the part is told with them.

mod causes;
mod compensation;
mod events;
mod fire;
mod graphs;
mod jobs;
mod shares;
mod stages;
mod widths;

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tinyprof_bench_collective::document::replace;

use crate::how::{How, Task};
use crate::kept::{self, Head, Wanted, values};
use crate::page::{NOT_MEASURED, below, wrapped};
use crate::progress::Expected;
use jobs::Jobs;

/// The parts, in the order of measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// 002, Table 1
    Compensation,
    /// 003, Tables 1 to 4: overhead on 2 to 16 ranks
    Widths,
    /// 003: sizes of graphs, classes, times of nodes
    Graphs,
    /// 003, Table 5 and Figure 34
    Fire,
    /// 004: times of stages, and sizes
    Stages,
    /// 001, Figure 3
    Events,
    /// Which part of the overhead is fixed
    Shares,
}

impl Part {
    const ALL: [Self; 7] = [
        Self::Compensation,
        Self::Widths,
        Self::Graphs,
        Self::Fire,
        Self::Stages,
        Self::Events,
        Self::Shares,
    ];

    /// Returns the name of its file, that of its place in the page, and its usual time in seconds
    /// with five repetitions.
    fn facts(self) -> (&'static str, &'static str, u64) {
        match self {
            Self::Compensation => ("messages-compensation", "compensation", 40),
            Self::Widths => ("messages-widths", "widths", 190),
            Self::Graphs => ("messages-graphs", "graphs", 40),
            Self::Fire => ("messages-fire", "fire", 90),
            Self::Stages => ("messages-stages", "stages", 40),
            Self::Events => ("messages-events", "events", 120),
            Self::Shares => ("messages-shares", "shares", 70),
        }
    }

    fn measure(self, jobs: &Jobs) -> Result<Vec<Value>, String> {
        match self {
            Self::Compensation => values(compensation::measure(jobs)?),
            Self::Widths => values(widths::measure(jobs)?),
            Self::Graphs => values(graphs::measure(jobs)?),
            Self::Fire => values(fire::measure(jobs)?),
            Self::Stages => values(stages::measure(jobs)?),
            Self::Events => values(events::measure(jobs)?),
            Self::Shares => values(shares::measure(jobs)?),
        }
    }

    /// Returns the table of the rows that were kept in this directory.
    fn table(self, results: &std::path::Path) -> Result<String, String> {
        match self {
            Self::Compensation => self.shown(results, compensation::table),
            Self::Widths => self.shown(results, widths::table),
            Self::Graphs => self.shown(results, graphs::table),
            Self::Fire => self.shown(results, fire::table),
            Self::Stages => self.shown(results, stages::table),
            Self::Events => self.shown(results, events::table),
            Self::Shares => self.shown(results, shares::table),
        }
    }

    fn shown<T: DeserializeOwned>(
        self,
        results: &std::path::Path,
        table: fn(&[T]) -> String,
    ) -> Result<String, String> {
        let kept = kept::read::<T>(results, self.facts().0)?;
        Ok(kept.map_or_else(
            || NOT_MEASURED.to_owned(),
            |kept| format!("{}{}", table(&kept.rows), self.where_and_how_often(&kept.head)),
        ))
    }

    fn where_and_how_often(self, head: &Head) -> String {
        let repetitions = match self {
            Self::Graphs | Self::Shares => 1,
            _ => head.wanted.repetitions as usize,
        };
        let note = &head.place.note;
        let note = if note.is_empty() {
            String::new()
        } else {
            format!("\n{}\n", wrapped(&format!("**{note}**")))
        };
        format!("{}{note}", below(head, repetitions))
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    how: How,
    /// Which parts, parted by commas; all of them otherwise
    #[arg(long, value_enum, value_delimiter = ',')]
    parts: Vec<Part>,
    /// The command that reads profiles
    #[arg(long)]
    tinyprof: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PageArguments {
    /// The directory with the rows of the parts
    #[arg(long)]
    results: PathBuf,
    /// The page, which has a place `<!-- begin NAME -->` ... `<!-- end NAME -->` for each table
    #[arg(long)]
    page: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let how = &arguments.how;
    let chosen = if arguments.parts.is_empty() { &Part::ALL[..] } else { &arguments.parts };
    let wanted = Wanted {
        commit: how.commit.clone(),
        repetitions: how.repetitions,
        always_on_s: 0,
        small: how.small,
    };
    let task = |&part: &Part| {
        let (name, _, usual_s) = part.facts();
        let expected = Expected { usual_s, is_fixed: false };
        Task { part, name, wanted: wanted.clone(), expected }
    };
    let tasks: Vec<Task<Part>> = chosen.iter().map(task).collect();
    let jobs = Jobs::new(how, &arguments.tinyprof);
    how.each_missing(&tasks, |part| part.measure(&jobs))
}

pub(crate) fn page(arguments: &PageArguments) -> Result<(), String> {
    let at = &arguments.page;
    let mut page = std::fs::read_to_string(at)
        .map_err(|error| format!("cannot read {}: {error}", at.display()))?;
    for part in Part::ALL {
        page = replace(&page, part.facts().1, &part.table(&arguments.results)?)?;
    }
    std::fs::write(at, page).map_err(|error| format!("cannot write {}: {error}", at.display()))
}
