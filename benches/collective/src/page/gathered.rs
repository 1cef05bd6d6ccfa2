//! Tables of choices: how series are gathered, and flush points with and without checkpoints.

use tinyprof_bench_collective::rows::{BoundaryRow, FlushRow, median};

use tinyprof_bench_collective::document::table::{Table, float, ms};

pub(super) fn series(rows: &[FlushRow]) -> String {
    let mut table = Table::new(&[
        "P",
        "A",
        "last rank's values",
        "series",
        "repetitions",
        "2 aggregate, ms",
        "flush, ms",
    ]);
    let key = |row: &FlushRow| (row.ranks, row.aggregators, row.uneven, row.series.clone());
    let mut seen = Vec::new();
    for row in rows {
        let case = key(row);
        if seen.contains(&case) {
            continue;
        }
        let of_case = || rows.iter().filter(|other| key(other) == case);
        let middle = |of: fn(&FlushRow) -> u64| ms(median(of_case().map(of)));
        table.row(&[
            row.ranks.to_string(),
            row.aggregators.to_string(),
            if row.uneven == 1 {
                "as many".to_owned()
            } else {
                format!("{} times as many", row.uneven)
            },
            row.series.clone(),
            of_case().count().to_string(),
            middle(|row| row.aggregate_ns),
            format!("**{}**", middle(|row| row.total_ns)),
        ]);
        seen.push(case);
    }
    table.finish()
}

pub(super) fn boundaries(rows: &[BoundaryRow]) -> String {
    let mut table = Table::new(&[
        "P",
        "checkpoints",
        "an iteration, ns",
        "the same, marked `checkpoint`, ns",
        "the boundary, ns",
        "an execution of a root region, ns",
    ]);
    let ns = |ps: u64| format!("{:.1}", float(ps) / 1e3);
    for row in rows {
        table.row(&[
            row.ranks.to_string(),
            if row.interval { "asked for, none due" } else { "none" }.to_owned(),
            ns(row.iteration_ps),
            ns(row.boundary_iteration_ps),
            format!("**{}**", ns(row.boundary_iteration_ps.saturating_sub(row.iteration_ps))),
            ns(row.execution_ps),
        ]);
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundary_is_what_the_mark_adds() {
        let row = BoundaryRow {
            ranks: 2,
            interval: true,
            iteration_ps: 12_000,
            boundary_iteration_ps: 51_500,
            execution_ps: 60_000,
        };
        let table = boundaries(&[row]);
        assert!(
            table.contains("| 2 | asked for, none due | 12.0 | 51.5 | **39.5** | 60.0 |"),
            "{table}"
        );
    }
}
