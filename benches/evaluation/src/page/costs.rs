//! Which part of the overhead is what: each application of Table II, and the run that is always on.

use tinyprof_bench_collective::document::table::{Table, float};

use super::Rows;
use super::cells::{NOT_MEASURED, three};
use super::table_two::{overhead, profiled};
use crate::always_on::AlwaysOnRow;
use crate::application::{Cost, RunRow};
use crate::statistics::Spread;

pub(super) fn table(rows: &Rows) -> String {
    let mut cases: Vec<(String, Vec<&RunRow>)> = rows.table_two().flat_map(profiled).collect();
    if let Some(kept) = &rows.always_on {
        let runs = kept.rows.iter().filter_map(|row| match row {
            AlwaysOnRow::Run(run) => Some(run),
            AlwaysOnRow::Sample(_) => None,
        });
        cases.push(("always on".to_owned(), runs.collect()));
    }
    cases.retain(|(_, runs)| !runs.is_empty());
    if cases.is_empty() {
        return NOT_MEASURED.to_owned();
    }
    let mut table = Table::new(&[
        "application",
        "visits a second of a rank",
        "of them calls of MPI, %",
        "visits, %",
        "snapshot, %",
        "1 synchronise, %",
        "2 aggregate, %",
        "3 write, %",
        "checkpoints, %",
        "one checkpoint, ms",
        "all, %",
    ]);
    for (name, runs) in &cases {
        let median = |of: &dyn Fn(&RunRow) -> Option<f64>| {
            Spread::of(runs.iter().filter_map(|row| of(row)))
                .map_or("-".to_owned(), |of| three(of.median))
        };
        let share = |part: fn(&Cost) -> u64| {
            median(&move |row| {
                Some(100.0 * float(part(&row.cost)) / float(row.cost.application_ns.max(1)))
            })
        };
        table.row(&[
            name.clone(),
            median(&|row| {
                Some(float(row.cost.visits) * 1e9 / float(row.cost.application_ns.max(1)))
            }),
            median(&calls_percent),
            share(|cost| cost.annotation_ns),
            share(|cost| cost.snapshot_ns),
            share(|cost| cost.synchronise_ns),
            share(|cost| cost.aggregate_ns),
            share(|cost| cost.write_ns),
            share(|cost| cost.checkpoints_ns),
            median(&one_checkpoint_ms),
            format!("**{}**", median(&overhead)),
        ]);
    }
    table.finish()
}

/// Returns how many of all visits are calls of MPI; nothing where they were not counted.
fn calls_percent(row: &RunRow) -> Option<f64> {
    let calls = row.cost.calls?;
    Some(100.0 * float(calls) / float(row.cost.visits.max(1)))
}

fn one_checkpoint_ms(row: &RunRow) -> Option<f64> {
    let checkpoints = Some(row.cost.checkpoints).filter(|number| *number > 0)?;
    Some(float(row.cost.checkpoints_ns) / 1e6 / f64::from(checkpoints))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_checkpoints_are_told_where_there_are_any() {
        let cost = Cost {
            application_ns: 1_000_000_000,
            visits: 400,
            calls: Some(100),
            checkpoints: 2,
            checkpoints_ns: 6_000_000,
            ..Cost::default()
        };
        assert_eq!(calls_percent(&RunRow::example(cost)), Some(25.0));
        assert_eq!(one_checkpoint_ms(&RunRow::example(cost)), Some(3.0));
        let none = Cost { calls: None, checkpoints: 0, ..cost };
        let none = RunRow::example(none);
        assert_eq!(calls_percent(&none).or(one_checkpoint_ms(&none)), None);
    }
}
