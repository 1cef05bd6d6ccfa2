//! The simulated points of Figure 7, from the rows behind docs/scaling.md.

use tinyprof_bench_collective::document::plot::Line;
use tinyprof_bench_collective::document::table::Table;
use tinyprof_bench_collective::rows::ModelRow;

use super::Rows;
use super::cells::{milliseconds, three};
use crate::formula::FIGURE_7_32K_S;

/// The milestones that belong to phase 3.
const WRITE: [&str; 4] = ["write", "unite", "finish", "tell"];

fn phases(row: &ModelRow, names: &[&str]) -> String {
    let wanted = row.phases.iter().filter(|phase| names.contains(&phase.phase.as_str()));
    three(milliseconds(wanted.map(|phase| phase.ns).sum()))
}

pub(super) fn table(rows: &Rows) -> String {
    let mut table = Table::new(&[
        "P",
        "A",
        "1 synchronise, ms",
        "2 aggregate, ms",
        "3 write, ms",
        "flush, ms",
        "where",
    ]);
    for row in &rows.simulated {
        table.row(&[
            row.ranks.to_string(),
            row.aggregators.to_string(),
            phases(row, &["synchronise"]),
            phases(row, &["announce", "aggregate"]),
            phases(row, &WRITE),
            format!("**{}**", three(milliseconds(row.total_ns))),
            "simulated".to_owned(),
        ]);
    }
    let dashes = ["2048", "-", "-", "-"].map(str::to_owned);
    let paper =
        [format!("**{}**", three(FIGURE_7_32K_S * 1e3)), "the paper, measured on Theta".to_owned()];
    table.row(&[&["32768".to_owned()][..], &dashes, &paper].concat());
    format!(
        "{}\n*Simulated by SimGrid; the rows are of commit {}.*\n",
        table.finish(),
        rows.simulated_commit
    )
}

pub(super) fn flush_line(rows: &[ModelRow]) -> Line {
    let point = |row: &ModelRow| (f64::from(row.ranks), milliseconds(row.total_ns));
    Line { name: "simulated (SimGrid)".to_owned(), points: rows.iter().map(point).collect() }
}
