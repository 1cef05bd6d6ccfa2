//! 003's Tables 1 to 4: what watching costs on 2 to 16 ranks, as pairs of runs and by counting.

use serde::{Deserialize, Serialize};
use tinyprof_bench_collective::document::table::{Table, float};

use super::jobs::{Job, Jobs, Level};
use super::shares::Cost;
use crate::page::{median, spread, three};

const RANKS: [u32; 4] = [2, 4, 8, 16];

/// The paper's numbers for its programs, with as many processors as ranks.
const PAPER: [(&str, &str); 4] = [
    ("wave", "0.21 to 2.55 on 2 to 32 CPUs; 0.2 to 5.1 on 2 to 64, 9.6 to 35.8 on 128 to 512"),
    ("wavefront", "below 2 on 16 to 512 CPUs"),
    ("sort", "0.1 to 2.3 on 2 to 256 CPUs"),
    ("fire", "-0.4 to 0 on 4 to 64 CPUs"),
];

/// A pair of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    program: String,
    ranks: u32,
    repetition: u32,
    off_ns: u64,
    on_ns: u64,
    #[serde(flatten)]
    cost: Cost,
}

/// Returns arguments with which all ranks together do the same work, whatever their number.
fn arguments(program: &str, ranks: u32, is_small: bool) -> String {
    let steps = if is_small { 4 } else { 400 };
    match program {
        "wave" => format!("--points {} --steps {steps}", 1_600_000 / ranks),
        "wavefront" => {
            let points = [64, 45, 32, 23][RANKS.iter().position(|&of| of == ranks).unwrap_or(0)];
            format!("--points {points} --planes 50 --steps {}", steps / 4)
        }
        "sort" => format!("--keys {} --repeat 10", steps * 10_000),
        _ => format!("--points 40000 --steps {} --weather 200", steps / 10 + 1),
    }
}

pub(super) fn measure(jobs: &Jobs) -> Result<Vec<Row>, String> {
    let is_small = jobs.size("", "small") == "small";
    let mut found = Vec::new();
    // Rounds are the outer loop: what else runs on the machine meets all cases alike.
    for repetition in 0..jobs.repetitions.div_ceil(2) {
        for (program, _) in PAPER {
            for ranks in RANKS {
                let job =
                    |level| Job::new(program, ranks, &arguments(program, ranks, is_small), level);
                let [off, on] = in_turn(repetition).map(|level| jobs.run(&job(level)));
                let (off, on) =
                    if repetition.is_multiple_of(2) { (off?, on?) } else { (on?, off?) };
                let cost = Cost::of(&jobs.json(&["report"], &on)?)?;
                let (off_ns, on_ns) = (off.took_ns, on.took_ns);
                found.push(Row {
                    program: program.to_owned(),
                    ranks,
                    repetition,
                    off_ns,
                    on_ns,
                    cost,
                });
            }
        }
    }
    Ok(found)
}

/// Returns the levels of a pair in the order of their runs, which changes from round to round.
fn in_turn(repetition: u32) -> [Level; 2] {
    if repetition.is_multiple_of(2) {
        [Level::Off, Level::Messages]
    } else {
        [Level::Messages, Level::Off]
    }
}

pub(super) fn table(found: &[Row]) -> String {
    let mut table = Table::new(&[
        "program",
        "ranks",
        "off, s",
        "on - off, %",
        "counted: calls and visits, %",
        "counted: start and end, ms a rank",
        "calls a second and rank",
        "003 has, % (Tables 1 to 4, Figures 23 to 31)",
    ]);
    for (program, paper) in PAPER {
        for ranks in RANKS {
            let of: Vec<&Row> =
                found.iter().filter(|row| row.program == program && row.ranks == ranks).collect();
            let paper = if ranks == RANKS[0] { paper } else { "" };
            table.row(&[
                format!("`{program}`"),
                ranks.to_string(),
                spread(of.iter().map(|row| float(row.off_ns) / 1e9)),
                spread(of.iter().map(|row| 100.0 * (float(row.on_ns) / float(row.off_ns) - 1.0))),
                spread(of.iter().map(|row| 100.0 * row.cost.depending_share())),
                three(median(of.iter().map(|row| row.cost.fixed_ns() / 1e6))),
                three(median(of.iter().map(|row| row.cost.calls_a_second()))),
                paper.to_owned(),
            ]);
        }
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ranks_together_have_the_same_work() {
        let points = |ranks| {
            let text = arguments("wave", ranks, false);
            let points: u32 = text.split(' ').nth(1).unwrap().parse().unwrap();
            points * ranks
        };
        assert_eq!(RANKS.map(points), [1_600_000; 4]);
        assert_eq!(
            [0, 1].map(in_turn),
            [[Level::Off, Level::Messages], [Level::Messages, Level::Off]]
        );
    }
}
