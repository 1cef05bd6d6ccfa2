//! Names ranks that have become the slowest of a callpath, by what they did since the document
//! before: a rank that is throttled in the middle of a long run is found although its sums are like
//! those of others. To be started by `tinyprof plug`:
//!
//! ```sh
//! cargo build --package tinyprof-cli --example stragglers
//! tinyprof plug target/debug/examples/stragglers 5
//! ```
//!
//! A rank is a straggler if in 3 documents in a row, or as many as are said, it has spent 1.2 times
//! the time of the rank after it in a callpath that takes at least 5 % of the time of the run.
#![expect(clippy::print_stdout, reason = "findings go to standard output")]

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::io::{self, BufRead as _};

use serde_json::{Value, json};

const SHARE_LEAST: f64 = 0.05;
const RATIO_LEAST: f64 = 1.2;

/// The times of ranks in the documents so far, and who was slowest how often in a row.
#[derive(Debug, Default)]
struct Seen {
    before: HashMap<(String, u64), u64>,
    streaks: HashMap<String, (u64, u32)>,
    told: HashSet<(String, u64)>,
}

impl Seen {
    /// Returns what a callpath of the newest document has to tell, if anything.
    fn finding(&mut self, row: &Value, times: u32) -> Option<Value> {
        let callpath = row["callpath"].as_str()?.to_owned();
        let mut grown: Vec<(u64, u64, &str)> = Vec::new();
        for slow in row["slowest"].as_array()? {
            let (rank, ns) = (slow["rank"].as_u64()?, slow["inclusive_ns"].as_u64()?);
            if let Some(before) = self.before.insert((callpath.clone(), rank), ns) {
                grown.push((ns.saturating_sub(before), rank, slow["host"].as_str()?));
            }
        }
        grown.sort_unstable_by(|a, b| b.cmp(a));
        // Waiting is a consequence: whoever waits in a call of MPI is no straggler.
        let is_waiting = row["name"].as_str()?.starts_with("MPI_");
        let (Some(&(first_ns, rank, host)), Some(&(second_ns, next, _))) =
            (grown.first(), grown.get(1))
        else {
            return None;
        };
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let ratio = first_ns as f64 / second_ns.max(1) as f64;
        if is_waiting || row["share"].as_f64()? < SHARE_LEAST || ratio < RATIO_LEAST {
            self.streaks.remove(&callpath);
            return None;
        }
        let streak = self.streaks.entry(callpath.clone()).or_insert((rank, 0));
        *streak = if streak.0 == rank { (rank, streak.1 + 1) } else { (rank, 1) };
        if streak.1 < times || !self.told.insert((callpath.clone(), rank)) {
            return None;
        }
        let finding = format!(
            "rank {rank} on {host} is the straggler of {callpath} now: {ratio:.1} times the time of rank {next}, \
             which is next"
        );
        Some(json!({ "finding": finding, "rank": rank }))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let times = std::env::args().nth(1).map_or(Ok(3), |text| text.parse())?;
    let mut seen = Seen::default();
    for line in io::stdin().lock().lines() {
        let document: Value = serde_json::from_str(&line?)?;
        for row in document["callpaths"].as_array().into_iter().flatten() {
            if let Some(finding) = seen.finding(row, times) {
                println!("{finding}");
            }
        }
    }
    Ok(())
}
