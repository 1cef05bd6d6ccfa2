//! The goals, and whether they are met.

use super::Rows;
use super::measured::cases;
use super::simulated::{SYNCHRONISE, phase_ns};
use tinyprof_bench_collective::document::table::{Table, float};

/// The paper's flush on 32k ranks (Figure 7), in seconds.
const PAPER_32K_S: f64 = 0.397;

pub(super) fn table(rows: &Rows) -> String {
    let mut table = Table::new(&["goal", "at most", "here", ""]);
    let mut goal = |what: &str, limit: f64, reached: Option<f64>| {
        let verdict = reached
            .map_or("not measured", |value| if value <= limit { "met" } else { "**missed**" });
        let value = reached.map_or("-".to_owned(), |value| format!("{value:.3}"));
        table.row(&[what.to_owned(), limit.to_string(), value, verdict.to_owned()]);
    };
    let issue = rows.cost.iter().find(|row| row.values == 100_000);
    let all = |values: u64, ranks: u32| float(values) * f64::from(ranks);
    goal(
        "processor time of a rank, 50 x 20 x 100 in `each`, ns a value",
        50.0,
        issue.map(|row| float(row.encode_ns + row.messages_ns) / float(row.values)),
    );
    goal(
        "processor time of an aggregator, the same, s a rank-million values",
        0.1,
        issue.map(|row| float(row.read_ns + row.part_ns) / all(row.values, row.ranks) / 1e3),
    );
    goal(
        "bytes a value, the same, 16 ranks in a part",
        3.0,
        issue.map(|row| float(row.bytes) / all(row.values, row.ranks)),
    );
    // Only rows with a checkpoint interval count.
    let boundary = rows.boundaries.iter().filter(|row| row.interval);
    let boundary =
        boundary.map(|row| float(row.boundary_iteration_ps.saturating_sub(row.iteration_ps)) / 1e3);
    goal("a boundary at which no checkpoint is due, ns", 100.0, boundary.reduce(f64::max));
    let largest = rows.cost.iter().max_by_key(|row| row.values);
    let of_value =
        |row: &tinyprof_bench_collective::rows::CostRow| float(row.encode_ns) / float(row.values);
    goal(
        "encoding of the most values beside that of 100,000, per value (1: linear)",
        1.2,
        issue.zip(largest).map(|(issue, largest)| of_value(largest) / of_value(issue)),
    );
    let simulated = rows.simgrid.iter().find(|row| row.ranks == 32_768);
    goal(
        "flush of 32,768 ranks, simulated, s (the paper's 0.397 is measured)",
        PAPER_32K_S,
        simulated.map(|row| float(row.total_ns) / 1e9),
    );
    goal(
        "phase 1 of 32,768 ranks that agree, simulated, ms",
        1.0,
        simulated.map(|row| float(phase_ns(row, &SYNCHRONISE)) / 1e6),
    );
    let agreeing = || rows.virtual_ranks.iter().filter(|row| row.case == "ranks agree");
    let (few, many) = (agreeing().min_by_key(|r| r.ranks), agreeing().max_by_key(|r| r.ranks));
    let aggregate = |row: &tinyprof_bench_collective::rows::ModelRow| {
        row.phases.iter().find(|phase| phase.phase == "aggregate").map_or(0, |phase| phase.bytes)
    };
    goal(
        "bytes of the busiest rank in phase 2, most virtual ranks beside fewest",
        1.0,
        few.zip(many).map(|(few, many)| float(aggregate(many)) / float(aggregate(few))),
    );
    let best = cases(&rows.strategies);
    let default = best.iter().filter(|case| case.ranks == 64);
    let of = |count: u32| {
        default.clone().find(|c| c.aggregators == count).map(|c| float(c.median(|r| r.total_ns)))
    };
    goal(
        "flush of 64 ranks with the default, beside the better of file per process and single file",
        1.0,
        of(4).zip(of(64).zip(of(1))).map(|(default, (each, single))| default / each.min(single)),
    );
    table.finish()
}
