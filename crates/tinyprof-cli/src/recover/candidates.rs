//! The list of jobs to choose from, if several could be recovered.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tinyprof_report::cells::{columns, counted, data};
use tinyprof_views::utc;

use super::jobs::Job;

/// A job that could be recovered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    process_id: u32,
    /// The name of the profile that it wanted.
    profile: String,
    program: String,
    /// The time when it began to record, in seconds since 1970.
    began_s: u64,
    /// The number of ranks that left segments.
    ranks: usize,
    /// The number of its ranks on all hosts.
    size: u32,
    /// The length of all segments.
    bytes: u64,
}

impl Candidate {
    pub(super) fn of(job: &Job<'_>) -> Self {
        let description = job.description();
        let length = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
        Self {
            process_id: job.process_id(),
            profile: file_name(&description.profile),
            program: file_name(&description.metadata.executable),
            began_s: job
                .pieces()
                .map(|piece| piece.segment.header().launch_date_s)
                .min()
                .unwrap_or(0),
            ranks: job.ranks(),
            size: job.size().unwrap_or(1),
            bytes: job.pieces().map(|piece| length(piece.path)).fold(0, u64::saturating_add),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "process": self.process_id,
            "profile": self.profile,
            "program": self.program,
            "began_s": self.began_s,
            "ranks": self.ranks,
            "ranks_of_job": self.size,
            "bytes": self.bytes,
        })
    }

    fn cells(&self) -> [String; HEADINGS.len()] {
        [
            self.process_id.to_string(),
            self.profile.clone(),
            self.program.clone(),
            if self.began_s == 0 { "-".to_owned() } else { utc(self.began_s) },
            format!("{} of {}", self.ranks, self.size),
            data(self.bytes),
        ]
    }
}

const HEADINGS: [&str; 6] = ["process", "profile", "program", "began", "ranks", "size"];

/// Returns the table of the jobs, line by line; nothing if there are none.
pub(super) fn lines(candidates: &[Candidate]) -> Vec<String> {
    if candidates.is_empty() {
        return Vec::new();
    }
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    rows.extend(candidates.iter().map(Candidate::cells));
    let width = |column: usize| rows.iter().map(|row| columns(&row[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADINGS.len()).map(width).collect();
    let line = |row: &[String; HEADINGS.len()]| {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| cell.clone() + &" ".repeat(width.saturating_sub(columns(cell))));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Returns how to choose from this number of jobs, all of which `job` fits if it was given.
pub(super) fn advice(jobs: usize, job: Option<&str>) -> String {
    let found = counted(jobs as u64, "job");
    match job {
        Some(name) => format!(
            "{found} are called {name}, and nothing was recovered: name one by its process, as in --job 4711, or add \
             --all"
        ),
        None => format!(
            "{found} can be recovered, and nothing was: choose one with --job, by its process, profile or program, or \
             take all with --all"
        ),
    }
}

/// Returns the last part of a path, as it was written.
fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "-".to_owned())
}
